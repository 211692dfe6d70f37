"""Everything that is wrong with a log, also where SQLite itself cannot read it any more (S-6).

Above this module: the command line. Below it: `reader`, `salvage`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, closing
from pathlib import Path

import anyio.to_thread

from eventlog.errors import EventLogError, ForeignDatabase, LogBusy, LogUnavailable, NewerSchema
from eventlog.event import SessionId
from eventlog.sqlite import files, schema
from eventlog.sqlite.damage import Damage
from eventlog.sqlite.reader import SqliteReader
from eventlog.sqlite.salvage import is_ours, survey
from eventlog.sqlite.verification import CHECK, ROOTS, structural

Choice = Callable[[SqliteReader], Awaitable[SessionId | None]]
"""Says which session to look at, if not at all of them."""


async def inspect(
    path: Path, choose: Choice | None = None, name: str | None = None
) -> AsyncGenerator[Damage, None]:
    """Yield every damage of the log at *path*, or of one session.

    *choose* says which; where the list of sessions cannot be read it is the one called *name*.
    Where the structure is damaged each page is looked at, and what a salvage would lose is named.

    Raises:
        LogUnavailable: there is no log, or it cannot be read now.
        ForeignDatabase, NewerSchema: it is no log that this program knows, damaged or not.

    """
    said = set[str]()
    broken, only = False, name
    try:
        async with SqliteReader.open(path) as reader:
            chosen = await choose(reader) if choose else None
            only = chosen or name
            async with aclosing(reader.verify(chosen)) as damages:
                async for damage in damages:
                    said.add(str(damage))
                    broken |= damage.structural
                    yield damage
    except (ForeignDatabase, NewerSchema, LogUnavailable) as error:
        if not await is_ours(files.database(path)):
            raise
        broken = True
        yield Damage(_fault(error), structural=True)
        for damage in await anyio.to_thread.run_sync(_structure, files.database(path)):
            yield damage
    if broken:
        for damage in await _beyond(path, only):
            if str(damage) not in said:
                yield damage


def _fault(error: EventLogError) -> str:
    return f"its structure is damaged: {getattr(error, 'reason', None) or error}"


def _structure(file: Path) -> list[Damage]:
    """Return what SQLite can say of a structure in which a log cannot be opened, table by table."""
    damages: list[Damage] = []
    try:
        with closing(schema.connect_to(file, "mode=ro")) as database:
            database.execute("pragma writable_schema=on")  # what is wrong with it is no hindrance
            roots = database.execute(ROOTS).fetchall()
            for root, type_, name in roots:
                if type_ == "table":
                    damages += _table(database, roots, name, root)
    except (sqlite3.Error, UnicodeDecodeError):
        damages.append(Damage("the list of its tables cannot be read (page 1)", structural=True))
    return damages


def _table(
    database: sqlite3.Connection, roots: list[tuple[int, str, str]], name: str, root: int
) -> list[Damage]:
    try:
        faults = database.execute(f"{CHECK}('{name.replace(chr(39), '')}')").fetchall()
    except sqlite3.Error as error:
        return [Damage(f"table {name}, page {root}: {error}", structural=True)]
    return list(structural(roots, faults))


async def _beyond(path: Path, only: str | None) -> list[Damage]:
    try:
        return await survey(files.database(path), only)
    except LogBusy as error:
        return [Damage(f"which events are lost cannot be said while {error.owner} writes")]
