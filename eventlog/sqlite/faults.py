"""What an error of SQLite means for a log.

Above this module: opening, reading and writing. Below it: the standard library's `sqlite3`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eventlog.errors import EventLogError, ForeignDatabase, LogUnavailable

_REASONS: Final = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_BUSY": "another program holds the database's lock",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_PERM": "no permission",
    "SQLITE_IOERR_WRITE": "it cannot be written: an I/O error, or a limit on the size of files",
}
_FOREIGN: Final = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


def unsynced(error: sqlite3.Error) -> bool:
    """Whether the disk did not say that it has what was written: what it has is then unknown."""
    return name(error) in {"SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"}


def refused(error: sqlite3.Error) -> bool:
    """Whether the gapless trigger turned a batch away."""
    return name(error) == "SQLITE_CONSTRAINT_TRIGGER"


def name(error: sqlite3.Error) -> str:
    """Return SQLite's extended code of *error* by name."""
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def meaning(error: sqlite3.Error, path: Path) -> EventLogError:
    """Return *error* as one of the package's own errors."""
    if name(error).startswith(_FOREIGN):
        return ForeignDatabase(str(path), str(error))
    return LogUnavailable(str(path), reason(error))


def reason(error: sqlite3.Error) -> str:
    """Return *error* in words, with SQLite's name for it."""
    code = name(error)
    known = next((text for key, text in _REASONS.items() if code.startswith(key)), None)
    return f"{known or error} ({code})"


@contextmanager
def translated(path: Path) -> Generator[None, None, None]:
    """Raise what SQLite raises in the block as the package's own errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise meaning(error, path) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message
        raise ForeignDatabase(str(path), "the text of its schema is damaged") from error
