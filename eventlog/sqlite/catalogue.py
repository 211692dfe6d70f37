"""What sessions a log holds, from the tables beside the batches; no event is read.

Above this module: `reader`. Below it: the reading connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import aiosqlite

from eventlog import codec
from eventlog.errors import Malformed
from eventlog.event import GATEWAY, SessionId
from eventlog.store import SessionRow

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# of a damaged row a value may be of any kind, and none of them hides another row
_ROWS: Final = """
    select ifnull(cast(key as blob), x''), ifnull(cast(created as integer), 0),
        ifnull(cast(coalesce(newest.ts, last_ts) as integer), 0),
        ifnull(cast(floor as integer), 0), ifnull(cast(coalesce(newest.last, floor) as integer), 0),
        cast(title as blob), cast(meta as blob)
    from session left join batch as newest on newest.id = (
        select id from batch where session = session.id order by first desc limit 1)
"""
_THERE: Final = "(newest.last > floor or (floor > 0 and not deleted))"
"""A session has events, or had some that left a base (S-10); else its row is a tombstone."""
_STAND_INS: Final = f"imp-{'[0-9a-f]' * 12}-0"
"""Those who stand for `@gateway` in an import, as a GLOB (`is_session`)."""
_LIST: Final = f"""{_ROWS}
    where {_THERE} and (? or (key is not ? and key not glob '{_STAND_INS}'))
    order by coalesce(newest.id, last_batch) desc limit ?
"""
_NEWEST: Final = f"""
    with recent(id, session) as (select id, session from batch order by id desc limit ?)
    {_ROWS}
    where (session.id in (select session from recent)
            or last_batch >= (select min(id) from recent))
        and {_THERE} and (? or (key is not ? and key not glob '{_STAND_INS}'))
    order by coalesce(newest.id, last_batch) desc limit ?
"""  # noqa: S608 - constants
"""The same, if they are all among those of the newest batches."""
_RECENT: Final = (2, 64)
"""Batches that are looked at for each session that is wanted, at first and then."""
_ONE: Final = f"{_ROWS} where {_THERE} and key = ?"
_RESOLVE: Final = """
    select key from session where key = :name and ((floor > 0 and not deleted)
        or (select last from batch where session = session.id order by first desc limit 1) > floor)
    union all
    select * from (
        select distinct key from alias join session on session.id = alias.session
        where alias = :name and key is not :name order by session.id)
"""
_UNSETTLED: Final = """
    select distinct key from batch join session on session.id = batch.session
    where batch.id > (select value from meta where key = 'settled') and session.key is not ?
        and batch.last > session.floor
    order by session.key
"""


async def sessions(
    database: aiosqlite.Connection, limit: int | None, *, every: bool
) -> Sequence[SessionRow]:
    """Return the sessions, the one of the newest batch first; with *every*, also what is none."""
    wanted = (every, GATEWAY, -1 if limit is None else limit)
    if limit is not None:  # a few take as long however many there are
        for batches in _RECENT:
            rows = list(await database.execute_fetchall(_NEWEST, (batches * limit, *wanted)))
            if len(rows) == limit:
                return [_row(row) for row in rows]
    return [_row(row) for row in await database.execute_fetchall(_LIST, wanted)]


async def session(database: aiosqlite.Connection, key: SessionId) -> SessionRow | None:
    """Return one session's row."""
    rows: Iterable[Any] = await database.execute_fetchall(_ONE, (key,))
    return next((_row(row) for row in rows), None)


async def resolve(database: aiosqlite.Connection, name: str) -> Sequence[SessionId]:
    """Return every session that *name* is the id or an alias of, the id first."""
    if _SURROGATE.search(name):
        return []  # SQLite takes no such text, and no name is stored as one
    rows = await database.execute_fetchall(_RESOLVE, {"name": name})
    return [SessionId(key) for (key,) in rows]


async def unsettled(database: aiosqlite.Connection) -> Sequence[SessionId]:
    """Return the sessions with batches beyond the settled mark."""
    rows = await database.execute_fetchall(_UNSETTLED, (GATEWAY,))
    return [SessionId(key) for (key,) in rows]


def _row(row: Iterable[Any]) -> SessionRow:
    key, created, updated, floor, head, title, opened = row
    return SessionRow(  # by position: by name takes half as long again
        key.decode("utf-8", "replace"),
        created,
        updated,
        floor,
        head,
        None if title is None else title.decode("utf-8", "replace"),
        _opened(opened) if opened else {},
    )


def _opened(text: bytes) -> Mapping[str, Any]:
    """Return how a session was opened; a damaged row, which `verify` names, hides no other."""
    try:
        found = codec.loads(text)
    except Malformed:
        return {}
    return found if isinstance(found, dict) else {}
