"""Recording that events are lost, where a session with such a gap is copied.

Above this module: `store`. Below it: `batch`, the writing connection, in whose thread it runs.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from eventlog.batch import Batch

_SESSION: Final = "insert or ignore into session(key, created) values (?, ?)"
_BATCH: Final = """
    insert into batch(session, first, last, ts, codec, crc, body)
    select id, ?, ?, ?, ?, ?, ? from session where key = ?
"""


def record(database: sqlite3.Connection, key: str, batch: Batch) -> None:
    """Record *batch*, a gap, at the end of a session, which is begun by it if need be."""
    database.execute(_SESSION, (key, batch.ts))
    database.execute(_BATCH, (*batch, key))
