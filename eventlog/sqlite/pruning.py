"""Removing what is old, or a whole session, and giving the room back (S-10).

Above this module: `store`. Below it: `keeping`, the writing connection.

Everything here but `prunable` runs in the writer's thread, each function as one transaction.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import aiosqlite

from eventlog.checksum import Checksum
from eventlog.errors import WrongExpectedVersion
from eventlog.event import START, Seq, SessionId
from eventlog.sqlite.keeping import BASE, sealed
from eventlog.store import Checkpoint, Prunable, SessionRow

_FAR: Final = 2**62
_PAGES: Final = 1_000
"""Pages that are given back at a time: the writer does not wait longer for it."""

_PRUNABLE: Final = """
    with source(id, floor) as (select id, floor from session where key = :key),
    stays(first) as (
        select min(first) from batch, source
        where session = source.id and (last > :to or ts >= :before))
    select coalesce(max(last), source.floor), coalesce(sum(last - first + 1), 0),
        coalesce(sum(length(body)), 0)
    from source left join batch on batch.session = source.id
        and batch.first < coalesce((select first from stays), :far)
    group by source.id
"""
_END: Final = """
    select id, floor, coalesce(
        (select last from batch where session = session.id order by first desc limit 1), floor)
    from session where key = ?
"""
_RAISE: Final = """
    update session set floor = last, last_ts = ts, last_batch = batch.id from batch
    where session.id = ? and batch.session = session.id and batch.last = ?
"""
_UNREFERRED: Final = """
    delete from blob where hash in (select hash from blob_ref where session = :id and last <= :to)
        and not exists (select 1 from blob_ref where blob_ref.hash = blob.hash
            and (blob_ref.session <> :id or blob_ref.last > :to))
"""
_REMOVE: Final = (
    _UNREFERRED,
    "delete from blob_ref where session = :id and last <= :to",
    "delete from batch where session = :id and last <= :to",
    "delete from checkpoint where session = :id and seq <= :to",
)
_BURY: Final = "update session set deleted = 1, title = null, meta = null, floor = ? where id = ?"
_BEGIN: Final = """
    insert into session(key, created, floor, title, meta, last_ts, last_batch)
    values (?, ?, ?, ?, ?, ?, coalesce((select seq from sqlite_sequence where name = 'batch'), 0))
"""


async def prunable(
    database: aiosqlite.Connection, key: SessionId, to: int | None, before: int | None
) -> Prunable:
    """Return how far a session can be pruned."""
    where = {
        "key": key,
        "to": _FAR if to is None else to,
        "before": _FAR if before is None else before,
        "far": _FAR,
    }
    rows: Any = await database.execute_fetchall(_PRUNABLE, where)
    return next((Prunable(Seq(row[0]), row[1], row[2]) for row in rows), Prunable(START, 0, 0))


def prune(database: sqlite3.Connection, checksum: Checksum, key: str, base: Checkpoint) -> None:
    """Put *base* in the place of all that came up to it."""
    session, floor, _ = database.execute(_END, (key,)).fetchone() or (0, base.seq, 0)
    if base.seq <= floor:
        return
    if not database.execute(_RAISE, (session, base.seq)).rowcount:
        raise ValueError(f"{base.seq} is not where a batch of {key} ends")
    _remove(database, session, base.seq)
    _put_base(database, checksum, key, session, base)


def delete(database: sqlite3.Connection, key: str) -> bool:
    """Remove all but the row that keeps the numbers from being used again."""
    session, _, head = database.execute(_END, (key,)).fetchone() or (0, 0, 0)
    if not _holds(database, session):
        return False
    _remove(database, session, head)
    for table in ("alias", "base", "checkpoint", "blob_ref"):
        database.execute(f"delete from {table} where session = ?", (session,))  # noqa: S608
    database.execute(_BURY, (head, session))
    return True


def begin(
    database: sqlite3.Connection, checksum: Checksum, base: Checkpoint, row: SessionRow, meta: bytes
) -> None:
    """Make a session that begins behind *base*."""
    key = row.id
    if known := database.execute(_END, (key,)).fetchone():
        raise WrongExpectedVersion(key, START, known[2])
    values = (key, row.created, base.seq, row.title, meta, row.updated)
    session = database.execute(_BEGIN, values).lastrowid
    _put_base(database, checksum, key, session, base)


def give_back(database: sqlite3.Connection) -> bool:
    """Give some free pages back to the file system; whether there are more."""
    # it is stepped page by page, which `execute` does not do for what gives no columns
    database.executescript(f"pragma incremental_vacuum({_PAGES})")
    (left,) = database.execute("pragma freelist_count").fetchone()
    if not left:  # the file is as short as it gets once the WAL is in it
        database.execute("pragma wal_checkpoint(passive)").fetchall()
    return bool(left)


def _holds(database: sqlite3.Connection, session: int) -> bool:
    return any(
        database.execute(f"select 1 from {table} where session = ?", (session,)).fetchone()  # noqa: S608
        for table in ("batch", "base")
    )


def _remove(database: sqlite3.Connection, session: int, to: int) -> None:
    for statement in _REMOVE:
        database.execute(statement, {"id": session, "to": to})


def _put_base(
    database: sqlite3.Connection, checksum: Checksum, key: str, session: Any, base: Checkpoint
) -> None:
    crc, body = sealed(base, checksum, key, BASE)
    database.execute(
        "insert or replace into base(session, seq, version, crc, body) values (?, ?, ?, ?, ?)",
        (session, base.seq, base.version, crc, body),
    )
