"""What group commit is worth: many appenders, each awaiting its own acknowledgement.

Against one `await commit()` an event on the same database engine, and, for a lone appender,
against a bare write and fdatasync.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from time import perf_counter

import aiosqlite
import anyio

from bench.harness import Contender, Goal, percentiles, timed_appends
from eventlog import Event, SessionId, SqliteStore

APPENDERS = 64
EACH = 150
ALONE = 400
EVENT = Event.of("message.delta", {"text": "x" * 240})


async def together(folder: Path, *, sessions: int) -> dict[str, float]:
    """Let 64 tasks append one event at a time, each when its last one is durable."""
    latencies: list[float] = []

    async def appender(store: SqliteStore, session: SessionId) -> None:
        for _ in range(EACH):
            before = perf_counter()
            await store.append(session, [EVENT])
            latencies.append((perf_counter() - before) * 1e6)

    async with SqliteStore.open(folder) as store:
        begun = perf_counter()
        async with anyio.create_task_group() as tasks:
            for number in range(APPENDERS):
                tasks.start_soon(appender, store, SessionId(f"s{number % sessions}"))
        taken = perf_counter() - begun
    return {"events/s": APPENDERS * EACH / taken, **percentiles(latencies)}


async def commit_each(folder: Path) -> dict[str, float]:
    """Insert a row and commit it, again and again, as durably as the log does."""
    async with aiosqlite.connect(folder / "rows.db") as database:
        for pragma in ("journal_mode=wal", "synchronous=full"):
            await database.execute(f"pragma {pragma}")
        await database.execute("create table event(seq integer primary key, payload blob)")
        numbers = count(1)

        async def once() -> None:
            row = (next(numbers), EVENT.payload)
            await database.execute("insert into event values (?, ?)", row)
            await database.commit()

        return await _alone(once)


async def alone(folder: Path) -> dict[str, float]:
    """Let one task append one event at a time."""
    async with SqliteStore.open(folder) as store:
        return await _alone(lambda: store.append(SessionId("s"), [EVENT]))


async def plain_file(folder: Path) -> dict[str, float]:
    """Append to a plain file and sync it."""
    with (folder / "plain").open("wb", buffering=0) as file:
        await anyio.lowlevel.checkpoint()
        return percentiles(list(timed_appends(os.dup(file.fileno()), ALONE)))


async def _alone(once: Callable[[], Awaitable[object]]) -> dict[str, float]:
    latencies = []
    begun = perf_counter()
    for _ in range(ALONE):
        before = perf_counter()
        await once()
        latencies.append((perf_counter() - before) * 1e6)
    return {"events/s": ALONE / (perf_counter() - begun), **percentiles(latencies)}


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    many = Contender("64 appenders, 64 sessions", lambda at: together(at, sessions=64))
    one = Contender("64 appenders, 1 session", lambda at: together(at, sessions=1))
    each = Contender("one await commit() an event", commit_each)
    single = Contender("1 appender", alone)
    plain = Contender("write + fdatasync", plain_file)
    return [many, one, each, single, plain], [
        Goal(
            "64 appenders in 64 sessions over one commit() an event (≥ 20)",
            lambda: many.median("events/s") / each.median("events/s"),
            lambda ratio: ratio >= 20,
        ),
        Goal(
            "64 appenders in one session over one commit() an event (≥ 20)",
            lambda: one.median("events/s") / each.median("events/s"),
            lambda ratio: ratio >= 20,
        ),
        Goal(
            "one appender's p50 over write + fdatasync (B-4: ≤ 1.6)",
            lambda: single.median("µs p50") / plain.median("µs p50"),
            lambda ratio: ratio <= 1.6,
        ),
    ]
