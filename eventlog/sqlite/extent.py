"""What a page is cut from: how far a session goes and some of its batches, at one moment.

Above this module: `reader`. Below it: `batch`, the reading connection, in whose thread `look` runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from eventlog.batch import Batch, Run

_RESTS: Final = 16
"""Of so many, of a quarter of a megabyte at most."""

EXTENT: Final = """
    with found(id, floor) as (
        select id, ifnull(cast(floor as integer), 0) from session where key = ?)
    select id, floor, ifnull(
        (select max(ifnull(cast(last as integer), 0), first) from batch
            where session = found.id order by first desc limit 1), floor)
    from found
"""
"""The id of a session, and from where to where it goes; a damaged row may hold anything."""
# from the one that holds the number that is due
_BATCHES: Final = """
    select first, last, ts, codec, crc, body from batch
    where session = :id and first >= coalesce(
        (select max(first) from batch where session = :id and first <= :due), 0)
    order by first
"""
_FOLLOWING: Final = "select cast(min(first) as integer) from batch where session = ? and first > ?"


class Extent(NamedTuple):
    """How far a session goes, and some of its batches, each with where the next one begins."""

    floor: int
    head: int
    batches: Sequence[tuple[Batch, int | None]]


class Rests(dict[tuple[str, int], Run]):
    """What pages left of the batches that they ended inside of, by session and cursor.

    A batch is so read and compared with its checksum once for all of a reader's pages.
    """

    def keep(self, session: str, rest: Run) -> None:
        """Keep what is left of a batch; the oldest goes."""
        self[session, rest.first - 1] = rest
        if len(self) > _RESTS:
            del self[next(iter(self))]


def look(
    database: sqlite3.Connection, *, key: str, due: int, limit: int, room: int
) -> Extent | None:
    """Return a session's batches from *due* on, until they have *limit* events or fill *room*.

    Of a batch that begins before *due* an unknown part is wanted: it fills nothing. One that does
    not fit is not asked for, but for the first. None if there is no such session.
    """
    database.execute("begin")
    try:
        if (found := database.execute(EXTENT, (key,)).fetchone()) is None:
            return None
        session, floor, head = found
        due = max(due, floor + 1)
        batches = _some(database, session, due, limit, room) if limit > 0 < room else []
        return Extent(floor, head, batches)
    finally:
        database.execute("rollback")  # nothing was written


def _some(
    database: sqlite3.Connection, session: int, due: int, limit: int, room: int
) -> list[tuple[Batch, int | None]]:
    cursor = database.execute(_BATCHES, {"id": session, "due": due})
    batches, size = list[Batch](), 0
    for row in cursor:
        batches.append(batch := Batch.of(row))
        size += len(batch.body) + 1 if batch.first >= due else 0
        if size >= room or batch.last - due + 1 >= limit:
            break
    cursor.close()
    if not batches:
        return []
    ((following,),) = database.execute(_FOLLOWING, (session, batches[-1].first))
    nexts: list[int | None] = [*(batch.first for batch in batches[1:]), following]
    return list(zip(batches, nexts, strict=True))
