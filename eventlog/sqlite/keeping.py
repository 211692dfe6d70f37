"""States of folds that are kept beside a session: checkpoints, which are a cache, and its base.

Above this module: `reader`, `store`, `pruning`. Below it: `checksum`, `packing`.

A checkpoint that is damaged is as good as none; a damaged base is a loss, which `verify` names.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import aiosqlite

from eventlog.checksum import Checksum
from eventlog.event import Seq, SessionId
from eventlog.packing import packed, unpacked
from eventlog.store import KEPT, Checkpoint

BASE: Final = "base"
"""Stands for the kind where a base's checksum is made."""

_BASE: Final = """
    select seq, version, crc, body from base join session on session.id = base.session
    where key = ?
"""
_CHECKPOINT: Final = """
    select seq, version, crc, body from checkpoint
    join session on session.id = checkpoint.session
    where key = ? and kind = ? and version = ? and seq <= ? and seq > session.floor
    order by seq desc
"""
_KEEP: Final = """
    insert or replace into checkpoint(session, kind, version, seq, crc, body)
    select id, ?, ?, ?, ?, ? from session where key = ? and floor < ?
"""
_DROP: Final = """
    delete from checkpoint where session = (select id from session where key = :key)
        and kind = :kind and (version <> :version or seq not in (
            select seq from checkpoint as newer where newer.session = checkpoint.session
                and newer.kind = :kind and newer.version = :version
            order by seq desc limit :kept))
"""
_LATEST: Final = 2**62


async def base(
    database: aiosqlite.Connection, checksum: Checksum, key: SessionId
) -> Checkpoint | None:
    """Return what pruning left of a session."""
    rows: Any = await database.execute_fetchall(_BASE, (key,))
    return next((_opened(row, checksum, key, BASE) for row in rows), None)


async def checkpoint(
    database: aiosqlite.Connection,
    checksum: Checksum,
    key: SessionId,
    wanted: tuple[str, int, int | None],
) -> Checkpoint | None:
    """Return the last intact state: *wanted* is its kind, its version, and until where."""
    kind, version, at = wanted
    limits = (key, kind, version, _LATEST if at is None else at)
    for row in await database.execute_fetchall(_CHECKPOINT, limits):
        if (found := _opened(row, checksum, key, kind)) is not None:
            return found
    return None


def keep(
    database: sqlite3.Connection, checksum: Checksum, key: str, kind: str, state: Checkpoint
) -> None:
    """Keep a state, and of the older ones of its kind the last."""
    crc, body = sealed(state, checksum, key, kind)
    row = (kind, state.version, state.seq, crc, body, key, state.seq)
    database.execute(_KEEP, row)
    database.execute(_DROP, {"key": key, "kind": kind, "version": state.version, "kept": KEPT})


def sealed(state: Checkpoint, checksum: Checksum, key: str, kind: str) -> tuple[int, bytes]:
    """Return a state's checksum and its body as they are stored."""
    body = packed(state.body)
    return checksum.of(_place(key, kind, state.version, state.seq), body), body


def intact(row: Any, checksum: Checksum, key: str, kind: str) -> bool:
    """Whether a row `seq, version, crc, body` is as it was written."""
    seq, version, crc, body = row
    return isinstance(body, bytes) and bool(
        crc == checksum.of(_place(key, kind, version, seq), body)
    )


def _opened(row: Any, checksum: Checksum, key: str, kind: str) -> Checkpoint | None:
    body = unpacked(row[3]) if intact(row, checksum, key, kind) else None
    return None if body is None else Checkpoint(Seq(row[0]), row[1], body)


def _place(key: str, kind: str, version: int, seq: int) -> bytes:
    return f"{key}\n{kind}\n{version}\n{seq}\n".encode()
