"""What the log says of itself.

Above this module: `VOCABULARY`. Below it: `payload`.
"""

from __future__ import annotations

from pydantic import Field

from eventlog.vocabulary.payload import Payload


class LogGap(Payload):
    """Something is missing here: how many events, or which numbers, and why."""

    reason: str
    lost: int | None = None
    first: int | None = None
    last: int | None = None
    size: int | None = None
    """Bytes of a damaged line."""
    batches: int | None = None
    """How many commits are gone; of which sessions, nobody knows."""


class ForkedFrom(Payload):
    """The session and the last event that were taken over."""

    session_id: str
    seq: int


class LogForked(Payload):
    """The session begins as a copy of another."""

    from_: ForkedFrom = Field(alias="from")
