"""Large strings, read from the table that holds each of them once (P-34).

Above this module: `reader`. Below it: the reading connection.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import aiosqlite

from eventlog.blobs import Piece, checked, hash_of
from eventlog.event import SessionId
from eventlog.sqlite.schema import on_connection

_WHOLE: Final = "select ifnull(cast(body as blob), x'') from blob where hash = ?"
_REFERRED: Final = """
    select blob.rowid, ifnull(length(body), 0) from blob where hash = ? and exists (
        select 1 from blob_ref join session on session.id = blob_ref.session
        where session.key = ? and blob_ref.hash = blob.hash and blob_ref.last > session.floor)
"""


async def whole(database: aiosqlite.Connection, ref: str) -> bytes | None:
    """Return what *ref* means, whoever refers to it; None if it is not there, or damaged."""
    rows: Any = await database.execute_fetchall(_WHOLE, (hash_of(ref),))
    return next((checked(body, ref) for (body,) in rows), None)


async def piece(
    database: aiosqlite.Connection, key: SessionId, ref: str, offset: int, length: int | None
) -> Piece | None:
    """Return a part of what the session *key* refers to by *ref*."""
    hash_ = hash_of(ref)
    if hash_ is None:
        return None
    if offset == 0 and length is None:
        rows: Any = await database.execute_fetchall(_REFERRED, (hash_, key))
        body = await whole(database, ref) if rows else None
        return None if body is None else Piece(len(body), body)
    return await on_connection(database, lambda one: _part(one, key, hash_, offset, length))


def _part(
    database: sqlite3.Connection, key: str, hash_: bytes, offset: int, length: int | None
) -> Piece | None:
    found = database.execute(_REFERRED, (hash_, key)).fetchone()
    if found is None:
        return None
    row, size = found
    start = min(offset, size)
    with database.blobopen("blob", "body", row, readonly=True) as content:
        content.seek(start)
        return Piece(size, content.read(size - start if length is None else length))
