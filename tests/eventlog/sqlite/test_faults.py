"""Calls of the operating system fail, one after another, under the real SQLite."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import anyio
import pytest

from eventlog import Event, LogUnavailable, SessionId, SqliteReader, SqliteStore
from eventlog.sqlite.schema import Journal
from tests.eventlog.sqlite.gate import A, B, C, event, known
from tests.eventlog.sqlite.powerless import built, under_shim

pytestmark = pytest.mark.anyio

APPEND = """
import json, sys, anyio
from pathlib import Path
from eventlog import Event, LogUnavailable, SessionId, SqliteStore

async def main(path):
    acked, refused = [], []

    async def append(store, session):
        for number in range(10):
            try:
                span = await store.append(SessionId(session), [Event.of("x", {"n": number})])
                acked.append([session, span.first])
            except LogUnavailable as error:
                refused.append(error.reason)

    try:
        async with SqliteStore.open(Path(path)) as store:
            await store._writer.execute("pragma wal_autocheckpoint=20")
            open(f"{path}/begin", "w").close()
            async with anyio.create_task_group() as tasks:
                for session in "abcd":
                    tasks.start_soon(append, store, session)
    except LogUnavailable as error:
        refused.append(error.reason)
    print(json.dumps([acked, refused]))

anyio.run(main, sys.argv[1])
"""


async def outcome(
    folder: Path, library: Path, fail: str, journal: Journal = "wal"
) -> tuple[int, list[str]]:
    """Append while a call fails; return how many appends succeeded, and why others did not.

    What succeeded is there afterwards, as often as it was said and without a hole.
    """
    log = folder / f"{journal}-{fail.replace(':', '-')}"
    async with SqliteStore.open(log, journal=journal) as store:
        await known(store, *map(SessionId, "abcd"))
        epoch = store.epoch
    done, _ = under_shim(library, APPEND, log, fail=fail)
    assert (done.stderr, done.returncode) == ("", 0)
    acked, refused = json.loads(done.stdout)
    async with SqliteStore.open(log) as store:
        assert store.epoch == epoch
        assert [damage async for damage in store.verify()] == []
        for session in map(SessionId, "abcd"):
            page = await store.read(session)
            assert [envelope["seq"] for envelope in page.envelopes()] == [*range(1, page.head + 1)]
            assert {seq for name, seq in acked if name == session} <= {*range(2, page.head + 1)}
            assert (await store.append(session, [event()])).first == page.head + 1
    return len(acked), refused


async def test_a_sync_fails(tmp_path: Path) -> None:
    """Whichever it is: what was acknowledged holds, and nothing is after it until a restart.

    The reason names the sync; no later append is tried, for it might seem to succeed (S-3). With
    a journal that is deleted a commit has several (R042).
    """
    library = built(tmp_path)
    tries: list[tuple[Journal, int]] = [("wal", number) for number in range(1, 9)]
    for journal, number in [*tries, ("delete", 1), ("delete", 2), ("delete", 5)]:
        fail = f"fdatasync:{number}:{errno.EIO}"
        acked, refused = await outcome(tmp_path, library, fail, journal)
        assert acked + len(refused) == 40
        assert any("SYNC" in reason for reason in refused)
        rest = [reason for reason in refused if "SYNC" not in reason]
        assert all("failed to sync" in reason for reason in rest)


async def test_a_write_fails(tmp_path: Path) -> None:
    """Once: that append fails and the next one goes on. For good: all do, and say why (S-9)."""
    library = built(tmp_path)
    for number in range(1, 60, 10):
        acked, refused = await outcome(tmp_path, library, f"pwrite:{number}:{errno.EIO}")
        assert acked + len(refused) == 40
        assert 0 < len(refused) <= 4
        acked, refused = await outcome(tmp_path, library, f"pwrite:-{number}:{errno.ENOSPC}")
        assert acked + len(refused) == 40
        assert set(refused) == {"the disk is full (SQLITE_FULL)"}


async def test_an_append_is_cancelled_wherever_it_waits(tmp_path: Path) -> None:
    """At each of its awaits in turn: it is whole or absent, others hold, and no number is lost.

    It waits for what is known of the session, for room, for its commit; the store is made to
    wait there too, and is left while it does (S-1, S-8).
    """
    large = [event("x" * 60_000)] * 80
    for ticks in range(24):
        async with SqliteStore.open(tmp_path) as store:
            before = {session: (await store.read(session, limit=0)).head for session in (A, B, C)}
            async with anyio.create_task_group() as tasks:
                with anyio.CancelScope() as scope:
                    tasks.start_soon(store.append, C, large)  # fills the room
                    async with anyio.create_task_group() as cancelled:
                        cancelled.start_soon(store.append, A, [event("1"), event("2")])
                        cancelled.start_soon(store.append, B, [event("x" * 70_000)])
                        for _ in range(ticks):
                            await anyio.lowlevel.checkpoint()
                        scope.cancel()
            heads = {session: (await store.read(session, limit=0)).head for session in (A, B, C)}
            assert heads[A] - before[A] in {0, 2}
            assert heads[B] - before[B] in {0, 1}
            assert heads[C] - before[C] == len(large)
            for session in (A, B, C):
                assert (await store.append(session, [event()])).first == heads[session] + 1
    async with SqliteStore.open(tmp_path) as store:
        assert [damage async for damage in store.verify()] == []


async def test_a_log_that_may_not_be_written(tmp_path: Path) -> None:
    """In the middle of it: appends fail and say so, reading goes on, and so does writing later."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        await store._writer.execute("pragma query_only=on")
        with pytest.raises(LogUnavailable, match="read-only"):
            await store.append(A, [event()])
        async with SqliteReader.open(tmp_path) as reader:
            assert (await reader.read(A)).head == 1
        await store._writer.execute("pragma query_only=off")
        assert await store.append(A, [Event.of("x")]) == (2, 2)
