"""The embedded adapter: one SQLite file, one writing process, readers beside it."""

from typing import TYPE_CHECKING

from eventlog.later import later
from eventlog.sqlite.files import database as database_file

if TYPE_CHECKING:
    from eventlog.sqlite.backup import duplicate
    from eventlog.sqlite.reader import SqliteReader
    from eventlog.sqlite.store import SqliteStore
else:
    __getattr__ = later(
        __name__,
        {"backup": "duplicate", "reader": "SqliteReader", "store": "SqliteStore"},
    )

__all__ = ["SqliteReader", "SqliteStore", "database_file", "duplicate"]
