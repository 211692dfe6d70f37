"""A whole log into another file, while it is being written or at rest (S-13, P-18).

Above this module: the command line. Below it: `schema`, `files`, SQLite's `VACUUM INTO`.

A copy carries no epoch: whoever opens it for writing begins a new one, because the log it was
made of may go on with the same numbers for other events.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import anyio

from eventlog.errors import LogUnavailable
from eventlog.sqlite import files, schema, sums
from eventlog.sqlite.faults import translated

_OWN: Final = "delete from meta where key in ('epoch', 'unsynced', 'lost', 'room')"
"""What is about this log's file, and not about its events."""


async def duplicate(source: Path, file: Path) -> Path:
    """Write the log at *source* to *file*, whole or not at all; return that file, in full.

    Raises:
        LogUnavailable: there is no log at *source*, something at *file*, or no room.
        ForeignDatabase, NewerSchema: *source* is no log that this program knows.

    """
    return await anyio.to_thread.run_sync(_duplicate, source, file)


def _duplicate(source: Path, target: Path) -> Path:
    origin, file = files.database(source), target.expanduser().resolve()
    with translated(origin), closing(schema.for_reading(origin)) as database:
        if file.exists():
            raise LogUnavailable(str(file), "there is something already; give another place")
        if (left := files.left_behind(file)) is not None:
            raise LogUnavailable(str(left), "it belongs to a log that is gone; move it away first")
        try:
            files.make_folder(file.parent)
            _copy(database, file)
        except OSError as error:
            raise LogUnavailable(str(file), error.strerror or str(error)) from error
    return file


def _copy(database: sqlite3.Connection, file: Path) -> None:
    draft = file.with_name(f"{file.name}.copy")
    draft.unlink(missing_ok=True)
    try:
        draft.touch(0o600)
        database.execute("vacuum into ?", (str(draft),))
        _make_nobodys(draft)
        draft.replace(file)
        files.sync_folder(file.parent)
    finally:
        draft.unlink(missing_ok=True)


def _make_nobodys(draft: Path) -> None:
    with closing(sqlite3.connect(draft, isolation_level=None)) as database:
        sums.install(database)
        database.execute("pragma synchronous=full")
        database.execute("pragma secure_delete=on").fetchall()
        database.execute(_OWN)
    files.sync(draft)
