"""The log on servers, to be written: one connection, all that the port asks for.

Above this module: `open_log`. Below it: `reader`, `writer`, `leases`, `pruning`.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from os import getpid
from time import time_ns
from typing import Self
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from eventlog.address import LogAddress, address
from eventlog.arguments import check_gap, check_times
from eventlog.errors import LogUnavailable
from eventlog.event import Event, SessionId, Span
from eventlog.jetstream.gaps import Gaps
from eventlog.jetstream.leases import ClusterLeases
from eventlog.jetstream.parts import Parts, connected
from eventlog.jetstream.pruning import Pruning
from eventlog.jetstream.publishing import Publisher
from eventlog.jetstream.reader import JetStreamReader
from eventlog.jetstream.session import Session
from eventlog.jetstream.writer import Writer
from eventlog.store import Checkpoint, SessionRow


class JetStreamStore(JetStreamReader):
    """A log that this process writes, and others too. Open it with `JetStreamStore.open(url)`."""

    def __init__(
        self, parts: Parts, tasks: TaskGroup, *, clock: Callable[[], int], owner: str
    ) -> None:
        super().__init__(parts)
        process = uuid4().hex
        found = parts.found
        self.leases = ClusterLeases(
            parts.link,
            parts.looks,
            parts.scanner,
            tasks=tasks,
            process=process,
            owner=owner,
            epoch=found.epoch,
            replicas=found.replicas,
        )
        self._process = process
        self._writer = Writer(
            parts.link,
            parts.looks,
            tasks,
            contents=parts.contents,
            holds=self.leases.may_write,
            relies=self.leases.may_rely_on,
            lose=self.leases.lose,
            epoch=found.epoch,
            checksum=self._checksum,
            name=process,
            clock=clock,
        )
        publisher = Publisher(parts.link, parts.looks)
        self._pruning = Pruning(parts, self._keeping, publisher, writer=process)
        self._gaps = Gaps(
            parts,
            publisher,
            checksum=self._checksum,
            writer=process,
            holds=self.leases.may_write,
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        where: str | LogAddress,
        *,
        clock: Callable[[], int] = time_ns,
        owner: str | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Open the log at a URL, made if need be; others may have it open as well.

        *clock* gives nanoseconds; *owner* is what others are told of who holds a session. What
        was appended is stored, or has failed, before this block is left.

        Raises:
            LogUnavailable: it cannot be made, read or written, or its settings lose events.
            ForeignDatabase: the stream of that name is no log.
            NewerSchema: a later version of this program wrote it.

        """
        place = address(where) if isinstance(where, str) else where
        name = owner or f"{socket.gethostname()}, process {getpid()}"
        failure: BaseException | None = None
        async with connected(place, make=True) as parts, anyio.create_task_group() as tasks:
            store = cls(parts, tasks, clock=clock, owner=name)
            try:
                yield store
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                failure = error  # raised below: a task group would wrap it in another
            finally:
                with anyio.CancelScope(shield=True):
                    await store._close()
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _close(self) -> None:
        await self._writer.close()
        try:
            await self.leases.close()
        except LogUnavailable:
            return  # they end by themselves
        finally:
            self._looks.wake_all()

    async def append(
        self,
        session_id: SessionId,
        events: Sequence[Event],
        *,
        expected: int | None = None,
        at: Sequence[int] | None = None,
    ) -> Span:
        """Record *events* in order, all or none, and return once they are durable."""
        if at is not None:
            check_times(events, at)
        session = self._looks.session(session_id)
        with self._link.in_time("whether it was recorded is not known: no server has answered"):
            return await self._writer.submit(session, events, expected=expected, at=at)

    async def _seen(self, session: Session) -> Session:
        """See a session; what this process holds nobody else has written meanwhile."""
        self._writer.check()
        if session.as_of >= 0 and self.leases.may_rely_on(session):
            return session
        return await super()._seen(session)

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed."""
        self._writer.check()
        await super().wait(session_id, after=after)

    @property
    def degraded(self) -> str | None:
        """Why nothing can be recorded at present; None if it can, as far as is known."""
        return self._writer.condition.reason

    async def turned(self, known: str | None) -> str | None:
        """Return `degraded` once it is not *known* any more."""
        return await self._writer.condition.turned(known)

    async def probe(self) -> None:
        """Find out whether the log can record again, when nobody else does."""
        try:
            await self._parts.pieces.store(self._subjects.mark, b"")
        except LogUnavailable as error:
            self._writer.condition.turn(error.reason)
        else:
            self._writer.condition.turn(None)

    async def keep(self, session_id: SessionId, kind: str, state: Checkpoint) -> None:
        """Keep a fold's state."""
        with self._link.in_time():
            session = await self._looks.fresh(self._looks.session(session_id))
            if session.floor < state.seq <= session.head:
                await self._keeping.keep(session, kind, state)

    async def forget(self) -> None:
        """Remove every kept state."""
        await self._keeping.forget()

    async def begin(self, session_id: SessionId, base: Checkpoint, row: SessionRow) -> None:
        """Let a session that is not known yet begin behind *base*."""
        await self._pruning.begin(self._looks.session(session_id), base, row)

    async def skip(self, session_id: SessionId, gap: Event, *, at: int) -> None:
        """Record that events are lost: *gap* stands in the place of all of them, for good."""
        lost = check_gap(gap, at)
        session = self._looks.session(session_id)
        with self._link.in_time("whether it was recorded is not known: no server has answered"):
            self._writer.check()
            await self._gaps.record(session, gap, lost, at)

    async def prune(self, session_id: SessionId, base: Checkpoint) -> None:
        """Remove a session's events up to *base*, which stays in their place."""
        await self._pruning.prune(self._looks.session(session_id), base)

    async def delete(self, session_id: SessionId) -> bool:
        """Remove everything of a session; return whether there was anything."""
        return await self._pruning.delete(self._looks.session(session_id))

    async def compact(self, *, before: int) -> None:
        """Do nothing: the servers merge and compress what they store as they are configured."""

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions that grew since the log was last settled, never `@gateway`."""
        return await self._listed.unsettled()

    async def settle(self) -> None:
        """Note durably that nothing is open in what has been recorded up to now.

        It says nothing about sessions that other processes hold.
        """
        await self._listed.settle(self._process)
