"""Whether a log is still the one that its numbers were given in."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from eventlog import GATEWAY, Event, LogUnavailable, SessionId, SqliteReader, SqliteStore
from eventlog.sqlite import sums
from eventlog.sqlite.mark import Marked, mark_of, marked
from tests.eventlog.sqlite.gate import A, B, Gate, event, known

pytestmark = pytest.mark.anyio

APPEND_AND_DIE = """
import os, signal, sys, anyio
from pathlib import Path
from eventlog import Event, SessionId, SqliteStore
async def main(path, durability, count):
    async with SqliteStore.open(Path(path), durability=durability) as store:
        for number in range(int(count)):
            await store.append(SessionId("a"), [Event.of("x", {"text": "x" * 300})])
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main, *sys.argv[1:])
"""


def append_and_die(path: Path, durability: str, count: int = 3) -> None:
    done = subprocess.run(
        [sys.executable, "-c", APPEND_AND_DIE, path, durability, str(count)], check=False
    )
    assert done.returncode == -9


async def epoch_of(path: Path) -> str:
    async with SqliteReader.open(path) as reader:
        return reader.epoch


async def test_the_mark_follows_every_commit(tmp_path: Path) -> None:
    """Beside the database stands which epoch it has and which batch was its last (S-6)."""
    async with SqliteStore.open(tmp_path) as store:
        file = store.path
        assert marked(file) == Marked(store.epoch, 0)
        for number in range(1, 4):
            await store.append(A, [event()])
            assert marked(file) == Marked(store.epoch, number)
        await store.append(B, [event(), Event.of("session.title", {"title": "t"})])
        assert marked(file) == Marked(store.epoch, 4)
        await store.settle()
        await store.skip(A, Event.of("log.gap", {"first": 4, "last": 9, "reason": "x"}), at=1)
        assert marked(file) == Marked(store.epoch, 5)
    async with SqliteStore.open(tmp_path) as store:
        assert marked(file) == Marked(store.epoch, 5)
        assert store.incarnation.renewed is None


async def test_a_log_behind_its_mark_says_so(tmp_path: Path) -> None:
    """An older file in its place: how much is missing is said, recorded, and the epoch ends.

    No number of a batch is given twice (S-6, P-18).
    """
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
    shutil.copy(tmp_path / "events.db", tmp_path / "older.db")
    async with SqliteStore.open(tmp_path) as store:
        before = store.epoch
        for _ in range(5):
            await store.append(A, [event()])
    shutil.move(tmp_path / "older.db", tmp_path / "events.db")
    async with SqliteReader.open(tmp_path) as reader:
        assert [str(found) async for found in reader.verify()] == ["the last 5 batches are missing"]

    async with SqliteStore.open(tmp_path) as store:
        assert store.epoch != before
        assert store.incarnation.renewed == "5 committed batches are missing"
        (gap,) = (await store.read(GATEWAY)).envelopes()
        assert (gap["type"], gap["payload"]) == ("log.gap", {"reason": "lost", "batches": 5})
        assert [damage async for damage in store.verify()] == []
        renewed = store.epoch
    with closing(sqlite3.connect(tmp_path / "events.db")) as database:
        ids = [number for (number,) in database.execute("select id from batch order by id")]
    assert ids == [1, 7]
    async with SqliteStore.open(tmp_path) as store:
        assert store.epoch == renewed
        assert store.incarnation.lost == 0
        assert (await store.read(GATEWAY)).head == 1


async def test_a_log_that_is_gone_is_missed(tmp_path: Path) -> None:
    """Lost or empty: the mark says how many batches there were, and so does the new log (S-6)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B)
        before, file = store.epoch, store.path
    file.write_bytes(b"")
    async with SqliteStore.open(tmp_path) as store:
        assert store.epoch != before
        assert store.incarnation.lost == 2
        (gap,) = (await store.read(GATEWAY)).envelopes()
        assert gap["payload"] == {"reason": "lost", "batches": 2}
        assert [damage async for damage in store.verify()] == []
    async with SqliteStore.open(tmp_path) as store:
        assert store.incarnation.lost == 0


async def test_one_bit_in_the_journal_is_noticed(tmp_path: Path) -> None:
    """One flipped bit in the WAL makes SQLite drop all that follows, and call itself whole (S-6)."""
    append_and_die(tmp_path, "full", 50)
    wal = tmp_path / "events.db-wal"
    text = bytearray(wal.read_bytes())
    text[32 + 24 + 4096 * 3 + 100] ^= 1
    wal.write_bytes(text)

    async with SqliteReader.open(tmp_path) as reader:
        (first, *_) = [str(found) async for found in reader.verify()]
    async with SqliteStore.open(tmp_path) as store:
        lost = store.incarnation.lost
        head = (await store.read(A, limit=0)).head
    assert first == f"the last {lost} batches are missing"
    assert lost > 40
    assert head + lost == 50


async def test_a_mark_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    """Torn, foreign, of another log or gone: the database is believed, and the mark made anew."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        file, epoch = store.path, store.epoch
    for text in (b"", b"abc", b"\xff" * 60, b"0123 %019d\n" % 99):
        mark_of(file).write_bytes(text)
        async with SqliteStore.open(tmp_path) as store:
            assert (store.epoch, marked(file)) == (epoch, Marked(epoch, 1))
    mark_of(file).unlink()
    async with SqliteStore.open(tmp_path) as store:
        assert (store.epoch, marked(file)) == (epoch, Marked(epoch, 1))


@pytest.mark.parametrize(("durability", "same"), [("full", True), ("normal", False)])
async def test_an_end_without_a_word(
    durability: Literal["full", "normal"], *, same: bool, tmp_path: Path
) -> None:
    """At full the epoch outlives kill -9; below it numbers may have been lost, so it ends (P-18)."""
    async with SqliteStore.open(tmp_path, durability=durability) as store:
        epoch = store.epoch
    append_and_die(tmp_path, durability)
    for _ in range(2):
        async with SqliteStore.open(tmp_path) as store:
            assert (store.epoch == epoch) is same
            assert (await store.read(A)).head == 3
            epoch, same = store.epoch, True  # once is enough


async def test_normal_is_said_and_ends_in_order(tmp_path: Path) -> None:
    """The weaker level is one that is asked for, told, and as good as full when it ends (S-3)."""
    async with SqliteStore.open(tmp_path, durability="normal") as store:
        assert store.incarnation.durability == "normal"
        level = await store._writer.work(lambda one: one.execute("pragma synchronous").fetchone())
        assert level == (1,)
        await known(store, A)
        epoch = store.epoch
        with closing(sqlite3.connect(tmp_path / "events.db")) as database:
            noted = database.execute("select value from meta where key = 'unsynced'").fetchall()
        assert noted == [(1,)]
    async with SqliteStore.open(tmp_path) as store:
        assert (store.epoch, store.incarnation.durability) == (epoch, "full")


async def test_a_failed_sync_is_no_orderly_end(tmp_path: Path) -> None:
    """A store that was poisoned at a level below full does not claim that all is well (S-3, P-18)."""
    async with SqliteStore.open(tmp_path, durability="normal") as store:
        await known(store, A)
        epoch = store.epoch
        gate = Gate(store)
        gate.open.set()
        gate.error = sqlite3.OperationalError("disk I/O error")
        gate.error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        with pytest.raises(LogUnavailable):
            await store.append(A, [event()])
    assert await epoch_of(tmp_path) == epoch
    async with SqliteStore.open(tmp_path) as store:
        assert store.epoch != epoch


async def test_a_copy_without_an_epoch_gets_its_own(tmp_path: Path) -> None:
    """A backup carries no epoch, so whoever opens it begins a new one (P-18)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        epoch = store.epoch
    with closing(sqlite3.connect(tmp_path / "events.db")) as database, database:
        sums.install(database)
        database.execute("delete from meta where key = 'epoch'")
    async with SqliteStore.open(tmp_path) as store:
        assert store.epoch != epoch
        assert store.incarnation.renewed == "it is a copy"
        assert await store.append(A, [event()]) == (2, 2)


async def test_a_journal_stays_as_it_was_chosen(tmp_path: Path) -> None:
    """`delete` works where a WAL does not, and is never silently a WAL again (S-4, R045, R022)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, SessionId("before"))
    async with SqliteStore.open(tmp_path, journal="delete") as store:
        assert store.incarnation.journal == "delete"
        await known(store, A, B)
        async with SqliteReader.open(tmp_path) as reader:
            assert (await reader.read(A)).head == 1
    assert not (tmp_path / "events.db-wal").exists()
    async with SqliteStore.open(tmp_path) as store:
        assert store.incarnation.journal == "delete"
        assert await store.append(A, [event()]) == (2, 2)
    async with SqliteStore.open(tmp_path, journal="wal") as store:
        assert store.incarnation.journal == "wal"
        assert (await store.read(A)).head == 2
