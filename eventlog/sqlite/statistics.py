"""How much a log holds, from the tables' numbers alone: no event is read.

Above this module: `reader`. Below it: the reading connection, the file system.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import aiosqlite

_FIGURES: Final = """
    select
        (select count(*) from session where (floor > 0 and not deleted) or exists (
            select 1 from batch where session = session.id and first > floor)) as sessions,
        (select count(*) from session where deleted) as deleted_sessions,
        coalesce(sum(last - first + 1), 0) as events,
        (select coalesce(sum(floor), 0) from session where not deleted) as pruned_events,
        count(*) as batches,
        coalesce(sum(codec = 1), 0) as compressed_batches,
        coalesce(sum(length(body)), 0) as bytes_of_events,
        (select count(*) from blob) as large_strings,
        (select coalesce(sum(size), 0) from blob) as bytes_of_large_strings,
        (select count(*) from base) as bases,
        (select count(*) from checkpoint) as kept_states,
        (select coalesce(sum(length(body)), 0) from checkpoint) as bytes_of_kept_states
    from batch join session on session.id = batch.session where batch.first > session.floor
"""
_FREE: Final = """
    select freelist_count * page_size from pragma_freelist_count, pragma_page_size
"""


async def figures(database: aiosqlite.Connection, path: Path) -> dict[str, int]:
    """Return counts and bytes by name; the files' sizes are those on disk now."""
    async with database.execute(_FIGURES) as cursor:
        names = [column[0] for column in cursor.description]
        rows: Any = await cursor.fetchall()
    ((free,),) = await database.execute_fetchall(_FREE)
    sizes = {
        "bytes_of_database": _size(path),
        "bytes_of_wal": _size(path.with_name(f"{path.name}-wal")),
        "bytes_to_give_back": int(free),
    }
    return {**dict(zip(names, rows[0], strict=True)), **sizes}


def bytes_of(path: Path) -> int:
    """Return the size of a log's files: the database and what stands beside it."""
    return sum(_size(file) for file in path.parent.glob(f"{path.name}*"))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
