"""Group commit: what arrives while the disk is busy goes to it together (S-1).

Above this module: `store`. Below it: `intake`, `commit`, the writing connection.

Two lanes take turns. One takes whatever waits and commits it with one call to the database; the
other takes what came meanwhile, at once if that is a full batch and it can stand in the
database's queue, else when the first is done. There is no timer. Numbers are given when a commit
is formed; heads, answers and wake-ups follow when it is durable.
"""

from __future__ import annotations

import sqlite3
from asyncio import Future, get_running_loop, sleep
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite
import anyio

from eventlog.blobs import LONGEST, cut_all, is_large
from eventlog.checksum import Checksum
from eventlog.condition import Condition
from eventlog.errors import EventLogError, LogUnavailable
from eventlog.event import Event, Span
from eventlog.listing import LISTED, listing
from eventlog.sqlite.commit import Commit, form
from eventlog.sqlite.faults import meaning, reason, refused, unsynced
from eventlog.sqlite.heads import Heads, Stream
from eventlog.sqlite.intake import Closed, Intake, Pending
from eventlog.sqlite.schema import on_connection
from eventlog.sqlite.transaction import Statement, Transactions, together

T = TypeVar("T")

_AROUND: Final = 80
"""About as many bytes has a line beside the payload."""

_PAUSE: Final = 0.0015
"""Seconds that a reader waits for them at most: a page of 64 KiB each makes 100,000 events/s."""

_PROBE: Final = "update meta set value = value where key = 'settled'"
"""It writes a page of the WAL and changes nothing."""

_LANES: Final = 2
"""Commits under way at a time: one that is being synced, and one behind it."""


class Writer:
    """The only one who writes to a log. *clock* gives nanoseconds."""

    def __init__(
        self,
        path: Path,
        database: aiosqlite.Connection,
        heads: Heads,
        *,
        transactions: Transactions,
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
        self._transactions = transactions
        self._unsettled: list[Commit] = []
        """What is under way."""
        self._broken: list[tuple[Commit, sqlite3.Error]] = []
        """What failed, in order, until nothing is under way any more."""
        self._finished = anyio.Event()
        self._given_up: str | None = None
        self._committed: anyio.Event | None = None
        self.condition = Condition()
        self.closed = False

    def submit(
        self,
        stream: Stream,
        events: Sequence[Event],
        *,
        expected: int | None,
        at: Sequence[int] | None,
    ) -> Awaitable[Span]:
        """Return what gives, once they are durable, where *events* came to stand."""
        if self.closed or self._given_up is not None:
            raise self._unavailable()
        if len(events) == 1:  # under load, nearly always
            event = events[0]
            size = len(event.payload) + len(event.rest)
            listed = event.type in LISTED
        else:
            size = sum(len(event.payload) + len(event.rest) for event in events)
            listed = any(event.type in LISTED for event in events)
        if size > LONGEST and any(map(is_large, events)):
            return self._queue_cut(stream, events, expected, at)
        found = listing(events) if listed else None
        size += _AROUND * len(events)
        outcome: Future[Span] = Future(loop=self._loop)
        # what Pending(…) does, in half the time
        pending = tuple.__new__(Pending, (stream, events, expected, at, outcome, size, found, ()))
        return outcome if self._intake.offer(pending) else self._queue(pending)

    async def _queue_cut(
        self,
        stream: Stream,
        events: Sequence[Event],
        expected: int | None,
        at: Sequence[int] | None,
    ) -> Span:
        """Take what is large out of *events* first (P-34)."""
        small, blobs = await cut_all(list(events))
        size = sum(len(event.payload) + _AROUND for event in small)
        size += sum(len(blob.body) for _, blob in blobs)
        outcome = self._loop.create_future()
        return await self._queue(
            Pending(stream, small, expected, at, outcome, size, listing(small), blobs)
        )

    async def execute(self, sql: str) -> None:
        """Execute one statement between two commits."""
        await self.work(lambda database: database.execute(sql), together=False)

    async def work(self, do: Callable[[sqlite3.Connection], T], *, together: bool = True) -> T:
        """Run *do* between two commits, in the connection's thread; *together* as a transaction.

        It must not change where a session ends.
        """
        run = partial(_transact, do) if together else do
        return await self._run(partial(self._transactions.run, do=run))

    async def record(self, statements: Sequence[Statement]) -> None:
        """Record batches that are sealed already, as one transaction between two commits."""
        await self._run(partial(self._transactions.record, statements=statements))

    async def _run(self, piece: Callable[[sqlite3.Connection], T]) -> T:
        self.check()
        try:
            with anyio.CancelScope(shield=True):
                result = await on_connection(self._database, piece)
        except sqlite3.Error as error:
            self._note(error)
            raise meaning(error, self._path) from error
        return result

    async def probe(self) -> None:
        """Find out whether a small thing can be written, and turn the condition accordingly."""
        try:
            await self.work(lambda database: database.execute(_PROBE), together=False)
        except LogUnavailable as error:
            self.condition.turn(error.reason)
        else:
            self.condition.turn(None)

    async def give_way(self) -> None:
        """Let two commits pass, if there are some: what for, see `SqliteStore.read`."""
        if self._intake.under_way:
            with anyio.move_on_after(_PAUSE):
                for _ in range(2):
                    self._committed = self._committed or anyio.Event()
                    await self._committed.wait()

    def check(self) -> None:
        """Raise LogUnavailable if nothing can be written any more."""
        if self.closed or self._given_up is not None:
            raise self._unavailable()

    async def run(self) -> None:
        """Commit what is appended, until `close`; cancelling it does nothing."""
        with anyio.CancelScope(shield=True):
            try:
                async with anyio.create_task_group() as lanes:
                    for _ in range(_LANES):
                        lanes.start_soon(self._lane)
            finally:
                self.closed = True
                self._intake.close()
                lost = [pending for commit in self._unsettled for pending in commit.accepted]
                self._fail([*lost, *self._intake.drain()], self._unavailable)
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

    async def _lane(self) -> None:
        while waiting := await self._intake.take():
            await self._commit(waiting)
            self._intake.ended()
            # who was answered has a turn first, and may append again: else one who waits already
            # would be committed alone, and two commits would do the work of one from then on
            await sleep(0)
            if self._broken and not self._intake.under_way:
                await self._recover()

    async def _commit(self, waiting: Sequence[Pending]) -> None:
        """Commit *waiting*, as one transaction; up to its place in the queue without a pause."""
        if self._given_up is not None:
            return self._fail(waiting, self._unavailable)
        commit = form(waiting, self._clock() // 1_000)
        statements = list(commit.statements(self._checksum))
        self._unsettled.append(commit)
        try:
            await on_connection(self._database, partial(self._record, commit, statements))
        except sqlite3.Error as error:
            self._note(error)
            if not refused(error):
                self.condition.turn(reason(error))
            self._broken.append((commit, error))
            self._intake.hold(on=True)
        else:
            commit.acknowledge()
            self.condition.turn(None)
        if self._committed is not None:
            self._committed.set()
            self._committed = None
        self._unsettled.remove(commit)
        return None

    def _record(
        self, commit: Commit, statements: Sequence[Statement], database: sqlite3.Connection
    ) -> None:
        self._transactions.record(database, statements)
        with suppress(sqlite3.Error):  # it is recorded, whatever a look at it says
            commit.identify(database)

    async def _recover(self) -> None:
        """Fail what cannot be recorded, and commit the rest once more, before anything new."""
        while self._broken:
            if again := await self._sift():
                await self._commit(again)
        self._intake.hold(on=False)

    async def _sift(self) -> list[Pending]:
        """Fail what is lost of the commits that failed; return the rest, in order.

        All of a commit is lost, unless the trigger turned it away: then it is the sessions that
        do not end where they were believed to. A second one is lost as far as it stands on the
        first; for the rest the first one's fate says nothing.
        """
        broken, self._broken = self._broken, []
        drafts = {stream: None for commit, _ in broken for stream in commit.drafts}
        try:
            await self._heads.reload(drafts)
        except sqlite3.Error as second:
            self._give_up(f"it can no longer be read: {second}")
        lost: dict[Stream, sqlite3.Error] = {}
        for number, (commit, error) in enumerate(broken):
            if not refused(error) or self._given_up is not None:
                gone = list(commit.drafts)
            elif number == 0:
                moved = [one for one, draft in commit.drafts.items() if one.head != draft.start]
                gone = moved or list(commit.drafts)
            else:
                gone = []
            for stream in gone:
                lost.setdefault(stream, error)
        accepted = [pending for commit, _ in broken for pending in commit.accepted]
        for pending in accepted:
            if (why := lost.get(pending.stream)) and not pending.outcome.done():
                pending.outcome.set_exception(meaning(why, self._path))
        return [pending for pending in accepted if not pending.outcome.done()]

    def _note(self, error: sqlite3.Error) -> None:
        if unsynced(error):
            self._give_up("the disk failed to sync: what it holds is unknown until a restart")

    def _give_up(self, reason: str) -> None:
        self._given_up = reason
        self.condition.turn(reason)

    def _fail(self, waiting: Sequence[Pending], error: Callable[[], EventLogError]) -> None:
        for pending in waiting:
            if not pending.outcome.done():
                pending.outcome.set_exception(error())

    def _unavailable(self) -> LogUnavailable:
        reason = self._given_up or "it is closed"
        return LogUnavailable(str(self._path), reason, lasting=True)


def _transact(do: Callable[[sqlite3.Connection], T], database: sqlite3.Connection) -> T:
    return together(database, lambda: do(database))
