"""What things cost as a log grows: nothing should, but the disk.

Above this module: the command line. Below it: the log.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.harness import Contender, Goal
from eventlog import Event, SessionId, SqliteReader, SqliteStore

EVENT = Event.of("message.delta", {"text": "x" * 240})
SIZES = tuple(int(size) for size in os.environ.get("BENCH_GROWTH", "1000,10000,100000").split(","))
SESSIONS = (1, 100, 1_000, 10_000)


def long(events: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what looks at a session of that many events."""

    async def run(folder: Path) -> dict[str, float]:
        session = SessionId("s")
        async with SqliteStore.open(folder) as store:
            for start in range(0, events, 256):
                await store.append(session, [EVENT] * min(256, events - start))
            found = {
                "µs append": await _timed(lambda: store.append(session, [EVENT])),
                "µs read the last ten": await _timed(
                    lambda: store.read(session, after=events - 10)
                ),
            }
        found["µs open"] = await _timed(lambda: _opened(folder), 5)
        size = (folder / "events.db").stat().st_size
        return {**found, "disk over lines": size / (events * 315)}

    return run


def many(sessions: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what looks at that many sessions."""

    async def run(folder: Path) -> dict[str, float]:
        async with SqliteStore.open(folder) as store:
            for number in range(sessions):
                title = Event.of("session.title", {"title": f"Session {number}"})
                await store.append(SessionId(f"s{number}"), [title, EVENT])
            return {
                "ms list of all": await _timed(store.sessions, 5) / 1e3,
                "µs append": await _timed(lambda: store.append(SessionId("s0"), [EVENT])),
            }

    return run


async def _opened(folder: Path) -> None:
    async with SqliteReader.open(folder) as reader:
        await reader.read(SessionId("s"), limit=1)


async def _timed(do: Callable[[], Awaitable[object]], times: int = 100) -> float:
    found = []
    for _ in range(times):
        before = perf_counter()
        await do()
        found.append((perf_counter() - before) * 1e6)
    return median(found)


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    longer = [Contender(f"ours, {size:,} events", long(size)) for size in SIZES]
    more = [Contender(f"ours, {count:,} sessions", many(count)) for count in SESSIONS]
    return [*longer, *more], [
        *(
            Goal(
                f"growth: {figure}, the most events over the fewest (≤ 2)",
                lambda figure=figure: longer[-1].median(figure) / longer[0].median(figure),  # type: ignore[misc]
                lambda ratio: ratio <= 2,
            )
            for figure in ("µs append", "µs read the last ten", "µs open")
        ),
        Goal(
            "S: ms for a list of 10,000 sessions (≤ 300)",
            lambda: more[-1].median("ms list of all"),
            lambda taken: taken <= 300,
        ),
    ]
