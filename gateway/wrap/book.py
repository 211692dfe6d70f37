"""Which of an agent's sessions the log holds, and under which names.

Above this module: `stand_in`, `acp`. Below it: the log.

An agent's session id means something within its scope only (P-22): what another agent called by
the same name is another session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

from eventlog import LogReader, SessionId, SessionRow
from replay import names_in

_NAMES: Final = 64
"""Events at a session's beginning among which its names stand."""


@dataclass
class Book:
    """The sessions of one agent. *scope* is known once the agent has introduced itself."""

    log: LogReader
    scope: str | None = None
    _continued: dict[object, SessionId] = field(default_factory=dict)
    _held: set[SessionId] = field(default_factory=set)

    async def find(self, foreign: str) -> SessionId | None:
        """Return the newest session that this agent calls *foreign*."""
        for session_id in reversed(await self.log.resolve(foreign)):
            if foreign in await self.names(session_id):
                return session_id
        return None

    async def names(self, session_id: SessionId) -> list[str]:
        """Return what this agent calls a session, the oldest name first."""
        base = await self.log.base(session_id)
        kept = names_in(base).get(self.scope or "") if base else None
        page = await self.log.read(session_id, limit=_NAMES)
        found = [
            envelope["payload"]["id"]
            for envelope in page.envelopes()
            if envelope["type"] == "session.alias"
            and envelope["payload"].get("scope") == self.scope
        ]
        return [kept, *found] if kept else found

    async def sessions(self, cwd: str | None) -> list[tuple[str, SessionRow]]:
        """Return this agent's sessions with their names, the newest first; *cwd*: only of there."""
        found = []
        for row in await self.log.sessions():
            if cwd is None or row.opened.get("cwd") == cwd:
                found += [(name, row) for name in (await self.names(row.id))[:1]]
        return found

    def hold(self, session_id: SessionId) -> None:
        """Take note that an earlier history of this session is what goes on."""
        self._held.add(session_id)

    def has_history(self, session_id: SessionId) -> bool:
        """Whether this session was there before it was opened now."""
        return session_id in self._held

    def continues(self, call_id: object, session_id: SessionId) -> None:
        """Take note that the session which the call *call_id* opens goes on with *session_id*."""
        self._continued[call_id] = session_id

    def name(self, foreign_id: str, call: Mapping[str, Any]) -> SessionId:
        """Return the durable id of a session that the agent names for the first time."""
        return self._continued.pop(call.get("id"), None) or new_name(foreign_id, call)


def new_name(foreign_id: str, call: Mapping[str, Any]) -> SessionId:  # noqa: ARG001 - what a recorder tells
    """Return the durable id of a new session."""
    return SessionId(f"s-{token_hex(6)}")
