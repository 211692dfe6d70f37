"""Where a log lies, who may read it, and that one process at a time writes it."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from eventlog import (
    Event,
    ForeignDatabase,
    LogBusy,
    LogUnavailable,
    SessionId,
    SqliteReader,
    SqliteStore,
)
from eventlog.sqlite import files, schema
from eventlog.sqlite.backup import duplicate
from eventlog.sqlite.files import database

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")

HOLD = """
import sys, anyio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from eventlog import SqliteStore
async def main():
    async with SqliteStore.open(Path(sys.argv[1])):
        print("open", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in folder.iterdir()}


@contextmanager
def holder(path: Path) -> Generator[subprocess.Popen[str], None, None]:
    """Another process that has opened the log for writing."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_path_means_a_folder_or_a_database(tmp_path: Path) -> None:
    """A file, or a name that ends in .db, is the database; anything else is its folder."""
    (tmp_path / "file").touch()
    (tmp_path / "folder.db").mkdir()

    assert database(tmp_path) == tmp_path / "events.db"
    assert database(tmp_path / "new") == tmp_path / "new" / "events.db"
    assert database(tmp_path / "a.b") == tmp_path / "a.b" / "events.db"
    assert database(tmp_path / "x.db") == tmp_path / "x.db"
    assert database(tmp_path / "file") == tmp_path / "file"
    assert database(tmp_path / "folder.db") == tmp_path / "folder.db" / "events.db"


def test_two_names_of_one_log_are_one(tmp_path: Path) -> None:
    """A symbolic link leads to the log itself, and so to its lock."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert database(tmp_path / "link") == tmp_path / "real" / "events.db"


async def test_nobody_else_may_read_the_log(tmp_path: Path) -> None:
    """Files are made 0600 and folders 0700, whatever the umask, and kept so (S-13)."""
    folder = tmp_path / "a" / "log"
    async with SqliteStore.open(folder) as store:
        await store.append(SESSION, [Event.of("x")])
        async with SqliteReader.open(folder):
            found = modes(folder)

    assert found == dict.fromkeys(
        ["events.db", "events.db-shm", "events.db-wal", "events.db.lock", "events.db.mark"], 0o600
    )
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    await anyio.Path(folder / "events.db").chmod(0o644)
    async with SqliteStore.open(folder):
        assert mode(folder / "events.db") == 0o600


async def test_the_folders_of_a_log_outlive_the_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was made is synced where it was made, or all in it might be lost (S-8)."""
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    async with SqliteStore.open(tmp_path / "a" / "log"):
        pass
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a" / "log"]


@pytest.mark.parametrize("kind", ["wal", "delete"])
@pytest.mark.parametrize("left", [None, b""])
async def test_nothing_is_put_beside_the_journal_of_another_log(
    kind: schema.Journal, left: bytes | None, tmp_path: Path
) -> None:
    """S-6, P-18: a database that is lost, or empty, is not replaced while its WAL or journal is
    there: SQLite would take it for the new one's. Nothing is touched; a backup does not go there.
    """
    end = "-wal" if kind == "wal" else "-journal"
    log, backup = tmp_path / "log", tmp_path / "backup.db"
    async with SqliteStore.open(log, journal=kind) as store:
        await store.append(SESSION, [Event.of("x")])
        await duplicate(log, backup)
        journal = log / f"events.db{end}"
        text = journal.read_bytes() if journal.exists() else b"half a commit" * 100
    journal.write_bytes(text)
    (log / "events.db").unlink()
    if left is not None:
        (log / "events.db").write_bytes(left)
    for opens in (SqliteStore, SqliteReader):
        with pytest.raises(ForeignDatabase, match=f"while events.db{end} is there"):
            async with opens.open(log):
                pass
    with pytest.raises(LogUnavailable):
        await duplicate(backup, log / "events.db")
    assert journal.read_bytes() == text
    journal.unlink()
    (log / "events.db").unlink(missing_ok=True)
    await duplicate(backup, log / "events.db")
    async with SqliteStore.open(log) as store:
        assert (await store.read(SESSION)).head == 1
        assert [damage async for damage in store.verify()] == []


async def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    """Only what the log makes is its own to restrict."""
    await anyio.Path(tmp_path).chmod(0o755)
    async with SqliteStore.open(tmp_path / "x.db"):
        pass
    assert mode(tmp_path) == 0o755


async def test_a_second_writer_is_refused_by_name(tmp_path: Path) -> None:
    """Another process that writes is named; reading goes on beside it; its death frees the log.

    A lock left behind by a process that was killed is no matter, nor is what it says (S-4).
    """
    with holder(tmp_path) as owner:
        with pytest.raises(LogBusy, match=rf"pid {owner.pid}\b"):
            async with SqliteStore.open(tmp_path):
                pass
        async with SqliteReader.open(tmp_path) as reader:
            assert await reader.sessions() == []
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, [Event.of("x")])


async def test_what_a_stale_lock_file_says_is_no_matter(tmp_path: Path) -> None:
    """The process id in the file is for messages; a living process of that id holds nothing (R037)."""
    (tmp_path / "events.db.lock").write_text("pid 1\n")
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, [Event.of("x")])


AUDIT = """
import sys, anyio
from pathlib import Path
from eventlog import Event, SessionId, SqliteReader, SqliteStore
opened = []
sys.addaudithook(lambda name, given: opened.append(str(given[0])) if name == "open" else None)
async def main(path):
    async with SqliteStore.open(path) as store:
        del opened[:]
        await store.append(SessionId("s"), [Event.of("x")])
        async with SqliteReader.open(path) as reader:
            await reader.read(SessionId("s"))
            assert [damage async for damage in reader.verify()] == []
        await store.settle()
        print([path for path in opened if path.endswith("events.db")])
anyio.run(main, Path(sys.argv[1]))
"""


def test_nobody_opens_the_database_but_sqlite(tmp_path: Path) -> None:
    """Closing any descriptor of it would drop the locks that SQLite holds on it (R024)."""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


async def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    """The lock holds within a process too, and is given back when the log is closed (S-4)."""
    async with SqliteStore.open(tmp_path):
        with pytest.raises(LogBusy):
            async with SqliteStore.open(tmp_path):
                pass
    async with SqliteStore.open(tmp_path):
        pass


async def test_of_many_who_open_at_once_one_makes_the_log(tmp_path: Path) -> None:
    """Eight open a log that is not there yet: one makes it and has it, seven are told so (R028)."""
    epochs: list[str] = []
    refused: list[LogBusy] = []
    all_tried = anyio.Event()

    async def attempt() -> None:
        try:
            async with SqliteStore.open(tmp_path) as store:
                epochs.append(store.epoch)
                await all_tried.wait()
        except LogBusy as error:
            refused.append(error)
            if len(refused) == 7:
                all_tried.set()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(attempt)
    assert len(epochs) == 1
    async with SqliteStore.open(tmp_path) as store:
        assert [store.epoch] == epochs


async def test_a_place_that_cannot_be_is_said(tmp_path: Path) -> None:
    """Where no folder can be made, the error says where and why."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(LogUnavailable, match=r"Not a directory|File exists") as error:
        async with SqliteStore.open(tmp_path / "file" / "log"):
            pass
    assert "file" in error.value.path


async def test_there_is_nothing_to_read_where_no_log_is(tmp_path: Path) -> None:
    """A reader makes nothing."""
    with pytest.raises(LogUnavailable, match="there is no log here"):
        async with SqliteReader.open(tmp_path / "nowhere"):
            pass
    assert modes(tmp_path) == {}
