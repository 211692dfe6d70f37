"""How much disk real recordings take, over the bytes of their lines (B-10).

Every recorded session is appended event by event, as a slow agent's would be, and then compacted:
merged only, and merged and compressed. Once each recording is a session of its own (24 KB), and
once all of them are one, as a session of some days would be.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio

from bench.fold import CAPTURES
from bench.harness import Contender, Goal
from eventlog import Event, SessionId, SqliteStore, read_capture

TIMES = 4
"""How often the recordings are recorded: so that the empty database weighs little."""


def recorded() -> list[list[Event]]:
    """Return the events of every recorded session."""
    files = sorted(CAPTURES.glob("*/*.jsonl"))
    return [list(one.events) for file in files for one in read_capture(file.read_bytes())]


async def record(log: SqliteStore, key: SessionId, events: list[Event]) -> None:
    """Record a session in small batches."""
    for start in range(0, len(events), 4):
        await log.append(key, events[start : start + 4])


async def weigh(
    folder: Path, sessions: list[list[Event]], *, compact: bool | None
) -> dict[str, float]:
    """Record, and compact (True: and compress); return bytes on disk over bytes of lines."""
    lines = 0
    async with SqliteStore.open(folder, clock=lambda: 1) as log:
        async with anyio.create_task_group() as tasks:
            for number in range(TIMES):
                for index, events in enumerate(sessions):
                    tasks.start_soon(record, log, SessionId(f"s-{number}-{index}"), events)
        for row in await log.sessions():
            lines += len((await log.read(row.id, limit=1_000_000)).body) + 1
        if compact is not None:
            await log.compact(before=2**62, compress=compact)
    with closing(sqlite3.connect(folder / "events.db")) as database:
        database.execute("delete from meta where key = 'room'")  # what the WAL is made long with
        database.commit()
        database.executescript("pragma incremental_vacuum")
        (pages,) = database.execute("pragma page_count").fetchone()
        (size,) = database.execute("pragma page_size").fetchone()
        counts = "select count(*), sum(length(body)) from batch"
        ((batches, bodies),) = database.execute(counts)
    return {
        "% of the lines": 100 * pages * size / lines,
        "% of the lines in bodies": 100 * bodies / lines,
        "batches": batches,
    }


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    short = recorded()
    long = [[event for events in short for event in events]]
    made = {
        (name, how): Contender(f"{name}, {how}", partial(weigh, sessions=sessions, compact=compact))
        for name, sessions in (("long sessions", long), ("short sessions", short))
        for how, compact in (("as recorded", None), ("merged", False), ("compressed", True))
    }

    def ratio(*key: str) -> float:
        return made[key[0], key[1]].median("% of the lines") / 100

    return list(made.values()), [
        Goal(
            "merged (B-10: ≤ 1.05)",
            lambda: ratio("long sessions", "merged"),
            lambda found: found <= 1.05,
        ),
        Goal(
            "compressed (B-10: ≤ .25)",
            lambda: ratio("long sessions", "compressed"),
            lambda found: found <= 0.25,
        ),
        Goal(
            "short sessions (24 KB each) compressed: the row of the list and half-filled pages weigh",
            lambda: ratio("short sessions", "compressed"),
        ),
    ]
