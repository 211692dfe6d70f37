"""What a client is told without having asked.

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gateway.contracts.shapes import Cursor, Name, Open, Params, Seq


class EventNotification(Open):
    """Something happened in a session. Events of no session have no number (P-12)."""

    type: str
    session_id: str | None = None
    seq: Seq | None = None
    ts: int | None = Field(None, ge=0)
    payload: dict[str, Any] = Field(default_factory=dict)


class ServerName(Params):
    """Which program this is."""

    name: str
    version: str


class GatewayReady(Params):
    """The payload of the first event that a peer hears (P-5)."""

    skin: dict[str, Any]
    change_events: bool
    replay_epoch: str
    heartbeat: bool
    server: ServerName
    features: list[str]


class SessionCaughtUp(Params):
    """History ends here; what follows is live (P-19)."""

    session_id: Name
    seq: Cursor


class SessionDeleted(Params):
    """The session that was followed is gone (P-20a)."""

    session_id: Name


class SessionEventsReset(Params):
    """Pruning has overtaken this reader, which has to start from a snapshot (P-20a)."""

    session_id: Name
    floor: Cursor
    snapshot_required: Literal[True]


class LogDegraded(Params):
    """Nothing can be recorded at present, so nothing new is accepted (S-9)."""

    reason: str


class LogRecovered(Params):
    """Recording goes on (S-9)."""
