"""Catching up from the store, and what it costs who writes meanwhile.

Above this module: the command line. Below it: `peers`, the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import anyio

from bench.harness import Contender, Goal, percentiles
from bench.peers import PEERS, Opener
from eventlog import Event, SessionId, SqliteStore, on_the_wire

EVENTS = 60_000
EVENT = Event.of("message.delta", {"text": "x" * 240})
PAST, LIVE = SessionId("past"), SessionId("live")
SECONDS = 1.0
PAGE = 65_536


async def fill(store: SqliteStore) -> None:
    """Append what is read afterwards."""
    for _ in range(EVENTS // 256):
        await store.append(PAST, [EVENT] * 256)


async def catch_up(store: SqliteStore, *, compact: bool, read: list[int] | None = None) -> int:
    """Read all of it in pages, each as the text that a client is sent; *read* notes each page."""
    found = cursor = 0
    while (page := await store.read(PAST, after=cursor, limit=4096, limit_bytes=PAGE)).body:
        if compact:
            text = b"[%b]" % page.body.replace(b"\n", b",")
        else:
            text = b"[%b]" % b",".join(on_the_wire(PAST, page.lines))
        found += page.next - cursor
        if read is not None:
            read.append(page.next - cursor)
        cursor = page.next
        assert text
    return found


def ours(*, compact: bool) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what reads our log in one of the two forms."""

    async def run(folder: Path) -> dict[str, float]:
        async with SqliteStore.open(folder) as store:
            await fill(store)
            begun = perf_counter()
            found = await catch_up(store, compact=compact)
            return {"events/s": found / (perf_counter() - begun)}

    return run


def peer(open_peer: Opener) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what reads as many of a peer's events in its pages."""

    async def run(folder: Path) -> dict[str, float]:
        async with open_peer(folder) as one:
            for _ in range(EVENTS // 1_000):
                await one.append_many("past", 1_000)
            begun = perf_counter()
            found = await one.read("past")
            assert found == EVENTS
            return {"events/s": found / (perf_counter() - begun)}

    return run


async def beside(folder: Path) -> dict[str, float]:
    """Append one event at a time, first alone, then while a client catches up without a pause."""
    async with SqliteStore.open(folder) as store:
        await fill(store)
        idle = await _latencies(store)
        read: list[int] = []

        async def client() -> None:
            while True:
                await catch_up(store, compact=True, read=read)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client)
            busy = await _latencies(store)
            tasks.cancel_scope.cancel()
    return {
        "events/s read meanwhile": sum(read) / SECONDS,
        "µs p99 alone": percentiles(idle)["µs p99"],
        "µs p99 beside": percentiles(busy)["µs p99"],
        "p99 beside over alone": percentiles(busy)["µs p99"] / percentiles(idle)["µs p99"],
    }


async def _latencies(store: SqliteStore) -> list[float]:
    found = []
    end = perf_counter() + SECONDS
    while (before := perf_counter()) < end:
        await store.append(LIVE, [EVENT])
        found.append((perf_counter() - before) * 1e6)
    return found


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    hermes = Contender("ours, Hermes form", ours(compact=False))
    compact = Contender("ours, compact form", ours(compact=True))
    writer = Contender("ours, a writer beside a reader", beside)
    others = {name: Contender(name, peer(to)) for name, to in PEERS.items()}
    goals = [
        _goal(form, one, others[name], least)
        for form, one, figures in (
            ("Hermes form", hermes, (6, 3.5, 1.8)),
            ("compact form", compact, (10, 6, 3)),
        )
        for name, least in zip(
            ("eventsourcing, SQLite", "Redis, appendfsync always", "PostgreSQL 15, asyncpg"),
            figures,
            strict=True,
        )
    ]
    goals.append(
        Goal(
            "B-8: a writer's p99 beside one who catches up, over its p99 alone (≤ 1.5)",
            lambda: writer.median("p99 beside over alone"),
            lambda ratio: ratio <= 1.5,
        )
    )
    goals.append(
        Goal(
            "B-8: thousands of events/s that are caught up with meanwhile (≥ 100)",
            lambda: writer.median("events/s read meanwhile") / 1_000,
            lambda ratio: ratio >= 100,
        )
    )
    return [hermes, compact, *others.values(), writer], goals


def _goal(form: str, one: Contender, other: Contender, least: float) -> Goal:
    return Goal(
        f"B-6: {form} over {other.name} (≥ {least})",
        lambda: one.median("events/s") / other.median("events/s"),
        lambda ratio: ratio >= least,
    )
