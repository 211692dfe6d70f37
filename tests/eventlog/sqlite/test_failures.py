"""What happens to appends when the disk says no, when they are cancelled, when the log closes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from eventlog import (
    Checkpoint,
    Event,
    LogUnavailable,
    Seq,
    SessionId,
    Span,
    SqliteReader,
    SqliteStore,
)
from tests.eventlog.sqlite.gate import A, B, C, Gate, busy, event, known

pytestmark = pytest.mark.anyio


async def test_a_failed_commit_fails_all_that_was_in_it(tmp_path: Path) -> None:
    """Nothing of it was recorded or sent; a later append goes on without a hole (S-2).

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
        for use in (lambda: store.append(A, [event()]), store.settle):
            with pytest.raises(LogUnavailable, match="failed to sync"):
                await use()
        assert gate.pieces == [["insert"]]
        assert (await store.read(A)).head == 1
    async with SqliteStore.open(tmp_path) as store:
        assert await store.append(A, [event()]) == (2, 2)


async def test_a_sync_that_fails_beside_appends_is_heard(tmp_path: Path) -> None:
    """Whatever was being written, nothing can be recorded from then on, and who listens is told
    before an append is tried (S-3, S-9).
    """
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        gate.error = sqlite3.OperationalError("disk I/O error")
        gate.error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        with pytest.raises(LogUnavailable, match="disk I/O error"):
            await store.keep(A, "k", Checkpoint(Seq(1), 1, b"{}"))
        gate.error = None
        with anyio.fail_after(5):
            assert "failed to sync" in str(await store.turned(None))
        await store.probe()
        assert "failed to sync" in str(store.degraded)


async def test_a_limit_on_files_is_no_failed_sync(tmp_path: Path) -> None:
    """A write that fails is told, and the next one is tried (S-3)."""
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
