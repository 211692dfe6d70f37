"""Where one client stands in the sessions that it follows: one place a session, moved by one call.

Above this module: `connection`, methods, the wrapped gateway's passages. Below it: attachments.

Calls of one client run at the same time, and several may attach it. Each holds the place from
before its answer is computed until that stands in line, and the next one waits: else two would
deliver the same events, and an answer would stand behind events that it does not hold (P-9, P-21).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from eventlog import EventLogError, SessionId
from gateway.attachment import Attachment
from gateway.errors import PeerGone


class Deleted(Exception):
    """A session has been deleted while it was followed."""


Ended = Callable[[Attachment, Exception], Awaitable[None]]
"""Hears why a session could not be delivered any further."""


@dataclass(slots=True)
class _Delivery:
    """An attachment, and the task that moves it on."""

    attachment: Attachment
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)


class Places:
    """Deliveries live in *tasks*; *ended* hears of those that fail."""

    def __init__(self, tasks: TaskGroup, ended: Ended) -> None:
        self._tasks = tasks
        self._ended = ended
        self._deliveries: dict[SessionId, _Delivery] = {}
        self._held: dict[SessionId, anyio.Event] = {}
        """What those wait for who want to move a place that somebody moves already."""

    def __contains__(self, session_id: SessionId) -> bool:
        """Whether this client has a place in a session."""
        return session_id in self._deliveries

    @property
    def followed(self) -> frozenset[SessionId]:
        """The sessions in which it has one."""
        return frozenset(self._deliveries)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Those places."""
        return tuple(delivery.attachment for delivery in self._deliveries.values())

    @asynccontextmanager
    async def held(self, session_id: SessionId) -> AsyncGenerator[Attachment | None, None]:
        """Stop delivering a session; give where it stopped, or None if it is not followed.

        The place stays held behind the block, until `go`. A block that fails changes nothing.
        """
        await self._free(session_id)
        self._held[session_id] = anyio.Event()
        place = await self._stop(session_id)
        try:
            yield place
        except BaseException:
            self.let_go(session_id, place)
            raise

    @asynccontextmanager
    async def found(self, session_id: SessionId) -> AsyncGenerator[bool, None]:
        """Give whether the block has to find a place: it holds it then, as with `held`."""
        while session_id not in self and session_id in self._held:
            await self._held[session_id].wait()
        if session_id in self:
            yield False
            return
        async with self.held(session_id):
            yield True

    def go(self, attachment: Attachment) -> None:
        """Deliver from where *attachment* stands; the place is free to be moved again."""
        delivery = self._deliveries[attachment.session_id] = _Delivery(attachment)
        self._tasks.start_soon(self._deliver, delivery)
        self._let_go(attachment.session_id)

    def let_go(self, session_id: SessionId, place: Attachment | None) -> None:
        """Go on as before a place was held."""
        if place and session_id in self:
            self.go(place)
        else:
            self._let_go(session_id)

    async def leave(self, session_id: SessionId) -> bool:
        """Follow a session no more, in turn; return whether it was followed."""
        await self._free(session_id)
        return await self.drop(session_id)

    async def drop(self, session_id: SessionId) -> bool:
        """Follow a session no more, at once; return whether it was followed."""
        await self._stop(session_id)
        return self._deliveries.pop(session_id, None) is not None

    async def _free(self, session_id: SessionId) -> None:
        while held := self._held.get(session_id):
            await held.wait()

    def _let_go(self, session_id: SessionId) -> None:
        if held := self._held.pop(session_id, None):
            held.set()

    async def _stop(self, session_id: SessionId) -> Attachment | None:
        delivery = self._deliveries.get(session_id)
        if delivery is None:
            return None
        delivery.scope.cancel()
        await delivery.ended.wait()
        return delivery.attachment

    async def _deliver(self, delivery: _Delivery) -> None:
        failure: Exception | None = None
        try:
            with delivery.scope:
                await delivery.attachment.deliver()
        except (EventLogError, PeerGone, Deleted) as error:
            failure = error
        finally:
            delivery.ended.set()
        if failure:
            await self._ended(delivery.attachment, failure)
