"""Reading a session: its events, page by page or as they come, and its transcript (protocol §4).

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gateway.contracts.shapes import (
    Amount,
    Cursor,
    Name,
    OfSession,
    Open,
    OpenRequest,
    Result,
    Seq,
)


class SessionEventsSince(OfSession):
    """Read the events after `last_seen`; neither attaches nor consumes (P-13 to P-17)."""

    last_seen: Cursor | None = None
    replay_epoch: str | None = None
    limit: Cursor | None = None
    limit_bytes: Amount | None = None


class SessionEventsSubscribe(OfSession):
    """Receive every event after `last_seen`, from history and live (P-19)."""

    last_seen: Cursor | None = None
    replay_epoch: str | None = None


class SessionEventsUnsubscribe(OfSession):
    """Receive no more events of a session."""


class SessionEventsUnsubscribeResult(Result):
    """Whether there was a subscription to end."""

    unsubscribed: bool


class LoggedEvent(Open):
    """An event as it stands in the log (P-11). In compact form it leaves out the session."""

    session_id: Name | None = None
    seq: Seq
    ts: int = Field(ge=0)
    type: str
    payload: dict[str, Any]


class Extent(Result):
    """How far the log goes, and whether a reader can go on from where it was (P-15, P-16)."""

    latest_seq: Cursor
    next: Cursor
    has_more: bool
    truncated: bool
    snapshot_required: bool
    epoch: str
    replay_epoch: str


class SessionEventsSinceResult(Extent):
    """Events, ascending and without holes, and the questions that are open."""

    session_id: Name | None = None
    events: list[LoggedEvent]
    count: int = Field(ge=0)
    open_requests: list[OpenRequest]


class SessionTranscript(OfSession):
    """Read the transcript at a sequence number, page by page (P-26)."""

    at: Cursor | None = None
    after: str | None = None
    """The `next` of the page before."""
    offset: Cursor = 0
    """The `next` of the piece before, if it has more."""
    limit_bytes: Amount | None = None


class TranscriptPiece(Result):
    """Some of the JSON of what is longer than a page, for clients with `blobs`. In bytes of UTF-8."""

    entry: str | None
    """The entry's id; null: all that is no entry, `transcript` without its entries."""
    size: Cursor
    offset: Cursor
    text: str
    next: Cursor
    has_more: bool


class SessionTranscriptResult(Result):
    """A page of entries; the first page holds the rest of the transcript too."""

    transcript: dict[str, Any]
    piece: TranscriptPiece | None = None
    next: str | None
    has_more: bool
    seq: Cursor
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    fold_version: int


class SessionBlob(OfSession):
    """Read a piece of a large string that an event refers to (P-34)."""

    ref: str = Field(pattern="^sha256:[0-9a-f]{64}$")
    offset: Cursor = 0
    length: Amount | None = None


class SessionBlobResult(Result):
    """A piece of *size* bytes in all, from *offset* on; ask on with *next*. All in bytes of UTF-8."""

    ref: str
    size: Cursor
    offset: Cursor
    text: str
    next: Cursor
    has_more: bool
