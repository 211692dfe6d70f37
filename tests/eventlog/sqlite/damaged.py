"""A log with something of everything in it, whose writer was killed, and what a reader sees of it.

Above this module: the tests of damage. Below it: the log.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from eventlog import GATEWAY, EventLogError, SessionId, SqliteReader
from eventlog.sqlite.faults import translated

SESSIONS = (*map(SessionId, ("a", "b", "c", "pruned", "deleted", "cold", "large")), GATEWAY)
NAMES = ("theirs-a", "theirs-pruned", "nobody")

WRITE_AND_DIE = """
import os, signal, sys, anyio
from pathlib import Path
from eventlog import Checkpoint, Event, GATEWAY, Seq, SessionId, SqliteStore

def named(key):
    return [
        Event.of("session.opened", {"cwd": "/x", "title": f"Title of {key}"}),
        Event.of("session.alias", {"scope": "acp:x", "id": f"theirs-{key}"}),
    ]

async def main(path):
    async with SqliteStore.open(path) as store:
        for key in ("pruned", "deleted", "cold", "large"):
            await store.append(SessionId(key), named(key))
            for number in range(6):
                events = [Event.of("x", {"n": number, "text": "old " * 300})] * 3
                await store.append(SessionId(key), events)
        await store.prune(SessionId("pruned"), Checkpoint(Seq(11), 1, b'{"state": "' + b"x" * 3000 + b'"}'))
        await store.delete(SessionId("deleted"))
        for number in range(4):
            event = Event.of("x", {"text": f"{number % 3} long " * 12_000})
            await store.append(SessionId("large"), [event])
        await store.compact(before=2**62)
        await store.append(GATEWAY, [Event.of("gateway.started", {})])
        await store.append(SessionId("a"), named("a"))
        await store.keep(SessionId("a"), "t", Checkpoint(Seq(1), 1, b"{}" * 900))
        for number in range(60):
            events = [
                Event.of("x", {"text": f"{number}.{part}" + "x" * (900 if number % 3 else 9000)})
                for part in range(number % 4 + 1)
            ]
            await store.append(SessionId("abc"[number % 3]), events)
            if number == 30:
                await store.settle()
                await store._writer.execute("pragma wal_checkpoint(passive)")
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main, Path(sys.argv[1]))
"""


def make(path: Path) -> Path:
    """Make the log: half of it is still in the WAL."""
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, path], check=False, timeout=50)
    assert done.returncode == -9
    return path


@dataclass(slots=True)
class Seen:
    """What a reader sees of a log."""

    lines: dict[SessionId, list[bytes]] = field(default_factory=dict)
    rest: dict[str, object] = field(default_factory=dict)
    """The list, names, bases, kept states, what is unsettled, the epoch."""
    errors: list[str] = field(default_factory=list)


async def look(path: Path) -> Seen:
    """Read everything."""
    seen = Seen({session: [] for session in SESSIONS})
    try:
        async with SqliteReader.open(path) as reader:
            for session in SESSIONS:
                try:
                    seen.lines[session] = await everything(reader, session)
                except EventLogError as error:
                    seen.errors.append(str(error))
            await _beside(reader, seen)
    except EventLogError as error:
        seen.errors.append(str(error))
    return seen


async def _beside(reader: SqliteReader, seen: Seen) -> None:
    seen.rest["epoch"] = reader.epoch
    seen.rest["rows"] = list(await reader.sessions(every=True))
    for name in NAMES:
        seen.rest[name] = list(await reader.resolve(name))
    for session in SESSIONS:
        seen.rest[f"base of {session}"] = await reader.base(session)
        seen.rest[f"floor of {session}"] = (await reader.read(session, limit=0)).floor
    seen.rest["kept"] = await reader.checkpoint(SessionId("a"), "t", 1)
    with translated(reader.path):  # a writer would say it
        rows = await reader._reader.execute_fetchall(
            "select cast(value as text) from meta where key = 'settled'"
        )
    seen.rest["settled"] = [tuple(row) for row in rows]


async def everything(reader: SqliteReader, session: SessionId) -> list[bytes]:
    """Return a session's lines, with large strings put back."""
    found: list[bytes] = []
    cursor = 0
    while (page := await reader.read(session, after=cursor)).body:
        found += page.lines
        assert page.next > cursor
        cursor = page.next
    return found


@contextmanager
def flipped(file: Path, at: int, bit: int) -> Iterator[None]:
    """One bit of *file* is another one for a while."""
    with file.open("r+b") as opened:
        opened.seek(at)
        (was,) = opened.read(1)
        opened.seek(at)
        opened.write(bytes([was ^ 1 << bit]))
    try:
        yield
    finally:
        with file.open("r+b") as opened:
            opened.seek(at)
            opened.write(bytes([was]))
