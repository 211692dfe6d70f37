"""Processes that append to many sessions as fast as they can, say what was acknowledged, and die.

Run as `python victim.py LOG`. For each line that it reads it forks one, which opens the log and
appends until it is killed: `pid N` first, then `session first last key` after each
acknowledgement, by one system call, so that a line is written whole or not at all. `dead` follows
when nothing more will. Forking saves an interpreter's start each time, and all that it imports.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import anyio

from eventlog import Event, SessionId, SqliteStore

SESSIONS = tuple("abcdefghijkl")


async def append(store: SqliteStore, session: str, key: str) -> None:
    """Append one to five events at a time; now and then a long one."""
    for number in count():
        text = "x" * (50_000 if number % 97 == 5 else number % 300)
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
            for task in range(2):
                tasks.start_soon(append, store, session, f"{key}.{session}.{task}")


if __name__ == "__main__":
    anyio.run(anyio.lowlevel.checkpoint)  # what a loop needs is imported when one is first run
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            os.write(1, f"pid {os.getpid()}\n".encode())
            anyio.run(main, Path(sys.argv[1]), line.strip())
        os.waitpid(child, 0)
        os.write(1, b"dead\n")
