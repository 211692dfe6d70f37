"""Removing what is old, or a whole session, and giving the room back (S-10).

Above this module: `store`. Below it: `keeping`, the writing connection.

Everything here but `prunable` runs in the writer's thread, each function as one transaction. To
prune or delete is a short one: from then on nothing up to the floor is seen. Removing it takes many
(`sweep`), between which others commit.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import aiosqlite

from eventlog.checksum import Checksum
from eventlog.errors import WrongExpectedVersion
from eventlog.event import START, Seq, SessionId
from eventlog.sqlite.extent import EXTENT
from eventlog.sqlite.keeping import BASE, sealed
from eventlog.store import Checkpoint, Prunable, SessionRow

_FAR: Final = 2**62
_PAGES: Final = 256
"""Pages that are given back at a time: the writer does not wait longer for it."""

_BATCHES: Final = 64
_BYTES: Final = 1 << 20
_REFS: Final = 4
"""What is removed at a time: so many batches, of about so many bytes; large strings."""

_PRUNABLE: Final = """
    with source(id, floor) as (select id, floor from session where key = :key),
    stays(first) as (
        select min(first) from batch, source
        where session = source.id and first > floor and (last > :to or ts >= :before))
    select coalesce(max(last), source.floor), coalesce(sum(last - first + 1), 0),
        coalesce(sum(length(body)), 0)
    from source left join batch on batch.session = source.id and batch.first > source.floor
        and batch.first < coalesce((select first from stays), :far)
    group by source.id
"""
_RAISE: Final = """
    update session set floor = last, last_ts = ts, last_batch = batch.id, deleted = 0 from batch
    where session.id = ? and batch.session = session.id and batch.last = ?
"""
_NEXT: Final = """
    select session, floor from sweep join session on session.id = sweep.session limit 1
"""
_SOME: Final = """
    select max(first) from (
        select first, sum(length(body)) over (order by first) - length(body) as before from (
            select first, body from batch where session = :id and last <= :floor
            order by first limit :most))
    where before < :bytes
"""  # lengths are read without the bodies
_REMOVE: Final = "delete from batch where session = ? and first <= ?"
_SOME_REFS: Final = """
    select hash from blob_ref where session = :id and last <= :floor limit :most
"""
_UNREFER: Final = "delete from blob_ref where session = ? and hash = ?"
_UNUSED: Final = """
    delete from blob where hash = :hash
        and not exists (select 1 from blob_ref where blob_ref.hash = :hash)
"""
_STATES: Final = "delete from checkpoint where session = ? and seq <= ?"
_SWEEP: Final = "insert or ignore into sweep values (?)"
_SWEPT: Final = "delete from sweep where session = ?"
_BURY: Final = "update session set deleted = 1, title = null, meta = null, floor = ? where id = ?"
_HAS_BASE: Final = "select 1 from base where session = ?"
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
    """Put *base* in the place of all that came up to it, which nobody sees any more."""
    session, floor, _ = database.execute(EXTENT, (key,)).fetchone() or (0, base.seq, 0)
    if base.seq <= floor:
        return
    if not database.execute(_RAISE, (session, base.seq)).rowcount:
        raise ValueError(f"{base.seq} is not where a batch of {key} ends")
    database.execute(_STATES, (session, base.seq))
    database.execute(_SWEEP, (session,))
    _put_base(database, checksum, key, session, base)


def delete(database: sqlite3.Connection, key: str) -> int | None:
    """Let nothing of a session be seen any more but that it was there; return where it ended.

    None if there was nothing.
    """
    session, floor, head = database.execute(EXTENT, (key,)).fetchone() or (0, 0, 0)
    if head == floor and not database.execute(_HAS_BASE, (session,)).fetchone():
        return None
    for table in ("alias", "base", "checkpoint"):
        database.execute(f"delete from {table} where session = ?", (session,))  # noqa: S608
    database.execute(_BURY, (head, session))
    database.execute(_SWEEP, (session,))
    return int(head)


def sweep(database: sqlite3.Connection) -> bool:
    """Remove some of what nobody sees any more; whether there may be more.

    What is to be removed stands in a table, so it is also found after a crash.
    """
    if (found := database.execute(_NEXT).fetchone()) is None:
        return False
    session, floor = found
    where = {"id": session, "floor": floor}
    limits = {**where, "most": _BATCHES, "bytes": _BYTES}
    ((last,),) = database.execute(_SOME, limits)
    if last is not None:
        database.execute(_REMOVE, (session, last))
        return True
    some = database.execute(_SOME_REFS, {**where, "most": _REFS}).fetchall()
    for (hash_,) in some:
        database.execute(_UNREFER, (session, hash_))
        database.execute(_UNUSED, {"hash": hash_})
    if not some:
        database.execute(_SWEPT, (session,))
    return True


def begin(
    database: sqlite3.Connection, checksum: Checksum, base: Checkpoint, row: SessionRow, meta: bytes
) -> None:
    """Make a session that begins behind *base*."""
    key = row.id
    if known := database.execute(EXTENT, (key,)).fetchone():
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


def _put_base(
    database: sqlite3.Connection, checksum: Checksum, key: str, session: Any, base: Checkpoint
) -> None:
    crc, body = sealed(base, checksum, key, BASE)
    database.execute(
        "insert or replace into base(session, seq, version, crc, body) values (?, ?, ?, ?, ?)",
        (session, base.seq, base.version, crc, body),
    )
