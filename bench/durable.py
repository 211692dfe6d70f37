"""64 producers, each waiting until its event is durable: ours, and others called the same way.

Above this module: the command line. Below it: `peers`, the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import anyio

from bench.group_commit import together
from bench.harness import Contender, Goal, percentiles
from bench.peers import PEERS, Opener
from bench.peers.postgres import Grouped, postgres

PRODUCERS = 64
EACH = 60


async def produce(append: Callable[[str], Awaitable[None]], *, sessions: int) -> dict[str, float]:
    """Let 64 tasks append one event at a time, each when its last one is durable."""
    latencies: list[float] = []

    async def producer(session: str) -> None:
        for _ in range(EACH):
            before = perf_counter()
            await append(session)
            latencies.append((perf_counter() - before) * 1e6)

    begun = perf_counter()
    async with anyio.create_task_group() as tasks:
        for number in range(PRODUCERS):
            tasks.start_soon(producer, f"s{number % sessions}")
    return {"events/s": len(latencies) / (perf_counter() - begun), **percentiles(latencies)}


def _called_once_an_event(
    open_peer: Opener, sessions: int
) -> Callable[[Path], Awaitable[dict[str, float]]]:
    async def run(folder: Path) -> dict[str, float]:
        async with open_peer(folder) as peer:
            return await produce(peer.append, sessions=sessions)

    return run


async def grouped(folder: Path) -> dict[str, float]:
    """Put our group commit in front of PostgreSQL."""
    async with postgres(folder) as peer:
        group = Grouped(peer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(group.run)
            found = await produce(group.append, sessions=PRODUCERS)
            tasks.cancel_scope.cancel()
    return found


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    many = Contender("ours, 64 sessions", lambda at: together(at, sessions=64))
    one = Contender("ours, 1 session", lambda at: together(at, sessions=1))
    group = Contender("PostgreSQL with our group commit, 64 sessions", grouped)
    peers = {
        count: [
            Contender(
                f"{name}, {count} session{'s' * (count > 1)}", _called_once_an_event(to, count)
            )
            for name, to in PEERS.items()
        ]
        for count in (64, 1)
    }

    def best(count: int, figure: str = "events/s") -> float:
        found = [one.median(figure) for one in peers[count] if one.absent is None]
        return max(found) if figure == "events/s" else min(found)

    return [many, *peers[64], group, one, *peers[1]], [
        Goal(
            "B-2: 64 sessions, over the best peer called once an event (≥ 7)",
            lambda: many.median("events/s") / best(64),
            lambda ratio: ratio >= 7,
        ),
        Goal(
            "B-2: 1 session, over the best peer called once an event (≥ 9)",
            lambda: one.median("events/s") / best(1),
            lambda ratio: ratio >= 9,
        ),
        Goal(
            "B-2: over PostgreSQL given the same group commit (≥ 1.3)",
            lambda: many.median("events/s") / group.median("events/s"),
            lambda ratio: ratio >= 1.3,
        ),
        Goal(
            "B-3: p50 of the best peer over ours (≥ 7)",
            lambda: best(64, "µs p50") / many.median("µs p50"),
            lambda ratio: ratio >= 7,
        ),
        Goal(
            "B-3: p99 of the best peer over ours (≥ 5)",
            lambda: best(64, "µs p99") / many.median("µs p99"),
            lambda ratio: ratio >= 5,
        ),
    ]
