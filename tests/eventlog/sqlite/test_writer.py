"""Group commit: what goes to the disk together, and what happens when the disk says no."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import (
    Event,
    LogUnavailable,
    SessionId,
    Span,
    SqliteReader,
    SqliteStore,
    WrongExpectedVersion,
)
from eventlog.sqlite.batch import MAX_BYTES, MAX_EVENTS

pytestmark = pytest.mark.anyio

A, B, C = map(SessionId, "abc")


class Gate:
    """Stands before the writing connection: counts the calls, and holds or breaks them."""

    def __init__(self, store: SqliteStore) -> None:
        self._inner = store._writer._database
        store._writer._database = self  # type: ignore[assignment]
        self.statements: list[str] = []
        self.open = anyio.Event()
        self.reached = anyio.Event()
        self.error: sqlite3.Error | None = None

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    async def rollback(self) -> None:
        await self._inner.rollback()

    async def executemany(self, sql: str, parameters: Iterable[Any]) -> None:
        self.statements.append(sql.split(maxsplit=1)[0])
        await self._inner.executemany(sql, parameters)

    async def execute_fetchall(self, sql: str, parameters: Iterable[Any] = ()) -> Iterable[Any]:
        self.statements.append(sql.split(maxsplit=1)[0])
        self.reached.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return await self._inner.execute_fetchall(sql, parameters)


def event(text: str = "") -> Event:
    return Event.of("x", {"text": text})


async def known(store: SqliteStore, *sessions: SessionId) -> None:
    """Make sessions, so that appending to them changes nothing in their list."""
    for session in sessions:
        await store.append(session, [event("first")])


@asynccontextmanager
async def busy(store: SqliteStore) -> AsyncGenerator[Gate, None]:
    """Keep the disk busy with an append to C while the block queues what it likes."""
    gate = Gate(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.append, C, [event("in flight")])
        await gate.reached.wait()
        gate.reached = anyio.Event()
        yield gate
        await anyio.wait_all_tasks_blocked()
        gate.open.set()


def rows(path: Path) -> list[tuple[str, int, int]]:
    """Return the batches in the order of commit: session, first, last."""
    with closing(sqlite3.connect(path / "events.db")) as database:
        return database.execute(
            "select key, first, last from batch join session on session.id = batch.session"
            " order by batch.id"
        ).fetchall()


async def test_what_arrives_during_a_sync_is_committed_together(tmp_path: Path) -> None:
    """Whatever arrived while the disk was busy is one call to the database: one commit (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for number in range(64):
                tasks.start_soon(store.append, (A, B)[number % 2], [event()])

    assert gate.statements == ["insert", "insert"]
    assert rows(tmp_path)[3:] == [("c", 2, 2), ("a", 2, 33), ("b", 2, 33)]


async def test_a_lone_append_waits_for_nobody(tmp_path: Path) -> None:
    """There is no timer: an append to a known session is one call, at once (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        await store.append(A, [event()])
        await store.append(A, [event()])

    assert gate.statements == ["insert", "insert"]


@pytest.mark.parametrize("count", [1, MAX_EVENTS, MAX_EVENTS + 1, 3 * MAX_EVENTS - 1])
async def test_a_batch_holds_so_many_events(count: int, tmp_path: Path) -> None:
    """At most 256 events stand in one row, however many were appended at once (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(A, [event()] * count)

    found = rows(tmp_path)
    assert [last - first + 1 for _, first, last in found[:-1]] == [MAX_EVENTS] * (len(found) - 1)
    assert found[-1][2] == count


async def test_a_batch_holds_so_many_bytes(tmp_path: Path) -> None:
    """At most 256 KiB stand in one row; an event that is larger has its own (S-1)."""
    small, large = event("s" * 100_000), event("l" * 300_000)
    async with SqliteStore.open(tmp_path) as store:
        await store.append(A, [small, small, small, large, small, small])

    assert rows(tmp_path) == [("a", 1, 2), ("a", 3, 3), ("a", 4, 4), ("a", 5, 6)]
    with closing(sqlite3.connect(tmp_path / "events.db")) as database:
        lengths = [n for (n,) in database.execute("select length(body) from batch order by id")]
    assert [length <= MAX_BYTES for length in lengths] == [True, True, False, True]


async def test_numbers_are_given_when_the_batch_is_formed(tmp_path: Path) -> None:
    """`expected` is compared with the head that was given out: appends queue up on it (S-2)."""
    spans: dict[int, Span | int] = {}

    async def append(store: SqliteStore, expected: int) -> None:
        try:
            spans[expected] = await store.append(A, [event()] * 2, expected=expected)
        except WrongExpectedVersion as error:
            spans[expected] = error.actual

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for expected in (1, 3, 4, 5):
                tasks.start_soon(append, store, expected)

    assert spans == {1: (2, 3), 3: (4, 5), 4: 5, 5: (6, 7)}
    assert gate.statements == ["insert", "insert"]


async def test_a_failed_commit_fails_all_that_was_in_it(tmp_path: Path) -> None:
    """Nothing of it was recorded or sent; a later append goes on without a hole (S-2, S-9).

    Here the database is made read-only for a while.
    """
    failed: list[str] = []

    async def append(store: SqliteStore, session: SessionId) -> None:
        try:
            await store.append(session, [event("lost")])
        except LogUnavailable as error:
            failed.append(error.reason)

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B)
        await store._writer._database.execute_fetchall("pragma query_only=on")
        async with anyio.create_task_group() as tasks:
            for session in (A, A, B, C):
                tasks.start_soon(append, store, session)
        assert failed == ["it is read-only (SQLITE_READONLY)"] * 4
        assert (await store.read(A)).head == 1
        assert await store.session(C) is None
        await store._writer._database.execute_fetchall("pragma query_only=off")

        assert await store.append(A, [event()], expected=1) == (2, 2)
        assert await store.append(C, [event()], expected=0) == (1, 1)


async def test_what_the_trigger_refuses_fails_its_own_session_only(tmp_path: Path) -> None:
    """When somebody has written behind its back, the others are committed again (S-2)."""
    outcomes: dict[SessionId, Span | str] = {}

    async def append(store: SqliteStore, session: SessionId) -> None:
        try:
            outcomes[session] = await store.append(session, [event()])
        except LogUnavailable as error:
            outcomes[session] = error.reason

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B, C)
        with closing(sqlite3.connect(tmp_path / "events.db")) as database, database:
            database.execute(
                "insert into batch(session, first, last, ts, crc, body)"
                " select id, 2, 4, 0, 0, x'78' from session where key = 'a'"
            )
        async with anyio.create_task_group() as tasks, busy(store):
            tasks.start_soon(append, store, A)
            tasks.start_soon(append, store, B)

        assert outcomes[B] == (2, 2)
        assert "must begin where its session ends" in str(outcomes[A])
        assert await store.append(A, [event()]) == (5, 5)


async def test_a_transaction_that_fails_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    """The list of sessions and the events are one transaction: both or neither (S-2)."""
    async with SqliteStore.open(tmp_path) as store:
        with closing(sqlite3.connect(tmp_path / "events.db")) as database:
            database.execute(
                "create trigger stop before insert on alias begin select raise(abort, 'no'); end"
            )
            alias = Event.of("session.alias", {"scope": "acp", "id": "theirs"})
            with pytest.raises(LogUnavailable, match="no"):
                await store.append(A, [event(), alias])
            assert await store.session(A) is None
            database.execute("drop trigger stop")
        assert await store.append(A, [event(), alias], expected=0) == (1, 2)
        assert await store.resolve("theirs") == [A]


@pytest.mark.parametrize("code", ["SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"])
async def test_a_failed_sync_poisons_the_store(code: str, tmp_path: Path) -> None:
    """What the disk holds is unknown then: no retry, a clear error, until the log is reopened.

    Reading goes on (S-3).
    """
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        gate.error = sqlite3.OperationalError("disk I/O error")
        gate.error.sqlite_errorname = code
        with pytest.raises(LogUnavailable, match="disk I/O error"):
            await store.append(A, [event()])
        gate.error = None
        calls = len(gate.statements)
        for use in (lambda: store.append(A, [event()]), store.settle):
            with pytest.raises(LogUnavailable, match="failed to sync"):
                await use()
        assert len(gate.statements) == calls
        assert (await store.read(A)).head == 1
    async with SqliteStore.open(tmp_path) as store:
        assert await store.append(A, [event()]) == (2, 2)


async def test_a_limit_on_files_is_no_failed_sync(tmp_path: Path) -> None:
    """A write that fails is told, and the next one is tried (S-3, S-9)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        for code in ("SQLITE_IOERR_WRITE", "SQLITE_FULL", "SQLITE_BUSY"):
            gate.error = sqlite3.OperationalError("no")
            gate.error.sqlite_errorname = code
            with pytest.raises(LogUnavailable, match=code):
                await store.append(A, [event()])
        gate.error = None
        assert await store.append(A, [event()]) == (2, 2)


async def test_an_append_that_is_cancelled_in_time_is_withdrawn(tmp_path: Path) -> None:
    """Cancelled before it was taken into a batch, an append is never recorded (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with busy(store), anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, A, [event("withdrawn")])
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

        assert (await store.read(A)).head == 1
        assert await store.append(A, [event()]) == (2, 2)


async def test_a_commit_is_not_cancelled(tmp_path: Path) -> None:
    """Cancelled while its batch is on the way, an append is recorded all the same (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, A, [event()])
            await gate.reached.wait()
            tasks.cancel_scope.cancel()
        gate.open.set()
        assert await store.append(A, [event()]) == (3, 3)


async def test_what_was_appended_before_the_end_is_recorded(tmp_path: Path) -> None:
    """Leaving the store commits what still waits, also when it is left by cancellation."""
    spans: list[Span] = []

    async def append(store: SqliteStore) -> None:
        spans.append(await store.append(A, [event()]))

    async with anyio.create_task_group() as outside:
        with anyio.CancelScope() as scope:
            async with SqliteStore.open(tmp_path) as store:
                await known(store, A)
                for _ in range(20):
                    outside.start_soon(append, store)
                await anyio.lowlevel.checkpoint()
                scope.cancel()
    assert [span.first for span in spans] == list(range(2, 22))
    async with SqliteReader.open(tmp_path) as reader:
        assert (await reader.read(A)).head == 21


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Whoever appends or waits after the end, or waits at the end, is told and not left there."""
    told: list[str] = []

    async def wait(store: SqliteStore) -> None:
        try:
            await store.wait(A, after=1)
        except LogUnavailable as error:
            told.append(error.reason)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as outside, SqliteStore.open(tmp_path) as store:
            await known(store, A)
            outside.start_soon(wait, store)
            await anyio.wait_all_tasks_blocked()
        await wait(store)
        with pytest.raises(LogUnavailable, match="it is closed"):
            await store.append(A, [event()])
    assert told == ["it is closed"] * 2


@pytest.mark.parametrize("error", [KeyError(1), KeyboardInterrupt(), SystemExit(3)])
async def test_an_error_leaves_the_store_as_it_came(error: BaseException, tmp_path: Path) -> None:
    """What is raised inside is raised outside, in no group, and the log is closed (R029)."""

    async def fail() -> None:
        async with SqliteStore.open(tmp_path) as store:
            await known(store, A)
            raise error

    with pytest.raises(type(error)) as raised:
        await fail()
    assert raised.value is error
    async with SqliteStore.open(tmp_path) as store:
        assert (await store.read(A)).head == 1


async def test_appends_beyond_the_room_wait_their_turn(tmp_path: Path) -> None:
    """What waits is bounded in bytes; who comes with more waits outside, and first come is first.

    One that is larger than all the room is taken alone (S-1).
    """
    sizes = [3_000_000, 3_000_000, 10, 9_000_000, 10]
    spans: dict[int, Span] = {}

    async def append(store: SqliteStore, number: int) -> None:
        spans[number] = await store.append(A, [event("x" * sizes[number])])

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with anyio.create_task_group() as tasks, busy(store):
            for number in range(len(sizes)):
                tasks.start_soon(append, store, number)
            await anyio.wait_all_tasks_blocked()
            assert len(store._writer._intake._waiting) == 1

    assert [spans[number].first for number in range(len(sizes))] == [2, 3, 4, 5, 6]


async def test_a_hundred_appends_at_once(tmp_path: Path) -> None:
    """A hundred tasks append through one store: a hundred events, none torn (R028)."""
    async with SqliteStore.open(tmp_path) as store:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(store.append, A, [event(str(number))])
        page = await store.read(A)

    assert sorted(int(e["payload"]["text"]) for e in page.envelopes()) == list(range(100))


async def test_ten_thousand_appends_share_one_sequence(tmp_path: Path) -> None:
    """Three sub-writers of one session, thousands of appends: one sequence without a hole (R014)."""
    spans: list[Span] = []

    async def write(store: SqliteStore, type_: str) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(3_334):
                tasks.start_soon(append, store, Event.of(type_))

    async def append(store: SqliteStore, item: Event) -> None:
        spans.append(await store.append(A, [item]))

    async with SqliteStore.open(tmp_path) as store:
        async with anyio.create_task_group() as tasks:
            for type_ in ("message.delta", "acp.session_update", "request.opened"):
                tasks.start_soon(write, store, type_)
        assert (await store.read(A)).head == 10_002

    assert sorted(span.first for span in spans) == list(range(1, 10_003))


async def test_many_new_sessions_are_a_handful_of_calls(tmp_path: Path) -> None:
    """A thousand sessions that open at once, with titles and aliases, are one transaction (S-1)."""
    opened = [
        Event.of("session.opened", {"title": "a"}),
        Event.of("session.alias", {"scope": "acp", "id": "theirs"}),
        Event.of("session.title", {"title": "b"}),
    ]
    async with SqliteStore.open(tmp_path) as store:
        await known(store, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for number in range(1_000):
                tasks.start_soon(store.append, SessionId(f"n{number}"), opened)
            while len(store._writer._intake._waiting) < 1_000:
                await anyio.lowlevel.checkpoint()
        found = await store.sessions()

    kinds = ["insert", "begin", "insert", "insert", "update", "update", "insert", "commit"]
    assert gate.statements == kinds
    assert [row.title for row in found[:1_000]] == ["b"] * 1_000


async def test_an_import_larger_than_a_statement_is_one_transaction(tmp_path: Path) -> None:
    """More rows than one statement takes are still committed together (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        await store.append(A, [event("x" * 300_000)] * 3 + [event()] * 256_000)

    assert gate.statements == ["begin", "insert", "insert", "commit"]
    assert len(rows(tmp_path)) == 1 + 3 + 1_000
