"""What group commit is worth: many appenders, each awaiting its own acknowledgement.

Against the same appenders on the same database engine with one `await commit()` an event; beside
it, the least that such a commit can be (one writer, a table of one key, nothing numbered), and,
for a lone appender, a bare write and fdatasync.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import perf_counter, time_ns

import aiosqlite
import anyio

from bench.harness import Contender, Goal, percentiles, timed_appends
from eventlog import Event, SessionId, SqliteStore

APPENDERS = 64
EACH = 150
SLOWER = 15
"""By so much fewer events are enough where each has a commit of its own."""
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
    """Let the same 64 tasks append a row an event, numbered by session, and commit each one."""
    latencies: list[float] = []
    async with _rows(
        folder, "session text, seq integer, ts integer, type text, payload blob,"
        " primary key(session, seq)"
    ) as database:  # fmt: skip
        turn = anyio.Lock()
        heads: Counter[str] = Counter()

        async def append(session: str) -> None:
            async with turn:
                heads[session] += 1
                row = (session, heads[session], time_ns() // 1_000, EVENT.type, EVENT.payload)
                await database.execute("insert into event values (?, ?, ?, ?, ?)", row)
                await database.commit()

        async def appender(session: str) -> None:
            for _ in range(EACH // SLOWER):
                before = perf_counter()
                await append(session)
                latencies.append((perf_counter() - before) * 1e6)

        begun = perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(APPENDERS):
                tasks.start_soon(appender, "s0")
        taken = perf_counter() - begun
    return {"events/s": len(latencies) / taken, **percentiles(latencies)}


async def commit_least(folder: Path) -> dict[str, float]:
    """Let one task insert a row and commit it, again and again."""
    async with _rows(folder, "seq integer primary key, payload blob") as database:
        numbers = count(1)

        async def once() -> None:
            row = (next(numbers), EVENT.payload)
            await database.execute("insert into event values (?, ?)", row)
            await database.commit()

        return await _alone(once)


@asynccontextmanager
async def _rows(folder: Path, columns: str) -> AsyncGenerator[aiosqlite.Connection, None]:
    """Open a database with a row an event, as durable as the log."""
    async with aiosqlite.connect(folder / "rows.db") as database:
        for pragma in ("journal_mode=wal", "synchronous=full"):
            await database.execute(f"pragma {pragma}")
        await database.execute(f"create table event({columns})")
        yield database


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
    each = Contender("64 appenders, one await commit() an event", commit_each)
    least = Contender("1 writer, one await commit() a row", commit_least)
    single = Contender("1 appender", alone)
    plain = Contender("write + fdatasync", plain_file)
    return [many, one, each, least, single, plain], [
        Goal(
            "64 appenders in one session over one commit() an event (≥ 20)",
            lambda: one.median("events/s") / each.median("events/s"),
            lambda ratio: ratio >= 20,
        ),
        Goal(
            "64 appenders in 64 sessions over one commit() an event",
            lambda: many.median("events/s") / each.median("events/s"),
        ),
        Goal(
            "64 appenders in one session over the least that one commit() an event can be (≥ 20)",
            lambda: one.median("events/s") / least.median("events/s"),
            lambda ratio: ratio >= 20,
        ),
        Goal(
            "one appender's p50 over write + fdatasync (B-4: ≤ 1.6)",
            lambda: single.median("µs p50") / plain.median("µs p50"),
            lambda ratio: ratio <= 1.6,
        ),
    ]
