"""Whose session is which on the line to one agent.

Above this module: `agent`. Below it: nothing of the line.

New sessions are begun one after the other: until an answer names a session, what comes for one that
is not known can only be for that which is being begun. Some agents ask before they answer. Sessions
that the agent knows are taken up side by side: all that comes for one names it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol

import anyio

from eventlog import SessionId
from gateway.jsonrpc import Request, RequestId


class Tenant(Protocol):
    """What talks to an agent on behalf of one session."""

    async def hear(self, call: Request) -> Any:
        """Return the answer to what the agent asks."""
        ...

    async def withdraw(self, id_: RequestId) -> None:
        """Hear that the agent does not want an answer any more."""
        ...

    def lost(self) -> None:
        """Hear that the line is gone."""
        ...


class Tenants:
    """*shared*: there may be several. *home* is where stands in the log what is nobody's."""

    def __init__(self, home: SessionId, *, shared: bool) -> None:
        self._home = home
        self._shared = shared
        self._turn = anyio.Lock()
        self._newcomer: Tenant | None = None
        self._known: dict[str, Tenant] = {}
        self._asked: dict[RequestId, SessionId] = {}
        self._with_history: set[SessionId] = set()

    @asynccontextmanager
    async def opening(
        self, session_id: SessionId, tenant: Tenant, *, history: bool
    ) -> AsyncGenerator[None, None]:
        """Have the line to begin a session on; *history*: the log holds something of it."""
        async with self._turn:
            if history:
                self._with_history.add(session_id)
            self._newcomer = tenant
            try:
                yield
            finally:
                self._newcomer = None

    @contextmanager
    def taking_up(
        self, foreign_id: str, session_id: SessionId, tenant: Tenant
    ) -> Generator[None, None, None]:
        """Take up a session that the agent may know by *foreign_id*; `settle` it if it does."""
        self._with_history.add(session_id)
        self._known[foreign_id] = tenant
        try:
            yield
        finally:
            self._known.pop(foreign_id, None)

    def expect(self, id_: RequestId, session_id: SessionId) -> None:
        """Take note that the answer to the call *id_* names a session, however late it comes."""
        self._asked[id_] = session_id

    def settle(self, foreign_id: str, tenant: Tenant) -> None:
        """Take note by which id of the agent's a session goes."""
        self._known[foreign_id] = tenant

    def leave(self, foreign_id: str) -> None:
        """Forget it."""
        self._known.pop(foreign_id, None)

    def name(self, foreign_id: str, call: Mapping[str, Any]) -> SessionId:  # noqa: ARG002
        """Return the durable id of a session that the agent has just named, answering *call*."""
        return self._asked.get(call.get("id", ""), self._home)

    def has_history(self, session_id: SessionId) -> bool:
        """Whether the log held something of a session when it was opened."""
        return session_id in self._with_history

    def find(self, foreign_id: str) -> Tenant | None:
        """Return whose session it is that the agent calls *foreign_id*."""
        if tenant := self._known.get(foreign_id):
            return tenant
        if self._newcomer:
            return self._newcomer
        return None if self._shared else next(iter(self._known.values()), None)

    def everyone(self) -> list[Tenant]:
        """Return all of them, and who is about to be one."""
        return [*self._known.values(), *([self._newcomer] if self._newcomer else [])]
