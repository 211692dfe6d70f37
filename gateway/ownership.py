"""Which sessions this gateway may write: it holds one for as long as it works on it.

Above this module: `sessions`, methods. Below it: the log's leases, `closing`.

In a log that this process alone writes it holds every session, and nothing here takes any time.
Where several gateways share a log, whoever hosts a session holds it, and whoever wants to write a
dormant one holds it for that moment. What a gateway that died has left open is ended before
anything else is written (P-40).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf

import anyio

from eventlog import GATEWAY, EventLogError, Fenced, Log, SessionId
from gateway.closing import end_open_work
from gateway.state import SessionState

log = logging.getLogger("gateway")

State = Callable[[SessionId], Awaitable[SessionState]]


@dataclass(slots=True)
class _Hold:
    """A session that is held here, or on its way to it."""

    users: int = 0
    acquired: bool = False
    changing: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while it is acquired or released, which takes a while."""


class Ownership:
    """*state* gives what is open in a session, as of the log's head."""

    def __init__(self, events: Log, state: State) -> None:
        self._log = events
        self._state = state
        self._holds: dict[SessionId, _Hold] = {}
        self._lost: set[SessionId] = set()
        """What was taken from us, or could not be written: who else ends what is open in it?"""

    @property
    def shared(self) -> bool:
        """Whether other processes may write this log, too."""
        return self._log.leases.duration != inf

    def holds(self, session_id: SessionId) -> bool:
        """Whether this gateway may write a session as things stand."""
        return self._log.leases.holds(session_id)

    @asynccontextmanager
    async def writing(self, session_id: SessionId) -> AsyncGenerator[None, None]:
        """Hold a session for as long as the block runs; `@gateway` is everybody's (P-12).

        Raises:
            Fenced: another gateway holds it, or took it from us.
            LogUnavailable: it cannot be known who holds it.

        """
        if session_id == GATEWAY or not self.shared:
            yield
            return
        hold = self._holds.setdefault(session_id, _Hold())
        hold.users += 1
        try:
            async with hold.changing:
                await self._acquire(session_id, hold)
            yield
        finally:
            hold.users -= 1
            with anyio.CancelScope(shield=True):
                await self._leave(session_id, hold)

    async def owner(self, session_id: SessionId) -> str | None:
        """Return the other gateway that holds a session, if one does."""
        leases = self._log.leases
        if leases.holds(session_id):
            return None
        lease = await leases.find(session_id)
        return lease.owner if lease and lease.owner != leases.owner else None

    async def check(self, session_id: SessionId) -> None:
        """Raise Fenced if another gateway holds a session."""
        if owner := await self.owner(session_id):
            raise Fenced(session_id, owner)

    async def lost(self, session_id: SessionId) -> None:
        """Return once this gateway may not write a session any more."""
        await self._log.leases.lost(session_id)

    def look_after(self, session_id: SessionId) -> None:
        """End what is open in a session later, because it cannot be recorded now."""
        if self.shared:
            self._lost.add(session_id)

    async def run(self) -> None:
        """Take over what gateways that died have left, now and then, until cancelled."""
        while self.shared:
            try:
                await self.take_over()
            except EventLogError as error:
                log.warning("what others have left could not be looked for: %s", error)
            await anyio.sleep(self._log.leases.duration / 2)

    async def take_over(self) -> None:
        """End what is open in sessions whose gateway died, or was cut off as this one may have been.

        Anyone can have them then.
        """
        orphans = await self._log.leases.orphans()
        for session_id in {*orphans, *self._lost}:
            try:
                async with self.writing(session_id):
                    log.warning("%s was cut off from its gateway; it is free", session_id)
            except Fenced as error:
                log.info("it was taken over: %s", error)
            except EventLogError as error:
                log.warning("%s was not taken over: %s", session_id, error)
                continue  # the next round tries again
            self._lost.discard(session_id)

    async def _acquire(self, session_id: SessionId, hold: _Hold) -> None:
        if self._log.leases.holds(session_id):
            return
        if hold.acquired:  # whoever works on it here has yet to notice, and must not go on
            raise Fenced(session_id)
        await self._log.leases.acquire(session_id)
        hold.acquired = True
        await end_open_work(self._log, session_id, await self._state(session_id))

    async def _leave(self, session_id: SessionId, hold: _Hold) -> None:
        async with hold.changing:
            if hold.users:
                return
            if hold.acquired:
                hold.acquired = False
                if not self.holds(session_id):
                    self._lost.add(session_id)
                try:
                    await self._log.leases.release(session_id)
                except EventLogError as error:
                    log.warning("%s is free only after a while: %s", session_id, error)
            if not hold.users:
                self._holds.pop(session_id, None)
