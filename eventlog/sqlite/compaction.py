"""Cold compaction: small batches of idle sessions become few and compressed (S-11).

Above this module: `store`. Below it: `batch`, `packing`, the writing connection.

Events and their numbers stay as they are; a run of batches becomes its first row, under the id
of its last, so that order and trigger hold. What is damaged is left alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from eventlog.batch import GAP, LINES, PACKED, Batch, Sealer
from eventlog.checksum import Checksum

TARGET: Final = 65_536
"""Bytes of lines in a batch from which on it is not made larger."""

_AT_ONCE: Final = 64
"""Batches in one transaction: the writer does not wait longer for it."""

_IDLE: Final = """
    select id, key from session
    where (select ts from batch where session = session.id order by first desc limit 1) < ?
        and exists (
            select 1 from batch where session = session.id and first > floor and codec = 0)
"""
_ROWS: Final = """
    select first, last, ts, codec, crc, body, id from batch
    where session = ? and first > max(?, (select floor from session where id = batch.session))
    order by first limit ?
"""
_DROP: Final = "delete from batch where session = ? and first > ? and first <= ?"
_REPLACE: Final = """
    update batch set id = ?, last = ?, ts = ?, codec = ?, crc = ?, body = ?
    where session = ? and first = ?
"""


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    batch: Batch
    text: bytes | None
    """Its lines; None if it is damaged, or a gap."""


def idle(database: sqlite3.Connection, before: int) -> list[tuple[int, str]]:
    """Return the sessions whose last event is older than *before* (µs)."""
    return [(session, key) for session, key in database.execute(_IDLE, (before,))]


def compact_some(
    database: sqlite3.Connection,
    *,
    checksum: Checksum,
    session: tuple[int, str],
    after: int,
    pack: Callable[[bytes], bytes],
) -> int | None:
    """Compact some batches that begin behind *after*; return where to go on, None at the end.

    *pack* makes lines smaller, or leaves them as they are.
    """
    number, key = session
    sealer = Sealer(key, checksum)
    found = database.execute(_ROWS, (number, after, _AT_ONCE)).fetchall()
    rows = [_row(sealer, row) for row in found]
    ends = len(rows) < _AT_ONCE
    done = None
    for run in _runs(rows):
        if run[-1] is rows[-1] and not ends and run[0] is not rows[0]:
            break  # more of it may follow
        _merge(database, sealer, number, run, pack=pack)
        done = run[-1].batch.first
    return None if ends else done


def _row(sealer: Sealer, row: Any) -> _Row:
    batch = Batch.of(row[:6])
    return _Row(row[6], batch, None if batch.codec == GAP else sealer.text(batch))


def _runs(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Yield the batches that shall be one; what is damaged, or stands before a hole, ends a run."""
    run: list[_Row] = []
    size = 0
    for row in rows:
        follows = run and run[-1].batch.last + 1 == row.batch.first
        if run and (not follows or row.text is None or run[-1].text is None or size >= TARGET):
            yield run
            run, size = [], 0
        run.append(row)
        size += len(row.text or b"")
    if run:
        yield run


def _merge(
    database: sqlite3.Connection,
    sealer: Sealer,
    session: int,
    run: list[_Row],
    *,
    pack: Callable[[bytes], bytes],
) -> None:
    first, last = run[0].batch, run[-1].batch
    if first.codec == PACKED and len(run) == 1:
        return
    text = b"\n".join(row.text for row in run if row.text is not None)
    body = pack(text)
    codec, body = (PACKED, body) if len(body) < len(text) else (LINES, text)
    if run[0].text is None or (codec == LINES and len(run) == 1):
        return
    crc = sealer.crc(first.first, last.last, last.ts, codec, body)
    database.execute(_DROP, (session, first.first, last.first))
    values = (run[-1].id, last.last, last.ts, codec, crc, body, session, first.first)
    database.execute(_REPLACE, values)
