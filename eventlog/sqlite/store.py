"""The durable log: one writer, readers beside it, all that the port asks for.

Above this module: the gateway, the importer. Below it: `reader`, `writer`, `files`, `schema`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time_ns
from typing import Self

import aiosqlite
import anyio

from eventlog import codec
from eventlog.arguments import check_gap, check_times
from eventlog.batch import Sealer
from eventlog.errors import EventLogError, LogUnavailable, WrongExpectedVersion
from eventlog.event import GATEWAY, Event, Seq, SessionId, Span, valid_session_id
from eventlog.lease import Sole
from eventlog.packing import packed
from eventlog.page import Page
from eventlog.sqlite import catalogue, compaction, files, gaps, keeping, pruning, schema
from eventlog.sqlite.faults import translated
from eventlog.sqlite.heads import Heads, Stream
from eventlog.sqlite.incarnation import Durability, Incarnation, begin, end, said
from eventlog.sqlite.mark import Mark
from eventlog.sqlite.reader import Opened, SqliteReader, identified
from eventlog.sqlite.transaction import Transactions
from eventlog.sqlite.writer import Writer
from eventlog.store import Checkpoint, SessionRow

_SETTLE = "update meta set value = coalesce((select max(id) from batch), 0) where key = 'settled'"


@asynccontextmanager
async def incarnated(
    writing: aiosqlite.Connection, file: Path, durability: Durability
) -> AsyncGenerator[tuple[Incarnation, Transactions], None]:
    """Begin an incarnation of the log, and end it in order."""
    mark = Mark(file)
    transactions = Transactions(mark)
    with translated(file):
        incarnation = await schema.on_connection(
            writing, lambda database: begin(database, file, mark, durability)
        )
    try:
        yield incarnation, transactions
    finally:
        mark.end()
        with anyio.CancelScope(shield=True), suppress(sqlite3.Error):
            # What cannot be noted is no orderly end; at full durability there is nothing to note.
            await schema.on_connection(writing, lambda database: transactions.run(database, end))


class SqliteStore(SqliteReader):
    """A log that this process alone may write to. Open it with `SqliteStore.open(path)`."""

    def __init__(
        self, opened: Opened, heads: Heads, writer: Writer, incarnation: Incarnation
    ) -> None:
        super().__init__(opened)
        self._heads = heads
        self._writer = writer
        self.leases = Sole()
        """The lock keeps others out."""
        self.incarnation = incarnation
        """How the log was found, and how durable it is kept."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        *,
        clock: Callable[[], int] = time_ns,
        durability: Durability = "full",
        journal: schema.Journal | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Open the log at *path* (its folder, or the database itself), made if need be.

        *clock* gives nanoseconds. What was appended is committed before this block is left. At
        *durability* `normal` a power failure may take the last commits, and with them the epoch
        (P-18). *journal* stays as it was once chosen, `wal` at first.

        Raises:
            LogBusy: another process writes it.
            LogUnavailable: it cannot be made, read or written.
            ForeignDatabase: the file is not a log; it was left untouched.
            NewerSchema: a later version of this program wrote it; it was left untouched.

        """
        file = await anyio.to_thread.run_sync(files.database, path)
        failure: BaseException | None = None
        async with (
            files.locked(file),
            schema.connection(file, partial(schema.for_writing, journal=journal)) as writing,
            incarnated(writing, file, durability) as (incarnation, transactions),
            schema.connection(file, schema.for_reading) as reading,
        ):
            opened = await identified(file, reading)
            heads = Heads(reading)
            sums = opened.checksum
            writer = Writer(
                file, writing, heads, transactions=transactions, checksum=sums, clock=clock
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(writer.run)
                try:
                    store = cls(opened, heads, writer, incarnation)
                    await store._tell()
                    tasks.start_soon(store._finish)
                    yield store
                except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                    failure = error  # raised below: a task group would wrap it in another
                finally:
                    with anyio.CancelScope(shield=True):
                        await writer.close()
        if failure is not None:
            raise failure

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
        stream = self._heads.known(session_id)
        if stream is None:
            stream = await self._stream(session_id)
        return await self._writer.submit(stream, events, expected=expected, at=at)

    async def _page(
        self, session_id: SessionId, after: int, limit: int, limit_bytes: int | None
    ) -> Page:
        """Serve whoever follows from memory.

        Whoever catches up lets two commits pass after each page, while there are some: a long
        catch-up does not hold up recording (S-7).
        """
        stream = self._heads.known(session_id)
        if stream is not None and stream.tail is not None:
            lines = stream.tail.after(after, limit, limit_bytes)
            if lines is not None:
                if not lines:  # who reads on and on waits where there is nothing to be read
                    await anyio.lowlevel.checkpoint()
                floor, head, end = Seq(stream.floor), Seq(stream.head), Seq(after + len(lines))
                return Page(self._epoch, floor, head, end, b"\n".join(lines))
        page = await super()._page(session_id, after, limit, limit_bytes)
        if after < page.next < page.head:
            await self._writer.give_way()
        return page

    @property
    def degraded(self) -> str | None:
        """Why nothing can be recorded at present; None if it can (S-9)."""
        return self._writer.condition.reason

    async def turned(self, known: str | None) -> str | None:
        """Return `degraded` once it is not *known* any more."""
        return await self._writer.condition.turned(known)

    async def probe(self) -> None:
        """Find out whether the log can record again, when nobody else does."""
        await self._writer.probe()

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed."""
        stream = self._heads.known(session_id) or await self._stream(session_id)
        while stream.head <= after:
            if self._writer.closed:
                self._writer.check()
            await stream.grow()
            if 0 < after <= stream.floor:
                return

    async def keep(self, session_id: SessionId, kind: str, state: Checkpoint) -> None:
        """Keep a fold's state."""
        await self._writer.work(
            lambda one: keeping.keep(one, self._checksum, session_id, kind, state)
        )

    async def forget(self) -> None:
        """Remove every kept state."""
        await self._writer.execute("delete from checkpoint")

    async def begin(self, session_id: SessionId, base: Checkpoint, row: SessionRow) -> None:
        """Let a session that is not known yet begin behind *base*."""
        stream = await self._stream(session_id)
        named, meta = replace(row, id=session_id), codec.dumps(row.opened)
        await self._writer.work(lambda one: pruning.begin(one, self._checksum, base, named, meta))
        stream.head = stream.assigned = base.seq
        stream.cut(base.seq)
        stream.listed = True

    async def skip(self, session_id: SessionId, gap: Event, *, at: int) -> None:
        """Record that events are lost: *gap* stands in the place of all of them, for good."""
        first, last = check_gap(gap, at)
        stream = await self._stream(session_id)
        if not stream.head == stream.assigned == first - 1:
            raise WrongExpectedVersion(session_id, first - 1, stream.assigned)
        batch = Sealer(session_id, self._checksum).seal_gap(first, last, at, gap)
        # from here to its place in the writer's queue without a pause: what comes then is behind it
        stream.assigned, stream.listed, stream.tail = last, True, None
        try:
            await self._writer.record(gaps.statements(session_id, batch))
        except EventLogError:
            await self._heads.reload([stream])
            raise
        stream.head = max(stream.head, last)
        stream.wake()

    async def prune(self, session_id: SessionId, base: Checkpoint) -> None:
        """Remove a session's events up to *base*, which stays in their place."""
        key = valid_session_id(session_id)
        stream = await self._stream(key)
        stream.tail = None
        await self._writer.work(lambda one: pruning.prune(one, self._checksum, key, base))
        stream.cut(base.seq)
        await self._sweep()

    async def delete(self, session_id: SessionId) -> bool:
        """Remove everything of a session; return whether there was anything."""
        key = valid_session_id(session_id)
        stream = await self._stream(key)
        stream.tail = None
        head = await self._writer.work(lambda one: pruning.delete(one, key))
        if head is None:
            return False
        stream.cut(head)
        stream.wake()
        await self._sweep()
        return True

    async def compact(self, *, before: int, compress: bool = True) -> None:
        """Merge and compress the batches of sessions whose last event is older (S-11)."""
        pack = packed if compress else bytes
        for session in await self._writer.work(lambda one: compaction.idle(one, before)):
            after: int | None = 0
            while after is not None:
                some = partial(compaction.compact_some, session=session, after=after, pack=pack)
                after = await self._writer.work(partial(some, checksum=self._checksum))
                await self._writer.give_way()
        await self._give_back()

    async def _sweep(self) -> None:
        """Remove what is not seen any more in short steps, and let commits pass between them."""
        while await self._writer.work(pruning.sweep):
            await self._writer.give_way()
        await self._give_back()

    async def _finish(self) -> None:
        """Go on with removing what a crash, or the end of this process, cut off."""
        with suppress(LogUnavailable):  # it has ended again; the next one goes on
            if await self._writer.work(pruning.sweep):
                await self._sweep()

    async def _give_back(self) -> None:
        """Make the file as short as it can be."""
        while await self._writer.work(pruning.give_back, together=False):
            await self._writer.give_way()

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions that grew since the log was last settled, never `@gateway`."""
        with translated(self._path):
            return await catalogue.unsettled(self._reader)

    async def settle(self) -> None:
        """Note durably that nothing is open in what has been recorded up to now."""
        await self._writer.execute(_SETTLE)

    async def _tell(self) -> None:
        """Record that batches have been lost, if they have (S-6)."""
        if not self.incarnation.lost:
            return
        gap = Event.of("log.gap", {"reason": "lost", "batches": self.incarnation.lost})
        try:
            await self.append(GATEWAY, [gap])
        except LogUnavailable:
            return  # no room, most likely: the database goes on saying it, and so does `verify`
        await self._writer.work(said)

    async def _stream(self, session_id: SessionId) -> Stream:
        with translated(self._path):
            return await self._heads.stream(session_id)
