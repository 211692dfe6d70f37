"""Recording that events are lost, where a session with such a gap is copied.

Above this module: `store`. Below it: `batch`, `transaction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eventlog.batch import Batch
from eventlog.sqlite.transaction import Statement

_SESSION: Final = "insert or ignore into session(key, created) values (?, ?)"
_BATCH: Final = """
    insert into batch(session, first, last, ts, codec, crc, body)
    select id, ?, ?, ?, ?, ?, ? from session where key = ?
"""


def statements(key: str, batch: Batch) -> Sequence[Statement]:
    """Return what records *batch*, a gap, at the end of a session; it is begun if need be."""
    return Statement(_SESSION, (key, batch.ts)), Statement(_BATCH, (*batch, key))
