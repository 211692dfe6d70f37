"""A session as Hermes's answers hold it: messages, live info, usage, the turn in flight.

Above this module: sessions, lookups. Below it: shapes. Times in seconds since the Unix epoch.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gateway.contracts.shapes import Open, Result


class Message(Open):
    """A row of a conversation: `user`, `assistant` or `tool`."""

    role: str
    text: str | None = None
    content: Any = None
    tool_call_id: str | None = None
    timestamp: float | None = None
    row_id: int | None = None
    name: str | None = None
    context: str | None = None
    args: dict[str, Any] | None = None
    reasoning: str | None = None


class Usage(Open):
    """What a session has used."""

    model: str = ""
    input: int = 0
    output: int = 0
    reasoning: int = 0
    prompt: int = 0
    completion: int = 0
    total: int = 0
    calls: int = 0
    context_used: int | None = None
    context_max: int | None = None
    context_percent: int | None = None
    cost_usd: float | None = None


class LiveInfo(Open):
    """What a session works with, and whether it works."""

    model: str
    provider: str
    cwd: str
    branch: str | None
    tools: dict[str, list[str]]
    skills: dict[str, list[str]]
    running: bool
    turn_started_at: float | None
    title: str
    stored_session_id: str
    version: str
    usage: Usage
    agent: str


class Inflight(Result):
    """The turn that runs: what was asked, and what has been answered so far."""

    user: str
    assistant: str
    streaming: bool
    corrections: list[str] | None = None


class QueuedPrompt(Result):
    """The prompt whose turn is next."""

    user: str


class TodoState(Result):
    """The plan as it stands."""

    todos: list[dict[str, Any]]
    revision: int


class PendingApproval(Open):
    """An approval that waits for its answer."""

    request_id: str
    command: str
    description: str
    choices: list[str] = Field(default_factory=list)
