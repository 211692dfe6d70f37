"""The embedded adapter: one SQLite file, one writing process, readers beside it."""

from eventlog.sqlite.backup import duplicate
from eventlog.sqlite.files import database as database_file
from eventlog.sqlite.reader import SqliteReader
from eventlog.sqlite.store import SqliteStore

__all__ = ["SqliteReader", "SqliteStore", "database_file", "duplicate"]
