"""A log of what is left of a damaged one, with everything intact in it and a gap for the rest.

Above this module: the command line. Below it: `past`, `remains`, `schema`.

The new log has an epoch of its own: the end of a session may be lost without a trace, and its
numbers be given again (P-18).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import anyio

from eventlog.errors import LogUnavailable
from eventlog.sqlite import files, schema, sums
from eventlog.sqlite.damage import Damage
from eventlog.sqlite.faults import translated
from eventlog.sqlite.mark import marked
from eventlog.sqlite.past import Past
from eventlog.sqlite.remains import Remains, found
from eventlog.sqlite.transaction import together

_ALIASES: Final = f"select scope, alias, session, {sums.ALIAS.format('')} from alias"  # noqa: S608
_LAST: Final = "select coalesce(max(id), 0) from batch"


async def is_ours(file: Path) -> bool:
    """Whether what can be found in a file is a log's, whatever its header says."""
    return await anyio.to_thread.run_sync(_is_ours, file)


async def survey(file: Path, only: str | None = None) -> list[Damage]:
    """Return what a salvage of the log at *file* could not bring back; nothing is written.

    Raises:
        LogBusy: another process writes it.
        LogUnavailable: it cannot be read.

    """
    async with files.locked(file):
        return await anyio.to_thread.run_sync(_surveyed, file, only)


async def salvage(source: Path, target: Path) -> list[Damage]:
    """Make a log at *target*, where none is, of what is intact at *source*; return the rest.

    Raises:
        LogBusy: another process writes one of them.
        LogUnavailable: *source* cannot be read, there is something at *target*, or no room.

    """
    origin, file = files.database(source), files.database(target)
    if not origin.is_file():
        raise LogUnavailable(str(origin), "there is no log here")
    if file.exists():
        raise LogUnavailable(str(file), "there is something already; give another place")
    if (left := files.left_behind(file)) is not None:  # its last commits: not ours to remove
        raise LogUnavailable(str(left), "it belongs to a log that is gone; move it away first")
    async with files.locked(origin), files.locked(file):
        with translated(file):
            return await anyio.to_thread.run_sync(_salvaged, origin, file)


def _is_ours(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            if opened.read(72)[68:] == schema.APPLICATION.to_bytes(4, "big"):
                return True
        with found(file) as remains:
            return bool(remains.rows) or {"epoch", "checksum"} <= remains.meta.keys()
    except OSError:
        return False  # it cannot be read, whatever it is


def _surveyed(file: Path, only: str | None) -> list[Damage]:
    with found(file) as remains:
        damages = []
        for number in remains.numbers():
            key = remains.key_of(number)
            if key is None and only is None:
                damages.append(_nameless(remains, number))
            elif key is not None and only in {None, key}:
                damages += Past(remains, number, key).survey()
        return damages


def _salvaged(source: Path, target: Path) -> list[Damage]:
    try:
        with found(source) as remains, closing(schema.for_writing(target)) as database:
            database.execute(
                "update meta set value = ? where key = 'checksum'", (remains.algorithm,)
            )
            aliases = _aliases(source)
            damages = []
            for number in remains.numbers():
                if (key := remains.key_of(number)) is None:
                    damages.append(_nameless(remains, number))
                else:
                    damages += Past(remains, number, key).write(database, aliases.get(number, []))
            together(database, lambda: _finish(database, remains, source))
    except BaseException:
        for end in ("", "-wal", "-shm"):  # a log is there whole or not at all
            target.with_name(f"{target.name}{end}").unlink(missing_ok=True)
        raise
    return damages


def _nameless(remains: Remains, number: int) -> Damage:
    places = remains.batches[number]
    events = sum(
        place.last - place.first + 1 for place in {one.first: one for one in places}.values()
    )
    return Damage(f"session number {number}: which one it is is lost, and {events} events with it")


def _aliases(source: Path) -> dict[int, list[tuple[str, str, int]]]:
    """Return the aliases by their session's number, as far as SQLite can read them.

    Those of events that are there are found again; this is for what was pruned.
    """
    aliases: dict[int, list[tuple[str, str, int]]] = {}
    with suppress(sqlite3.Error), closing(schema.connect_to(source, "mode=ro")) as database:
        for scope, alias, session, sum_ in database.execute(_ALIASES):
            aliases.setdefault(session, []).append((scope, alias, sum_))
    return aliases


def _finish(database: sqlite3.Connection, remains: Remains, source: Path) -> None:
    """Say how many batches are known to have been committed and are nowhere."""
    before = marked(source)
    ((last,),) = database.execute(_LAST)
    if before and before.epoch == remains.meta.get("epoch") and before.batch > last:
        rows = [("lost", before.batch - last)]
        database.executemany("insert or replace into meta values (?, ?)", rows)
