"""Group commit: what arrives while the disk is busy goes to it together (S-1).

Above this module: `store`. Below it: `intake`, `commit`, the writing connection.

One task writes. It takes whatever waits, commits it with one call to the database, and takes
whatever came meanwhile; there is no timer. An event is durable before its append returns.
"""

from __future__ import annotations

import sqlite3
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite
import anyio

from eventlog.blobs import Blob
from eventlog.errors import EventLogError, LogUnavailable
from eventlog.event import Event, Span
from eventlog.listing import LISTED, listing
from eventlog.sqlite.checksum import Checksum
from eventlog.sqlite.commit import Commit, Statement, form
from eventlog.sqlite.faults import meaning, refused, unsynced
from eventlog.sqlite.heads import Heads, Stream
from eventlog.sqlite.intake import Closed, Intake, Pending
from eventlog.sqlite.schema import on_connection

T = TypeVar("T")

_AROUND: Final = 80
"""About as many bytes has a line beside the payload."""


class Writer:
    """The only one who writes to a log. *clock* gives nanoseconds."""

    def __init__(
        self,
        path: Path,
        database: aiosqlite.Connection,
        heads: Heads,
        checksum: Checksum,
        clock: Callable[[], int],
    ) -> None:
        self._path = path
        self._database = database
        self._heads = heads
        self._checksum = checksum
        self._clock = clock
        self._intake = Intake()
        self._loop = get_running_loop()
        self._turn = anyio.Lock(fast_acquire=True)  # one transaction on the connection at a time
        self._finished = anyio.Event()
        self._given_up: str | None = None
        self.closed = False

    def submit(
        self,
        stream: Stream,
        events: Sequence[Event],
        *,
        expected: int | None,
        at: Sequence[int] | None,
        blobs: Sequence[tuple[int, Blob]] = (),
    ) -> Awaitable[Span]:
        """Return what gives, once they are durable, where *events* came to stand.

        *blobs* were taken out of them, each with its event's index (P-34).
        """
        if self.closed or self._given_up is not None:
            raise self._unavailable()
        size = _AROUND * len(events)
        listed = False
        for event in events:
            size += len(event.payload)
            listed = listed or event.type in LISTED
        found = listing(events) if listed else None
        size += sum(len(blob.body) for _, blob in blobs)
        outcome = self._loop.create_future()
        pending = Pending(stream, events, expected, at, outcome, size, found, blobs)
        return pending.outcome if self._intake.offer(pending) else self._queue(pending)

    async def execute(self, sql: str) -> None:
        """Execute one statement between two commits."""
        self.check()
        with anyio.CancelScope(shield=True):
            try:
                await self._write([Statement(sql)])
            except sqlite3.Error as error:
                self._note(error)
                raise meaning(error, self._path) from error

    async def work(self, do: Callable[[sqlite3.Connection], T], *, together: bool = True) -> T:
        """Run *do* between two commits, in the connection's thread; *together* as a transaction.

        It must not change where a session ends.
        """
        self.check()
        with anyio.CancelScope(shield=True):
            async with self._turn:
                run = partial(_transact, do) if together else do
                try:
                    return await on_connection(self._database, run)
                except sqlite3.Error as error:
                    self._note(error)
                    raise meaning(error, self._path) from error

    def check(self) -> None:
        """Raise LogUnavailable if nothing can be written any more."""
        if self.closed or self._given_up is not None:
            raise self._unavailable()

    async def run(self) -> None:
        """Commit what is appended, until `close`; cancelling it does nothing."""
        waiting: list[Pending] = []
        with anyio.CancelScope(shield=True):
            try:
                while not self._intake.exhausted:
                    waiting = await self._intake.take()
                    await self._commit(waiting)
                    # Whoever was answered may append again before the next batch is taken.
                    await anyio.lowlevel.checkpoint()
            finally:
                self.closed = True
                self._intake.close()
                self._fail([*waiting, *await self._intake.take()], self._unavailable)
                self._heads.wake_all()
                self._finished.set()

    async def close(self) -> None:
        """Take nothing more in, and wait until what was taken in is committed."""
        self.closed = True
        self._intake.close()
        await self._finished.wait()

    async def _queue(self, pending: Pending) -> Span:
        try:
            await self._intake.put(pending)
        except Closed:
            raise self._unavailable() from None
        return await pending.outcome

    async def _commit(self, waiting: list[Pending]) -> None:
        """Commit *waiting*, and once more without the sessions that the trigger turned away."""
        while waiting:
            if self._given_up is not None:
                return self._fail(waiting, self._unavailable)
            commit = form(waiting, self._clock() // 1_000)
            try:
                await self._write(list(commit.statements(self._checksum)))
            except sqlite3.Error as error:
                waiting = await self._recover(commit, error)
            else:
                return _acknowledge(commit)
        return None

    async def _write(self, statements: Sequence[Statement]) -> None:
        async with self._turn:
            if len(statements) == 1:
                await self._database.execute_fetchall(statements[0].sql, statements[0].parameters)
            elif statements:
                await self._write_together(statements)

    async def _write_together(self, statements: Sequence[Statement]) -> None:
        await self._database.execute_fetchall("begin immediate")
        try:
            for sql, parameters, many in statements:
                if many:
                    await self._database.executemany(sql, parameters)
                else:
                    await self._database.execute_fetchall(sql, parameters)
            await self._database.execute_fetchall("commit")
        except sqlite3.Error:
            if self._database.in_transaction:
                await self._database.rollback()
            raise

    async def _recover(self, commit: Commit, error: sqlite3.Error) -> list[Pending]:
        """Fail what cannot be committed, and return what may be tried again."""
        self._note(error)
        try:
            await self._heads.reload(commit.drafts)
        except sqlite3.Error as second:
            self._given_up = f"it can no longer be read: {second}"
        lost = set(commit.drafts)
        if refused(error) and self._given_up is None:
            moved = {
                stream for stream, draft in commit.drafts.items() if stream.head != draft.start
            }
            lost = moved or lost
        failed = [pending for pending, _ in commit.accepted if pending.stream in lost]
        self._fail(failed, lambda: meaning(error, self._path))
        return [pending for pending, _ in commit.accepted if pending.stream not in lost]

    def _note(self, error: sqlite3.Error) -> None:
        if unsynced(error):
            self._given_up = "the disk failed to sync: what it holds is unknown until a restart"

    def _fail(self, waiting: Sequence[Pending], error: Callable[[], EventLogError]) -> None:
        for pending in waiting:
            if not pending.outcome.done():
                pending.outcome.set_exception(error())

    def _unavailable(self) -> LogUnavailable:
        return LogUnavailable(str(self._path), self._given_up or "it is closed")


def _transact(do: Callable[[sqlite3.Connection], T], database: sqlite3.Connection) -> T:
    database.execute("begin immediate")
    try:
        result = do(database)
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.rollback()
        raise
    return result


def _acknowledge(commit: Commit) -> None:
    for stream in commit.drafts:
        stream.head = stream.assigned
        stream.listed = True
        stream.wake()
    for pending, span in commit.accepted:
        if not pending.outcome.done():
            pending.outcome.set_result(span)
