"""Full batches: ours against a plain file that is synced as often, and against `eventsourcing`.

Above this module: the command line. Below it: `peers`, the log.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import anyio

from bench.harness import LINE, Contender, Goal
from bench.peers.eventsourcing import eventsourcing
from eventlog import Event, SessionId, SqliteStore

EVENTS = 40_000
"""More than 8 MB: the WAL is moved into the database on the way."""

EVENT = Event.of("message.delta", {"text": "x" * 240})
GOALS = {
    "queue full, 1 session": (1.0, 0.80, 0.70),
    "queue full, 8 sessions": (0.72, 0.57, 0.55),
    "one batch in flight, 1 session": (0.60, 0.50, 0.45),
}
SHAPES = {
    "queue full, 1 session": (3, 1),
    "queue full, 8 sessions": (3, 8),
    "one batch in flight, 1 session": (1, 1),
}
"""Appends at a time in each session, and sessions."""


def ours(size: int, depth: int, sessions: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what appends *size* events a commit."""

    async def run(folder: Path) -> dict[str, float]:
        part = [EVENT] * (size // sessions)
        count = EVENTS // (len(part) * depth * sessions)
        async with SqliteStore.open(folder) as store:
            store._writer._intake._full = size  # noqa: SLF001 - or it would wait for more

            async def producer(session: SessionId, times: int) -> None:
                for _ in range(times):
                    await store.append(session, part)

            for number in range(sessions):
                await producer(SessionId(f"s{number}"), 1)
            begun = perf_counter()
            async with anyio.create_task_group() as tasks:
                for number in range(depth * sessions):
                    tasks.start_soon(producer, SessionId(f"s{number % sessions}"), count)
            taken = perf_counter() - begun
        return {"events/s": count * len(part) * depth * sessions / taken}

    return run


def plain(size: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what writes as many lines to a file between two syncs."""

    async def run(folder: Path) -> dict[str, float]:
        await anyio.lowlevel.checkpoint()
        with (folder / "plain").open("wb", buffering=0) as file:
            begun = perf_counter()
            for _ in range(EVENTS // size):
                file.write(LINE * size)
                os.fdatasync(file.fileno())
            return {"events/s": EVENTS / (perf_counter() - begun)}

    return run


def recorder(size: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what lets `eventsourcing` insert as many in one call."""

    async def run(folder: Path) -> dict[str, float]:
        async with eventsourcing(folder) as peer:
            begun = perf_counter()
            for _ in range(EVENTS // size):
                await peer.append_many("s", size)
            return {"events/s": EVENTS / (perf_counter() - begun)}

    return run


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    found: list[Contender] = []
    goals: list[Goal] = []
    for at, size in enumerate((16, 64, 256)):
        file = Contender(f"plain file + fdatasync, {size} a sync", plain(size))
        found.append(file)
        for shape, (depth, sessions) in SHAPES.items():
            one = Contender(f"ours, {size} a commit, {shape}", ours(size, depth, sessions))
            found.append(one)
            goals.append(
                _goal(f"B-1: {size} a commit, {shape}, over a file", one, file, GOALS[shape][at])
            )
    for size, least in ((256, 3.0), (1_024, 4.0)):
        one = Contender(f"ours, {size} an append", ours(size, 1, 1))
        other = Contender(f"eventsourcing, {size} an insert", recorder(size))
        found += [one, other]
        goals.append(_goal(f"B-5: {size} a commit over eventsourcing", one, other, least))
    return found, goals


def _goal(text: str, one: Contender, other: Contender, least: float) -> Goal:
    return Goal(
        f"{text} (≥ {least})",
        lambda: one.median("events/s") / other.median("events/s"),
        lambda ratio: ratio >= least,
    )
