"""A log is there whole or not at all, and what is not a log is left alone."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import time_ns

import anyio
import pytest

from eventlog import (
    Event,
    EventLogError,
    ForeignDatabase,
    LogUnavailable,
    NewerSchema,
    SessionId,
    SqliteReader,
    SqliteStore,
)
from eventlog.sqlite.migration import VERSION

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")


def another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table theirs(a)")
        database.execute("insert into theirs values (1)")
        database.commit()


def noise(path: Path) -> None:
    path.write_bytes(bytes(range(1, 256)) * 40)


def half_a_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\0" * 20)


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def a_letter(path: Path) -> None:
    path.write_text("Dear Sir or Madam")


FOREIGN = [another_program, noise, half_a_header, a_letter]


@pytest.mark.parametrize("make", FOREIGN)
@pytest.mark.parametrize("kind", [SqliteStore, SqliteReader])
async def test_what_is_not_a_log_is_refused_and_untouched(
    make: Callable[[Path], None], kind: type[SqliteReader], tmp_path: Path
) -> None:
    """Another program's database, noise, text: a clear error, and not a byte is changed.

    No thread is left behind (R029).
    """
    path = tmp_path / "theirs.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(ForeignDatabase, match="is not an event log"):
        async with kind.open(path):
            pass

    assert path.read_bytes() == before
    assert names(tmp_path) <= {"theirs.db", "theirs.db.lock"}
    assert not [thread for thread in threading.enumerate() if "worker_thread" in thread.name]


@pytest.mark.parametrize("kind", [SqliteStore, SqliteReader])
@pytest.mark.parametrize("in_wal", [False, True])
async def test_a_later_schema_is_refused_and_untouched(
    kind: type[SqliteReader], tmp_path: Path, *, in_wal: bool
) -> None:
    """S-12: a log of a later version is refused with both numbers, also if only the WAL says so."""
    path = tmp_path / "events.db"
    async with SqliteStore.open(path) as store:
        await store.append(SESSION, [Event.of("x")])
    with closing(sqlite3.connect(path)) as later:
        later.execute("pragma wal_autocheckpoint=0")
        later.execute("pragma user_version=7")
        if not in_wal:
            later.execute("pragma wal_checkpoint(truncate)")
        before = path.read_bytes()
        with pytest.raises(NewerSchema) as error:
            async with kind.open(path):
                pass
        assert (error.value.found, error.value.known) == (7, VERSION)
        assert path.read_bytes() == before


async def test_an_empty_file_becomes_a_log(tmp_path: Path) -> None:
    """A file with nothing in it holds nothing that could be lost; a reader leaves it, though."""
    path = tmp_path / "x.db"
    path.touch()
    with pytest.raises(LogUnavailable):
        async with SqliteReader.open(path):
            pass
    async with SqliteStore.open(path) as store:
        await store.append(SESSION, [Event.of("x")])
    async with SqliteReader.open(path) as reader:
        assert (await reader.read(SESSION)).head == 1


async def test_a_log_that_was_never_finished_is_made_anew(tmp_path: Path) -> None:
    """A draft that a crash left behind is no log and in nobody's way."""
    (tmp_path / "events.db.new").write_bytes(b"half")
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, [Event.of("x")])

    assert not (tmp_path / "events.db.new").exists()


async def test_the_file_is_what_the_plan_says(tmp_path: Path) -> None:
    """Tables, settings that are kept in the file, and the marks by which it is known."""
    async with SqliteStore.open(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "events.db")) as database:
        tables = {name for (name,) in database.execute("select name from sqlite_schema")}
        settings = {
            name: database.execute(f"pragma {name}").fetchone()[0]
            for name in ("auto_vacuum", "journal_mode", "user_version", "application_id")
        }
    assert tables >= {
        *("meta", "session", "alias", "batch", "checkpoint", "base", "blob", "blob_ref"),
        *("gapless", "event"),
    }
    assert settings == {
        "auto_vacuum": 2,  # incremental
        "journal_mode": "wal",
        "user_version": VERSION,
        "application_id": 0x48524C47,
    }


async def test_the_writer_is_as_durable_as_it_says(tmp_path: Path) -> None:
    """Every commit is synced, and what is deleted is overwritten (S-3)."""
    async with SqliteStore.open(tmp_path) as store:
        database = store._writer._database
        found = {
            name: (await database.execute_fetchall(f"pragma {name}"))
            for name in ("synchronous", "secure_delete", "journal_mode", "wal_autocheckpoint")
        }
    assert {name: tuple(*rows) for name, rows in found.items()} == {
        "synchronous": (2,),  # full
        "secure_delete": (1,),
        "journal_mode": ("wal",),
        "wal_autocheckpoint": (2000,),
    }


@pytest.mark.parametrize(("first", "last"), [(2, 2), (4, 4), (1, 1), (3, 2), (0, 3)])
async def test_the_database_itself_refuses_a_hole(first: int, last: int, tmp_path: Path) -> None:
    """Whoever inserts a batch that does not begin where the session ends is refused (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, [Event.of("x")] * 2)
    insert = "insert into batch(session, first, last, ts, crc, body) values (?, ?, ?, 0, 0, x'00')"
    with closing(sqlite3.connect(tmp_path / "events.db")) as database:
        with pytest.raises(sqlite3.IntegrityError, match="must begin where its session ends"):
            database.execute(insert, (1, first, last))
        with pytest.raises(sqlite3.IntegrityError, match="must begin"):
            database.execute(insert, (99, 1, 1))  # no such session
        database.execute(insert, (1, 3, 3))


async def test_people_can_look_with_the_sqlite_shell(tmp_path: Path) -> None:
    """The view `event` has one row an event, in order."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, [Event.of("a", {"text": "é\n,]"}), Event.of("b")], at=[5, 6])
        await store.append(SessionId("t"), [Event.of("c", {"n": 2**70})], at=[7])
    with closing(sqlite3.connect(tmp_path / "events.db")) as database:
        rows = database.execute("select session_id, seq, ts, type, payload from event").fetchall()

    assert rows == [
        ("s", 1, 5, "a", '{"text":"é\\n,]"}'),
        ("s", 2, 6, "b", "{}"),
        ("t", 1, 7, "c", '{"n":1180591620717411303424}'),
    ]


async def test_an_error_while_opening_is_one_of_ours(tmp_path: Path) -> None:
    """Whatever is in the way, the error is the package's own and names the file."""
    (tmp_path / "events.db").mkdir()
    with pytest.raises(EventLogError) as error:
        async with SqliteStore.open(tmp_path):
            pass
    assert "events.db" in str(error.value)


async def test_opening_may_be_cancelled_at_any_moment(tmp_path: Path) -> None:
    """Whenever it is cancelled, no lock and no thread is left behind, and no half a log (R029)."""

    async def open_and_stay() -> None:
        async with SqliteStore.open(tmp_path) as store:
            await store.append(SESSION, [Event.of("x")])
            await anyio.sleep_forever()

    for ticks in range(25):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_and_stay)
            for _ in range(ticks):
                await anyio.to_thread.run_sync(time_ns)  # threads, too, get on in the meantime
            tasks.cancel_scope.cancel()
        assert not [thread for thread in threading.enumerate() if "worker_thread" in thread.name]
    async with SqliteStore.open(tmp_path) as store:
        head = (await store.read(SESSION, limit=0)).head
        assert (await store.append(SESSION, [Event.of("x")])).first == head + 1
