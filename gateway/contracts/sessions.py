"""Sessions: start, list, attach, interrupt, end (protocol §5).

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gateway.contracts.rows import (
    Inflight,
    LiveInfo,
    Message,
    PendingApproval,
    QueuedPrompt,
    TodoState,
)
from gateway.contracts.shapes import (
    Amount,
    Cursor,
    Name,
    OfSession,
    Open,
    OpenRequest,
    Params,
    Result,
)


class SeedMessage(Open):
    """A message that a session starts with, in Hermes."""

    role: str
    content: str | None = None
    text: str | None = None
    display_kind: str | None = None


class SessionCreate(Params):
    """Start a session with an agent, and attach to it (P-21)."""

    agent: str | None = None
    cwd: str | None = None
    title: str | None = None
    cols: int | None = None
    profile: str | None = None
    source: str | None = None
    cwd_explicit: bool | None = None
    messages: list[SeedMessage] | None = None
    parent_session_id: Name | None = None
    model: str | None = None
    provider: str | None = None
    reasoning_effort: str | None = None
    fast: bool | None = None
    service_tier: str | None = None
    close_on_disconnect: bool = False
    hidden: bool = False
    room_plumbing: bool = False
    follow_profile_config: bool = False
    idempotency_key: str | None = None


class SessionResume(OfSession):
    """Attach to a session, and make it live again if it is not (P-21, P-38)."""

    cols: int | None = None
    source: str | None = None
    lazy: bool = False
    defer_history: bool = False
    omit_messages: bool = False
    eager_build: bool = False
    close_on_disconnect: bool = False
    inline_images: bool = True


class SessionActivate(OfSession):
    """Attach to a live session (P-21)."""

    cols: int | None = None
    omit_messages: bool = False


class Snapshot(Result):
    """A session as of `latest_seq`; what is newer comes as events (P-21)."""

    session_id: Name
    stored_session_id: Name
    session_key: Name
    resumed: str | None = None
    latest_seq: Cursor
    replay_epoch: str
    message_count: int = Field(ge=0)
    messages: list[Message]
    messages_omitted: bool
    info: LiveInfo
    running: bool
    status: Literal["idle", "waiting", "working"]
    started_at: float
    turn_started_at: float | None
    inflight: Inflight | None
    queued: QueuedPrompt | None
    pending_approval: PendingApproval | None
    todo_state: TodoState | None
    open_requests: list[OpenRequest]


class SessionList(Params):
    """List the sessions, the one of the newest event first."""

    limit: Amount | None = None
    title: str | None = None
    include_hidden: bool = False
    profile: str | None = None


class SessionRow(Result):
    """A session in a list. Times in seconds since the Unix epoch."""

    id: Name
    title: str
    preview: str | None = None
    started_at: float = Field(ge=0)
    last_active: float = Field(ge=0)
    message_count: Annotated[int, Field(ge=0)] | None = None
    source: str
    latest_seq: Cursor
    status: Literal["idle", "running", "needs_input", "dormant"]
    owner: str | None = None
    """The gateway on which it is live, if it is another one that shares the log."""


class SessionListResult(Result):
    """The sessions."""

    sessions: list[SessionRow]


class SessionClose(OfSession):
    """End a live session; its log stays (P-23)."""


class SessionCloseResult(Result):
    """Whether there was something to end."""

    closed: bool
    messages: list[Any]


class SessionInterrupt(OfSession):
    """Stop the running turn, and withdraw its questions (P-31)."""

    expected_hosted_task_id: str | None = None


class SessionInterruptResult(Result):
    """Whether a turn was running."""

    status: Literal["interrupted", "not_interrupted"]
    interrupted: bool
