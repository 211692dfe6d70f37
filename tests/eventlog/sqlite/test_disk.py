"""A disk without room: in a process of its own, under a limit on the size of files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, resource, sys
from pathlib import Path
import anyio
from eventlog import Event, LogUnavailable, SessionId, SqliteReader, SqliteStore

S = SessionId("s")
small, large = Event.of("x"), Event.of("x", {"parts": ["x" * 50_000] * 4})

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main(path):
    found = {}
    async with SqliteStore.open(path) as store:
        await store.append(S, [small])
        wal = path / "events.db-wal"
        limit(wal.stat().st_size + 1_000_000)
        count = 0
        try:
            while True:
                await store.append(S, [large] * 4)
                count += 4
        except LogUnavailable as error:
            found["reason"] = error.reason
        found["recorded"] = count
        page = await store.read(S, limit=10_000)
        found["head"], found["lines"] = page.head, len(page.lines)
        async with SqliteReader.open(path) as reader:
            found["beside"] = (await reader.read(S, limit=0)).head
        failed = []
        for events in ([large] * 6, [large] * 6):
            try:
                await store.append(S, events)
            except LogUnavailable as error:
                failed.append(error.reason)
        found["still"] = len(failed)
        found["smaller"] = (await store.append(S, [small])).first
        limit(resource.RLIM_INFINITY)
        found["later"] = (await store.append(S, [large] * 4)).first
    async with SqliteStore.open(path) as store:
        found["end"] = (await store.read(S, limit=0)).head
        found["damages"] = [str(damage) async for damage in store.verify()]
    print(json.dumps(found))

anyio.run(main, Path(sys.argv[1]))
"""

FULL_AT_OPEN = """
import resource, sys
from pathlib import Path
import anyio
from eventlog import Event, LogUnavailable, SessionId, SqliteStore

async def main(path):
    async with SqliteStore.open(path) as store:
        await store.append(SessionId("s"), [Event.of("x")])
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
    async with SqliteStore.open(path) as store:
        print(await store.append(SessionId("s"), [Event.of("x")]))
        try:
            await store.append(SessionId("s"), [Event.of("x", {"parts": [part * 50_000 for part in "abcdefgh"]})])
        except LogUnavailable as error:
            print("LogUnavailable")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
    try:
        async with SqliteStore.open(path / "new"):
            pass
    except LogUnavailable as error:
        print("LogUnavailable", sorted(file.name for file in (path / "new").iterdir()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    async with SqliteStore.open(path / "new"):
        print("made")

anyio.run(main, Path(sys.argv[1]))
"""

NO_ROOM_AT_ALL = """
import json, os, resource, signal, sys
from pathlib import Path
import anyio
from eventlog import Event, LogUnavailable, SessionId, SqliteStore

S = SessionId("s")
large = Event.of("x", {"parts": ["x" * 50_000] * 4})

async def fill(path):
    async with SqliteStore.open(path) as store:
        for _ in range(20):
            await store.append(S, [large])
        os.kill(os.getpid(), signal.SIGKILL)

async def main(path):
    size = (path / "events.db").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    async with SqliteStore.open(path) as store:
        head, refused = (await store.read(S)).head, ""
        try:
            await store.append(S, [large])
        except LogUnavailable as error:
            refused = store.degraded
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        later = await store.append(S, [large])
    async with SqliteStore.open(path) as store:
        damages = [str(damage) async for damage in store.verify()]
        print(json.dumps([head, refused, later.first, store.incarnation.renewed, damages]))

if os.fork() == 0:
    anyio.run(fill, Path(sys.argv[1]))
os.wait()
anyio.run(main, Path(sys.argv[1]))
"""


def run(script: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def test_a_full_disk_is_an_error_and_no_loss(tmp_path: Path) -> None:
    """The append that finds no room fails with the reason, and nothing of it is recorded.

    Reading goes on, a smaller append may succeed, and recording resumes when there is room,
    with the next number. It is no failed sync: the store is not poisoned (S-3).
    """
    found = json.loads(run(SCRIPT, tmp_path))

    head = 1 + found["recorded"]
    assert "SQLITE_" in found["reason"]
    assert (found["head"], found["lines"], found["beside"]) == (head, head, head)
    assert found["still"] == 2
    assert found["smaller"] == head + 1
    assert found["later"] == head + 2
    assert found["end"] == head + 5
    assert found["damages"] == []


def test_a_log_can_be_opened_where_there_is_hardly_room(tmp_path: Path) -> None:
    """No room for the reserve is no reason not to open; no room for a new log leaves none."""
    assert run(FULL_AT_OPEN, tmp_path).splitlines() == [
        "Span(first=2, last=2)",
        "LogUnavailable",
        "LogUnavailable ['events.db.lock', 'events.db.new']",
        "made",
    ]


def test_a_full_disk_does_not_keep_a_log_from_being_opened(tmp_path: Path) -> None:
    """The WAL of one that crashed cannot be moved into the database, which would have to grow: it
    is read all the same, an append says why it fails, and the next one finds room (S-9).
    """
    head, refused, later, renewed, damages = json.loads(run(NO_ROOM_AT_ALL, tmp_path))
    assert (head, later, renewed, damages) == (20, 21, None, [])
    assert "SQLITE_" in refused
