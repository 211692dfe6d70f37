"""Two commits under way: one at the disk, and a full one behind it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import pytest

from eventlog import Event, LogUnavailable, SessionId, Span, SqliteStore
from eventlog.batch import MAX_BYTES, MAX_EVENTS
from tests.eventlog.sqlite.gate import A, B, C, Gate, busy, event, known

pytestmark = pytest.mark.anyio

FULL = [event("full")] * MAX_EVENTS


class Outcomes(dict[str, Span | str]):
    """What became of appends, by their names."""

    async def append(
        self, store: SqliteStore, name: str, session: SessionId, events: list[Event]
    ) -> None:
        try:
            self[name] = await store.append(session, events)
        except LogUnavailable as error:
            self[name] = error.reason


def failed(code: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("no")
    error.sqlite_errorname = code
    return error


@pytest.mark.parametrize(
    ("events", "begun"),
    [
        (FULL, 2),
        (FULL[1:], 1),
        ([event("x" * MAX_BYTES)], 2),
    ],
)
async def test_a_full_batch_need_not_wait(events: list[Event], begun: int, tmp_path: Path) -> None:
    """While one batch commits, a second stands in the queue if it is full, and only then (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            tasks.start_soon(store.append, A, events)
            await anyio.wait_all_tasks_blocked()
            assert gate.begun == begun
            tasks.start_soon(store.append, A, FULL)  # a third one never
            await anyio.wait_all_tasks_blocked()
            assert gate.begun == 2
        assert (await store.read(A)).head == 1 + len(events) + len(FULL)


@pytest.mark.parametrize(("waiting", "batches"), [(1, [1]), (2, [1, 1]), (3, [2, 1]), (8, [4, 2])])
async def test_half_of_a_long_queue_is_left_for_the_commit_behind(
    waiting: int, batches: list[int], tmp_path: Path
) -> None:
    """It is formed while the first half is at the disk, and neither is less than full (S-1)."""
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        store._writer._intake.hold(on=True)
        async with anyio.create_task_group() as tasks:
            for name in range(waiting):
                tasks.start_soon(outcomes.append, store, str(name), A, FULL)
            await anyio.wait_all_tasks_blocked()
            gate = Gate(store)
            store._writer._intake.hold(on=False)
            await gate.reached.wait()
            await anyio.wait_all_tasks_blocked()
            formed = [len(commit.accepted) for commit in store._writer._unsettled]
            gate.open.set()
    assert formed == batches
    assert list(outcomes.values()) == [
        (2 + MAX_EVENTS * at, 1 + MAX_EVENTS * (at + 1)) for at in range(waiting)
    ]


async def test_heads_and_answers_follow_commits(tmp_path: Path) -> None:
    """What stands in the queue has its numbers, but nobody sees them before they hold (S-1, P-10)."""
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await known(store, C)
        async with anyio.create_task_group() as tasks, busy(store):
            tasks.start_soon(outcomes.append, store, "second", C, FULL)
            await anyio.wait_all_tasks_blocked()
            stream = await store._stream(C)
            assert (stream.head, stream.assigned) == (1, 2 + MAX_EVENTS)
            assert (await store.read(C)).head == 1
            assert outcomes == {}
        assert outcomes == {"second": (3, 2 + MAX_EVENTS)}


async def test_a_new_session_may_be_appended_to_at_once(tmp_path: Path) -> None:
    """Its row in the list comes with its first batch, which need not be there yet (S-1)."""
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await store._stream(A)
        gate = Gate(store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcomes.append, store, "first", A, [event()])
            await gate.reached.wait()
            tasks.start_soon(outcomes.append, store, "second", A, FULL)
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    assert outcomes == {"first": (1, 1), "second": (2, 1 + MAX_EVENTS)}
    assert gate.pieces == [["begin", "insert", "insert", "select", "commit", "select"], ["insert"]]


async def test_what_stands_on_a_failed_commit_fails_with_it(tmp_path: Path) -> None:
    """The second one is drained: the session of the first fails, another is recorded (S-1, S-2).

    Without the trigger the second one would have left a hole.
    """
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B, C)
        gate = Gate(store)
        gate.error, gate.failing = failed("SQLITE_FULL"), 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcomes.append, store, "first", A, [event("1")])
            await gate.reached.wait()
            for name, session in (("stands on it", A), ("apart", B)):
                tasks.start_soon(outcomes.append, store, name, session, FULL)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(outcomes.append, store, "third", A, [event("3")])
            await anyio.wait_all_tasks_blocked()
            assert gate.begun == 2
            gate.open.set()
        assert [damage async for damage in store.verify()] == []
    reason = "the disk is full (SQLITE_FULL)"
    assert outcomes == {
        "first": reason,
        "stands on it": reason,
        "apart": (2, 1 + MAX_EVENTS),
        "third": (2, 2),
    }


async def test_what_stands_beside_a_failed_commit_is_recorded(tmp_path: Path) -> None:
    """The second one has other sessions than the first: it is committed, and says so (S-2)."""
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B)
        gate = Gate(store)
        gate.error, gate.failing = failed("SQLITE_FULL"), 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcomes.append, store, "first", A, [event()])
            await gate.reached.wait()
            tasks.start_soon(outcomes.append, store, "second", B, FULL)
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    assert outcomes == {"first": "the disk is full (SQLITE_FULL)", "second": (2, 1 + MAX_EVENTS)}
    assert gate.pieces == [["insert"], ["insert"]]


async def test_nothing_follows_a_failed_sync(tmp_path: Path) -> None:
    """What stands in the queue behind it is not executed: it might seem to succeed (S-3)."""
    outcomes = Outcomes()
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B)
        gate = Gate(store)
        gate.error, gate.failing = failed("SQLITE_IOERR_FSYNC"), 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcomes.append, store, "first", A, [event()])
            await gate.reached.wait()
            tasks.start_soon(outcomes.append, store, "second", B, FULL)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(outcomes.append, store, "third", B, [event()])
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
        assert gate.pieces == [["insert"], []]
        assert (await store.read(B)).head == 1
    assert set(outcomes) == {"first", "second", "third"}
    assert all(isinstance(outcome, str) for outcome in outcomes.values())
