"""A process that appends to three sessions as fast as it can, says what was acknowledged, and dies.

Run as `python victim.py LOG ROUND`; prints `session first last key` after each acknowledgement,
by one system call, so that a line was written whole or not at all.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import anyio

from eventlog import Event, SessionId, SqliteStore

SESSIONS = ("a", "b", "c")


async def append(store: SqliteStore, session: str, key: str) -> None:
    """Append one to five events at a time; now and then a long one."""
    for number in count():
        text = "x" * (70_000 if number % 97 == 5 else number % 300)
        events = [
            Event.of("x", {"key": f"{key}.{number}", "part": part, "text": text})
            for part in range(number % 5 + 1)
        ]
        span = await store.append(SessionId(session), events)
        os.write(1, f"{session} {span.first} {span.last} {key}.{number}\n".encode())


async def main(path: Path, key: str) -> None:
    """Append until killed."""
    async with SqliteStore.open(path) as store, anyio.create_task_group() as tasks:
        for session in SESSIONS:
            for task in range(3):
                tasks.start_soon(append, store, session, f"{key}.{session}.{task}")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
