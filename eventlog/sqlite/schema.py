"""Opening a database: making a new one, knowing ours from others, setting connections up.

Above this module: `reader` and `store`. Below it: `files`, schema.sql, `sqlite3`.

Everything here that blocks runs in the thread of the aiosqlite connection that it opens.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeVar
from uuid import uuid4

import aiosqlite
import anyio

from eventlog.checksum import PREFERRED
from eventlog.errors import ForeignDatabase, LogUnavailable, NewerSchema
from eventlog.sqlite import files, sums
from eventlog.sqlite.faults import name, translated, unsynced
from eventlog.sqlite.mark import marked
from eventlog.sqlite.migration import VERSION, VIEW, migrate

APPLICATION: Final = 0x4852_4C47
"""Marks a file as a log of ours (`HRLG`); in the file as `application_id`."""

_WAL_PAGES: Final = 2_000
"""Pages in the WAL at which it is moved into the database."""
_RESERVED: Final = 4 * 1024 * 1024
"""Bytes that the WAL has from the beginning; longer than that it grows once, then no more."""

T = TypeVar("T")

Journal = Literal["wal", "delete"]
"""How SQLite makes a commit whole; `delete` also works on a network's file system (S-4)."""


@asynccontextmanager
async def connection(
    path: Path, connect: Callable[[Path], sqlite3.Connection]
) -> AsyncGenerator[aiosqlite.Connection, None]:
    """Open *path* by *connect*, in a thread of its own, and close it whatever happens (R029)."""
    opened = aiosqlite.Connection(lambda: connect(path), 64)
    try:
        with translated(path), anyio.CancelScope(shield=True):
            await opened
        yield opened
    finally:
        with anyio.CancelScope(shield=True):
            await opened.close()
            # Its thread has been told to end. Wait for that, or the loop may be gone before it.
            await anyio.to_thread.run_sync(opened._thread.join)  # noqa: SLF001 - no other way


async def on_connection(opened: aiosqlite.Connection, do: Callable[[sqlite3.Connection], T]) -> T:
    """Run *do* with the connection itself, in its thread: several calls in one go."""
    result: T = await opened._execute(  # type: ignore[no-untyped-call]  # noqa: SLF001 - no other way
        lambda: do(opened._conn)  # noqa: SLF001
    )
    return result


def for_reading(path: Path) -> sqlite3.Connection:
    """Connect to the log at *path*, which has to be one.

    Raises:
        LogUnavailable: there is no file.
        ForeignDatabase: it is not a log of ours, or only its WAL is there.
        NewerSchema: a later version made it.

    """
    _not_headless(path)
    if not path.is_file() or path.stat().st_size == 0:
        raise LogUnavailable(str(path), "there is no log here")
    _version(path)
    database = connect_to(path, "mode=ro")
    database.text_factory = partial(
        str, encoding="utf-8", errors="replace"
    )  # damage hides no other
    return _set_up(database, _execute("pragma busy_timeout=5000"))


def for_writing(path: Path, journal: Journal | None = None) -> sqlite3.Connection:
    """Connect to the log at *path*, made if it is not there; the caller holds the lock.

    The kind of *journal* that was once asked for stays until another is: a log on a file system
    that cannot hold a WAL never goes back to one by itself (R045).

    Raises:
        ForeignDatabase: it is not a log of ours, or only its WAL is there; untouched.
        NewerSchema: a later version made it; untouched.
        LogUnavailable: the file cannot be made.

    """
    try:
        _not_headless(path)
        if not path.exists() or path.stat().st_size == 0:
            _make(path)
        _version(path)
        files.restrict(path)
    except OSError as error:
        raise LogUnavailable(str(path), error.strerror or str(error)) from error
    return _set_up(
        connect_to(path, "mode=rw"),
        _execute("pragma busy_timeout=5000"),
        partial(_check, path),
        partial(_choose, journal),
        _execute("pragma secure_delete=on"),
        lambda database: migrate(database, path),
        partial(_reserve, path.with_name(f"{path.name}-wal")),
        _sync,
        _execute(f"pragma wal_autocheckpoint={_WAL_PAGES}"),
    )


def is_older(path: Path) -> bool:
    """Whether there is a log at *path* that cannot be read as it is.

    An earlier version made it, or a crash left a commit half done in it.
    """
    return path.is_file() and path.stat().st_size > 0 and _version(path) < VERSION


def bring_up(path: Path) -> None:
    """Migrate the log at *path* for those who only read it; the caller holds the lock."""
    with closing(connect_to(path, "mode=rw")) as database:
        migrate(database, path)


def _choose(journal: Journal | None, database: sqlite3.Connection) -> None:
    (kept,) = database.execute("select max(value) from meta where key = 'journal'").fetchone()
    chosen = journal or kept or "wal"
    database.execute(f"pragma journal_mode={chosen}").fetchall()
    if chosen != (kept or "wal"):
        database.execute("insert or replace into meta values ('journal', ?)", (chosen,))


def _sync(database: sqlite3.Connection) -> None:
    """Let every commit be synced; with a rollback journal that is its removal from the folder."""
    (journal,) = database.execute("pragma journal_mode").fetchone()
    database.execute(f"pragma synchronous={'full' if journal == 'wal' else 'extra'}")


def _reserve(wal: Path, database: sqlite3.Connection) -> None:
    """Make the WAL long: a commit into a file that still grows takes twice as long (S-5).

    An orderly end deletes the file, so this is done at every opening, but not after a crash. What
    stands behind the last commit is nothing to SQLite, whatever it is.
    """
    if database.execute("pragma journal_mode").fetchone() != ("wal",):
        return
    _execute("pragma wal_autocheckpoint=0")(database)
    try:
        _execute("pragma wal_checkpoint(passive)")(database)
    except sqlite3.OperationalError as error:
        if unsynced(error):
            raise
    files.lengthen(wal, _RESERVED)


def _not_headless(path: Path) -> None:
    if (left := files.left_behind(path)) is not None:
        raise ForeignDatabase(
            str(path), f"it is {'empty' if path.exists() else 'gone'}, while {left.name} is there"
        )


def _make(path: Path) -> None:
    """Make an empty log beside *path* and move it there: a log is there whole or not at all.

    If a mark says that there was one, the new one knows how many batches are lost (S-6).
    """
    from importlib.resources import files as resources  # noqa: PLC0415 - it imports much

    before = marked(path)
    lost = [("lost", before.batch)] if before and before.batch else []
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(0o600)
    with closing(connect_to(draft, "mode=rw")) as database:
        database.executescript(
            "pragma auto_vacuum=incremental; pragma secure_delete=on; pragma synchronous=full;"
            f"begin; pragma application_id={APPLICATION}; pragma user_version={VERSION};"
            f"{resources(__package__).joinpath('schema.sql').read_text('utf-8')}"
        )
        for statement in (VIEW, *sums.TRIGGERS, *sums.SEAL):
            database.execute(statement)
        database.executemany(
            "insert into meta values (?, ?)",
            [("epoch", uuid4().hex), ("checksum", PREFERRED), ("settled", 0), *lost],
        )
        database.execute("commit")
    draft.replace(path)
    files.sync_folder(path.parent)


def _version(path: Path) -> int:
    """Return the version of the schema of the log that is at *path*, and has to be one.

    0 if a commit has to be undone before it can be known.
    """
    with closing(connect_to(path, "mode=ro&immutable=1")) as database:  # leaves no trace
        # a file that is shorter than it says is whole together with its WAL
        database.execute("pragma writable_schema=on")
        _check(path, database)
    try:
        with closing(connect_to(path, "mode=ro")) as database:
            return _check(path, database)  # what has not been moved out of the WAL counts too
    except sqlite3.OperationalError as error:
        if name(error) != "SQLITE_READONLY_ROLLBACK":
            raise
        return 0


def _check(path: Path, database: sqlite3.Connection) -> int:
    (application,) = database.execute("pragma application_id").fetchone()
    (version,) = database.execute("pragma user_version").fetchone()
    if application != APPLICATION:
        raise ForeignDatabase(str(path), "it is another program's SQLite database")
    if version > VERSION:
        raise NewerSchema(str(path), version, VERSION)
    return int(version)


def connect_to(path: Path, mode: str) -> sqlite3.Connection:
    """Connect to *path* without a look at what it is; *mode* is SQLite's parameter."""
    database = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, isolation_level=None)
    sums.install(database)
    return database


def _execute(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def execute(database: sqlite3.Connection) -> None:
        for statement in statements:
            database.execute(statement).fetchall()

    return execute


def _set_up(
    database: sqlite3.Connection, *steps: Callable[[sqlite3.Connection], object]
) -> sqlite3.Connection:
    try:
        for step in steps:
            step(database)
    except BaseException:
        database.close()
        raise
    return database
