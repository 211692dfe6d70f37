"""Following from memory, catching up without being in the way, and hearing that recording fails."""

from __future__ import annotations

import sqlite3
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import CaughtUp, Event, LogUnavailable, SqliteStore, parse, subscribe
from eventlog.tail import LIMIT, Tail
from tests.eventlog.sqlite.gate import A, C, Gate, busy, event, known

pytestmark = pytest.mark.anyio


class Counted:
    """The reading connection, and how often it is asked."""

    def __init__(self, store: SqliteStore) -> None:
        self._inner = store._reader
        store._reader = self  # type: ignore[assignment]
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        return getattr(self._inner, name)


async def test_who_follows_is_served_from_memory(tmp_path: Path) -> None:
    """Caught up, a subscriber takes what is appended without asking the database (S-7).

    What it gets are the same bytes (P-11); one who comes later reads them from the database.
    """
    got: list[bytes] = []
    caught_up = anyio.Event()

    async def follow(store: SqliteStore) -> None:
        async with aclosing(subscribe(store, A)) as items:
            async for item in items:
                if isinstance(item, CaughtUp):
                    caught_up.set()
                else:
                    got.extend(item.lines)
                if len(got) == 21:
                    return

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, store)
            await caught_up.wait()
            while (await store._stream(A))._grown is None:
                await anyio.lowlevel.checkpoint()
            counted = Counted(store)
            for number in range(20):
                await store.append(A, [event(str(number))])
        assert counted.asked == 0
        assert (await store.read(A, limit=100)).lines == got
        assert counted.asked > 0


async def test_a_tail_is_short_and_honest() -> None:
    """It holds so many bytes, never a hole, and says when it does not go back far enough (S-7)."""
    tail = Tail()
    assert tail.add(5, [b"5", b"6"], wanted=True)
    assert tail.after(3, 10, None) is None
    assert tail.after(4, 10, None) == [b"5", b"6"]
    assert tail.after(4, 1, None) == [b"5"]
    assert tail.after(6, 10, None) == []
    assert tail.after(7, 10, None) is None
    tail.add(9, [b"9"], wanted=True)  # 7 and 8 are not known
    assert tail.after(6, 10, None) is None
    assert tail.after(8, 10, None) == [b"9"]
    for seq in range(10, 400):
        tail.add(seq, [b"x" * 1_000], wanted=True)
    kept = tail.after(399 - LIMIT // 1_000, 1_000, None)
    assert kept is not None
    assert sum(map(len, kept)) <= LIMIT
    assert tail.after(399 - LIMIT // 1_000 - 1, 1_000, None) is None
    assert [tail.add(400 + n, [b"x"], wanted=False) for n in range(65)] == [True] * 64 + [False]


async def test_what_nobody_follows_is_not_kept(tmp_path: Path) -> None:
    """Memory is for sessions that are followed; when nobody waits any more it is given back (S-7)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        stream = await store._stream(A)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: store.wait(A, after=1))
            await anyio.wait_all_tasks_blocked()
            await store.append(A, [event()])
        assert stream.tail is not None
        for _ in range(65):
            await store.append(A, [event()])
        assert stream.tail is None
        assert (await store._stream(C)).tail is None


async def test_who_catches_up_lets_commits_pass(tmp_path: Path) -> None:
    """Between two pages a reader waits while there are appends, but not for long (S-7)."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(A, [event()] * 10)
        await known(store, C)
        gave_way: list[int] = []
        give_way = store._writer.give_way

        async def noted() -> None:
            gave_way.append(store._writer._intake.under_way)
            await give_way()

        store._writer.give_way = noted  # type: ignore[method-assign]
        async with busy(store):
            with anyio.fail_after(5):
                cursor = 0
                while (page := await store.read(A, after=cursor, limit=2)).body:
                    cursor = page.next
        assert gave_way == [1] * 4  # not after the last page


async def test_the_condition_of_the_log_can_be_heard(tmp_path: Path) -> None:
    """The first append that fails for want of room is told once, and so is the next success (S-9)."""
    heard: list[str | None] = []

    async def listen(store: SqliteStore) -> None:
        known: str | None = None
        while len(heard) < 2:
            known = await store.turned(known)
            heard.append(known)

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, store)
            gate.error = sqlite3.OperationalError("no")
            gate.error.sqlite_errorname = "SQLITE_FULL"
            for _ in range(3):
                with pytest.raises(LogUnavailable):
                    await store.append(A, [event()])
                assert store.degraded == "the disk is full (SQLITE_FULL)"
            gate.error = None
            await store.append(A, [event()])
        assert store.degraded is None
        assert heard == ["the disk is full (SQLITE_FULL)", None]
        last = parse((await store.read(A)).lines[-1])
        assert (last["seq"], await store.append(A, [Event.of("x")])) == (2, (3, 3))
