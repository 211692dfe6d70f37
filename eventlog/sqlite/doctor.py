"""What may endanger a log on this machine: SQLite, the file system, permissions, lock, room.

Above this module: the command line. Below it: `files`, `schema`, the file system.

Nothing is changed and no event is read; `verify` looks at what is stored.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import anyio

from eventlog.finding import Finding
from eventlog.sqlite import files, schema
from eventlog.sqlite.faults import translated
from eventlog.sqlite.mark import mark_of, marked

FIXED: Final = (3, 51, 3)
"""The first SQLite in which two connections cannot corrupt a WAL that both reset."""

NETWORK: Final = ("nfs", "9p", "virtiofs", "fuse", "smb", "cifs", "afs", "ceph", "glusterfs")
"""File systems, by the beginning of their name, whose locks or shared memory may not hold."""

LOW: Final = 256 << 20
"""Bytes of free space that are too few for comfort."""


async def examine(
    path: Path,
    *,
    mounts: Path = Path("/proc/self/mountinfo"),
    sqlite: tuple[int, ...] = sqlite3.sqlite_version_info,
) -> list[Finding]:
    """Look at the log at *path*; *mounts* and *sqlite* are this machine's.

    Raises:
        LogUnavailable: there is none, or it cannot be read.
        ForeignDatabase, NewerSchema: it is no log that this program knows.

    """
    return await anyio.to_thread.run_sync(_examine, path, mounts, sqlite)


def _examine(path: Path, mounts: Path, sqlite: tuple[int, ...]) -> list[Finding]:
    file = files.database(path)
    kind = file_system(file, mounts)
    shared = kind.startswith(NETWORK)
    with translated(file), closing(schema.for_reading(file)) as database:
        meta = dict(database.execute("select key, value from meta where key is not 'room'"))
        (journal,) = database.execute("pragma journal_mode").fetchone()
        return [
            Finding("log", str(file)),
            _library(sqlite, journal, shared=shared),
            _system(kind, journal, shared=shared),
            Finding("journal", journal),
            _durability(meta),
            _lock(file),
            _mark(file, meta, database),
            *_modes(file),
            _room(file),
        ]


def file_system(path: Path, mounts: Path) -> str:
    """Return the kind of file system that *path* is on, as the kernel calls it; `` if unknown."""
    try:
        rows = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for row in rows:
        place, _, rest = row.partition(" - ")
        point = place.split(" ")[4].encode().decode("unicode_escape")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind


def _library(sqlite: tuple[int, ...], journal: str, *, shared: bool) -> Finding:
    version = ".".join(map(str, sqlite))
    if sqlite >= FIXED or journal != "wal":
        return Finding("sqlite", version)
    bug = "before 3.51.3 two writers may corrupt a WAL"
    if shared:
        return Finding("sqlite", version, f"{bug}, and locks may not hold here: use a later one")
    return Finding("sqlite", f"{version} ({bug}; this log has one, which the lock ensures)")


def _system(kind: str, journal: str, *, shared: bool) -> Finding:
    if not shared or journal != "wal":
        return Finding("file system", kind or "unknown")
    return Finding(
        "file system",
        kind,
        "a WAL is not safe here: use a local disk, or `hermes-log journal delete`",
    )


def _durability(meta: dict[str, Any]) -> Finding:
    if "unsynced" not in meta:
        return Finding("durability", "full")
    told = "a power failure may take the last commits, and ends the numbering"
    return Finding("durability", "normal", told)


def _lock(file: Path) -> Finding:
    try:
        descriptor = os.open(file.with_name(f"{file.name}.lock"), os.O_RDONLY)
    except FileNotFoundError:
        return Finding("lock", "nobody writes")
    except OSError as error:
        return Finding("lock", "unknown", f"the lock file cannot be read: {error.strerror}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip()
        return Finding("lock", f"written by {owner or 'a process that has not said which'}")
    finally:
        os.close(descriptor)
    return Finding("lock", "nobody writes")


def _mark(file: Path, meta: dict[str, Any], database: sqlite3.Connection) -> Finding:
    found = marked(file)
    (last,) = database.execute(
        "select coalesce(max(seq), 0) from sqlite_sequence where name = 'batch'"
    ).fetchone()
    if found is None or found.epoch != meta.get("epoch"):
        return Finding("mark", "none for this log")
    if found.batch > last:
        lost = found.batch - last
        return Finding("mark", str(found.batch), f"{lost} committed batches are missing: verify")
    return Finding("mark", str(found.batch))


def _modes(file: Path) -> Iterator[Finding]:
    beside = [file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm", ".lock")]
    open_ = [one for one in (file, *beside, mark_of(file)) if _is_open(one)]
    if open_:
        names = ", ".join(one.name for one in open_)
        yield Finding("files", "not private", f"others may read {names}: chmod 600")
    else:
        yield Finding("files", "private")
    mode = file.parent.stat().st_mode & 0o777
    if mode & 0o022:
        yield Finding("folder", f"{mode:o}", "others may put files in the log's place: chmod 700")
    else:
        yield Finding("folder", f"{mode:o}")


def _is_open(file: Path) -> bool:
    return file.exists() and bool(file.stat().st_mode & 0o077)


def _room(file: Path) -> Finding:
    free = shutil.disk_usage(file.parent).free
    text = f"{free / (1 << 20):,.0f} MiB free".replace(",", " ")
    return Finding("room", text, "recording stops when it is used up" if free < LOW else "")
