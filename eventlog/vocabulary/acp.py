"""What passes between an ACP client and its agent, and what becomes of the agent's process.

Above this module: `VOCABULARY`. Below it: `payload`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from eventlog.vocabulary.payload import Json, Outcome, Payload

Role = Literal["client", "agent"]


class AcpSessionUpdate(Payload):
    """A `session/update`: its *update* verbatim, with the notification's further members."""

    update: dict[str, Any]
    meta: Json = Field(None, alias="_meta")


class AcpCall(Payload):
    """A call without a type of its own; *by* says who asked. Credentials are left out."""

    id: Json
    by: Role
    method: str
    params: Json = None


class AcpResult(Outcome):
    """Its answer: the same *id* and *by*. Without *method*, nobody was seen to ask."""

    id: Json
    by: Role
    method: str | None = None


class AcpNotification(Payload):
    """A notification without a type of its own, or an update that belongs to no session."""

    by: Role
    method: str
    params: Json


class Dropped(Payload):
    """How many updates were not recorded again, and a digest over them in order."""

    count: int
    sha256: str


class AcpReplay(Payload):
    """The bounds of what an agent may tell of the session's past (protocol §8)."""

    method: str
    state: Literal["started", "finished"]
    dropped: Dropped | None = None


class AgentNoise(Payload):
    """A line that is no frame: its beginning, and its *size* in bytes if it was longer.

    Of a client's line only the size is kept.
    """

    text: str
    size: int | None = None
    by: Role | None = None


class AgentExited(Payload):
    """The process is gone: its exit code or signal, or why that is not known."""

    code: int | None = None
    signal: Json = None
    reason: str | None = None
