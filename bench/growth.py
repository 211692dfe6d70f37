"""What things cost as a log grows: nothing should, but the disk, and a list by its length.

Above this module: the command line. Below it: the log.

Each log is made once and then looked at in every repeat. `BENCH_GROWTH` names other numbers of
events; ten millions take minutes and 3.3 GB.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio

from bench.harness import Contender, Goal
from eventlog import Event, SessionId, SqliteReader, SqliteStore

EVENT = Event.of("message.delta", {"text": "x" * 240})
LINE = 315
"""Bytes of a line, and its line break, in the longest of these logs."""
SIZES = tuple(
    int(size) for size in os.environ.get("BENCH_GROWTH", "1000,10000,100000,1000000").split(",")
)
SESSIONS = (1, 10, 100, 1_000, 10_000)
ONE = SessionId("s0")
_AT_ONCE = 4_096

_MEMORY = """
import anyio, sys
from pathlib import Path
from bench.growth import in_memory
print(anyio.run(in_memory, Path(sys.argv[1]), sys.argv[2]))
"""


async def fill_long(folder: Path, events: int) -> None:
    """Record one session of so many events."""
    async with SqliteStore.open(folder) as store:
        for start in range(0, events, _AT_ONCE):
            await store.append(ONE, [EVENT] * min(_AT_ONCE, events - start))


async def fill_many(folder: Path, sessions: int) -> None:
    """Record so many sessions of two events."""
    async with SqliteStore.open(folder) as store, anyio.create_task_group() as tasks:
        for number in range(sessions):
            title = Event.of("session.title", {"title": f"Session {number}"})
            tasks.start_soon(store.append, SessionId(f"s{number}"), [title, EVENT])


async def long(folder: Path, events: int) -> dict[str, float]:
    """Look at a session of that many events."""
    size = (folder / "events.db").stat().st_size
    async with SqliteStore.open(folder) as store:
        found = {
            "µs append": await _timed(lambda: store.append(ONE, [EVENT])),
            "µs read since ten before the end": await _timed(
                lambda: store.read(ONE, after=events - 10)
            ),
            "µs read 64 KiB from the middle": await _timed(
                lambda: store.read(ONE, after=events // 2, limit_bytes=65_536)
            ),
        }
    return {
        **found,
        "ms open to write": await _timed(partial(_opened, SqliteStore, folder), 5) / 1e3,
        "ms open to read": await _timed(partial(_opened, SqliteReader, folder), 5) / 1e3,
        "disk over lines": size / (events * LINE),
        "MB of memory": await _memory(folder, "long"),
    }


async def many(folder: Path, sessions: int) -> dict[str, float]:
    """Look at that many sessions."""
    size = (folder / "events.db").stat().st_size
    async with SqliteStore.open(folder) as store:
        found = {
            "ms list of all": await _timed(store.sessions, 5) / 1e3,
            "ms list of the newest twenty": await _timed(lambda: store.sessions(limit=20), 5) / 1e3,
            "µs append": await _timed(lambda: store.append(ONE, [EVENT])),
        }
    return {
        **found,
        "ms open to write": await _timed(partial(_opened, SqliteStore, folder), 5) / 1e3,
        "KB of disk a session": size / sessions / 1e3,
        "MB of memory, each appended to": await _memory(folder, "many"),
    }


async def in_memory(folder: Path, how: str) -> float:
    """Use a log as a gateway does; return what memory this process has had at most, in MB."""
    async with SqliteStore.open(folder) as store:
        rows = await store.sessions()
        if how == "long":
            for _ in range(200):
                await store.append(ONE, [EVENT])
            head, cursor = rows[0].head, max(0, rows[0].head - 20_000)
            while cursor < head:
                cursor = (await store.read(ONE, after=cursor, limit_bytes=65_536)).next
        else:
            for row in rows:
                await store.append(row.id, [EVENT])
    async with await anyio.open_file("/proc/self/status") as status:
        peak = next(line for line in (await status.read()).splitlines() if "VmHWM" in line)
    return int(peak.split()[1]) / 1e3


async def _memory(folder: Path, how: str) -> float:
    program = [sys.executable, "-c", _MEMORY, str(folder), how]
    return float((await anyio.run_process(program)).stdout)


async def _opened(kind: type[SqliteReader], folder: Path) -> None:
    async with kind.open(folder) as log:
        await log.read(ONE, limit=1)


async def _timed(do: Callable[[], Awaitable[object]], times: int = 100) -> float:
    found = []
    for _ in range(times):
        before = perf_counter()
        await do()
        found.append((perf_counter() - before) * 1e6)
    return median(found)


def _contender(
    root: TemporaryDirectory[str],
    size: int,
    what: str,
    fill: Callable[[Path, int], Awaitable[None]],
    look: Callable[[Path, int], Awaitable[dict[str, float]]],
) -> Contender:
    """Return what looks at a log that is made when it is first looked at."""
    folder = Path(root.name) / f"{what}-{size}"

    async def run(_: Path) -> dict[str, float]:
        if not folder.exists():
            await fill(folder, size)
        return await look(Path(root.name, folder.name), size)

    return Contender(f"ours, {size:,} {what}", run, curve=what, size=size)


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    root = TemporaryDirectory(prefix="bench-", dir=os.environ.get("BENCH_DIR"))
    longer = [_contender(root, size, "events", fill_long, long) for size in SIZES]
    more = [_contender(root, count, "sessions", fill_many, many) for count in SESSIONS]

    def most_over_fewest(of: Sequence[Contender], figure: str) -> Callable[[], float]:
        return lambda: of[-1].median(figure) / of[0].median(figure)

    return [*longer, *more], [
        *(
            Goal(
                f"growth: {figure}, {of[-1].size:,} {of[0].curve} over {of[0].size:,} (≤ {limit})",
                most_over_fewest(of, figure),
                lambda ratio, limit=limit: ratio <= limit,  # type: ignore[misc]
            )
            for of, figure, limit in (
                (longer, "µs append", 2),
                (longer, "µs read since ten before the end", 2),
                (longer, "µs read 64 KiB from the middle", 2),
                (longer, "ms open to write", 2),
                (longer, "ms open to read", 2),
                (longer, "MB of memory", 1.5),
                (more, "µs append", 2),
                (more, "ms open to write", 2),
            )
        ),
        Goal(
            "growth: ms for a list of 10,000 sessions (R160: ≤ 300)",
            lambda: more[-1].median("ms list of all"),
            lambda taken: taken <= 300,
        ),
    ]
