"""Where a log lies on disk, and who may touch it.

Above this module: opening, reading and writing. Below it: the file system.

Never opens the database itself: closing any descriptor of it would drop the locks that SQLite
holds on it elsewhere in this process (R024).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from eventlog.errors import LogBusy, LogUnavailable

NAME: Final = "events.db"
_PRIVATE: Final = 0o600
_ZEROS: Final = bytes(256 * 1024)


def database(path: Path) -> Path:
    """Return the database file that *path* means.

    A file, or a name that ends in `.db`, is the database itself; anything else is the log's
    folder, with `events.db` in it.
    """
    full = path.expanduser().resolve()
    if full.is_dir() or not (full.is_file() or full.suffix == ".db"):
        return full / NAME
    return full


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[None, None]:
    """Keep every other writer away from the database at *path*, in this process too (S-4).

    Raises:
        LogBusy: another one has it; its process id stands in the lock file.
        LogUnavailable: the folder or the lock file cannot be made.

    """
    descriptor = await anyio.to_thread.run_sync(_lock, path)
    try:
        yield
    finally:
        os.close(descriptor)  # and so gives the lock back; the file stays, removing it would race


def _lock(path: Path) -> int:
    lock = path.with_name(f"{path.name}.lock")
    try:
        make_folder(path.parent)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, _PRIVATE)
    except OSError as error:
        raise LogUnavailable(str(path), error.strerror or str(error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"pid %d\n" % os.getpid(), 0)
    except BlockingIOError:
        owner = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise LogBusy(str(path), owner or "not named yet") from None
    except OSError as error:
        os.close(descriptor)
        raise LogUnavailable(str(path), error.strerror or str(error)) from error
    return descriptor


def make_folder(path: Path) -> None:
    """Make the folder *path* and those above it that are not there, for the owner alone (S-13).

    Each survives a power failure, or what is synced in it would not (S-8).
    """
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        sync_folder(path.parent)


def left_behind(path: Path) -> Path | None:
    """Return the WAL or journal of a database that is gone, where one was to be at *path*.

    It holds the last commits. SQLite would take it for that of whatever is put there, and write
    one into the other.
    """
    if path.exists() and path.stat().st_size:
        return None
    beside = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-journal"))
    return next((one for one in beside if one.exists() and one.stat().st_size), None)


def restrict(path: Path) -> None:
    """Let nobody but the owner read or write *path* (S-13)."""
    path.chmod(_PRIVATE)


def lengthen(path: Path, length: int) -> None:
    """Make *path* so many bytes long, with zeros; where there is no room it stays as it is.

    The zeros are written, or every later write would have to allocate; nobody waits for them.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
    try:
        was = at = os.fstat(descriptor).st_size
        try:
            while at < length:
                at += os.pwrite(descriptor, _ZEROS[: length - at], at)
        except OSError:
            os.ftruncate(descriptor, was)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Make what was written to *path*, which nobody has open, survive a power failure."""
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Make what was renamed in the folder *path* survive a power failure."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
