"""Small methods about one session or all of them, as Hermes has them (protocol §5).

Above this module: the registry. Below it: rows, shapes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.contracts.rows import LiveInfo, Message, Usage
from gateway.contracts.shapes import Cursor, Name, OfSession, Params, Result, Seq


class SessionActiveList(Params):
    """List the sessions whose agent runs."""

    current_session_id: str | None = None
    profile: str | None = None


class ActiveSession(Result):
    """A live session. Times in seconds since the Unix epoch."""

    id: Name
    session_key: Name
    current: bool
    title: str
    model: str
    preview: str
    message_count: int = Field(ge=0)
    started_at: float
    last_active: float
    status: Literal["idle", "starting", "waiting", "working", "streaming", "resuming"]


class SessionActiveListResult(Result):
    """The live sessions, the one of the newest event first."""

    sessions: list[ActiveSession]


class SessionMostRecent(Params):
    """Name the session of the newest event."""

    profile: str | None = None


class SessionMostRecentResult(Result):
    """That session, or null."""

    session_id: Name | None
    title: str | None = None
    started_at: float | None = None
    source: str | None = None


class SessionTitle(OfSession):
    """Read the title of a session, or change it."""

    title: str | None = None


class SessionTitleResult(Result):
    """The title as it is now."""

    title: str
    session_key: Name
    pending: bool | None = None


class SessionHistory(OfSession):
    """Return the rows of a conversation."""


class SessionHistoryResult(Result):
    """All of them, as of the newest event."""

    count: int = Field(ge=0)
    messages: list[Message]


class SessionUsage(OfSession):
    """Say what a session has used."""


class SessionUsageResult(Usage):
    """Tokens, context and cost, as far as the agent says."""


class SessionStatus(OfSession):
    """Describe a session in a few lines of text."""


class SessionStatusResult(Result):
    """The text."""

    output: str


class SessionEventsStats(Params):
    """Count what the log holds."""

    profile: str | None = None


class SessionEventsStatsResult(Result):
    """Counts, bytes on the disk, and Hermes's limits, where this log has none: 2^53 - 1."""

    sessions: int = Field(ge=0)
    events: int = Field(ge=0)
    bytes: int = Field(ge=0)
    max_per_session: int
    max_bytes_per_session: int
    max_bytes_process: int


class SessionBranch(OfSession):
    """Make a new session of the past of another, up to the end of a turn."""

    name: str | None = None
    count: Annotated[int, Field(ge=0)] | None = None
    at_seq: Seq | None = None
    idempotency_key: str | None = None


class SessionBranchResult(Result):
    """The new session; its agent runs if the other's was hosted here."""

    session_id: Name
    stored_session_id: Name
    title: str
    parent: Name
    forked_at: Cursor
    message_count: int = Field(ge=0)
    messages: list[Message]
    info: LiveInfo


class SessionDelete(OfSession):
    """Delete a session that is not live; its id is never used again."""


class SessionDeleteResult(Result):
    """The id that is gone."""

    deleted: Name
