"""Whether the log is still the one that its numbers were given in (P-18, S-6).

Above this module: `store`. Below it: `mark`, the writing connection's thread, in which all of
this runs.

An epoch ends only when numbers may have been lost: when the mark file knows of more batches
than the database, after an unclean end at a level below full, and for a backup, which has none.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from uuid import uuid4

from eventlog.sqlite.mark import Mark, marked
from eventlog.sqlite.transaction import together

Durability = Literal["full", "normal"]
"""When a commit is durable: after its own sync, or (on power loss) some time later."""

LAST: Final = "select coalesce((select seq from sqlite_sequence where name = 'batch'), 0)"
"""The id of the last batch ever; pruning does not change it."""


@dataclass(frozen=True, slots=True)
class Incarnation:
    """How a log was found, and how it is kept from now on."""

    epoch: str
    durability: Durability
    journal: str
    renewed: str | None
    """Why the epoch is a new one; None if it is not."""
    lost: int
    """Batches that had been committed and are not there; no event says so yet."""


def begin(
    database: sqlite3.Connection, path: Path, mark: Mark, durability: Durability
) -> Incarnation:
    """Look whether numbers may have been lost, and prepare for an end without a word."""
    meta = dict(database.execute("select key, value from meta where key is not 'room'"))
    (last,) = database.execute(LAST).fetchone()
    before = marked(path)
    missing = max(0, before.batch - last) if before and before.epoch == meta.get("epoch") else 0
    renewed = _reason(meta, missing)
    if renewed is not None:
        last += missing  # so that no batch's id is given twice either
        together(database, lambda: _renew(database, meta, last, missing))
        meta = dict(database.execute("select key, value from meta where key in ('epoch', 'lost')"))
    if durability == "normal":
        database.execute("insert or replace into meta values ('unsynced', 1)")  # synced, this one
        database.execute("pragma synchronous=normal")
    mark.begin(str(meta["epoch"]), last)
    (journal,) = database.execute("pragma journal_mode").fetchone()
    return Incarnation(str(meta["epoch"]), durability, journal, renewed, int(meta.get("lost", 0)))


def end(database: sqlite3.Connection) -> None:
    """Note that the end is an orderly one; what was committed is synced by it."""
    if database.execute("select 1 from meta where key = 'unsynced'").fetchone():
        database.execute("pragma synchronous=full")
        database.execute("delete from meta where key = 'unsynced'")


def said(database: sqlite3.Connection) -> None:
    """Note that an event tells now of what was lost."""
    database.execute("delete from meta where key = 'lost'")


def _reason(meta: dict[str, Any], missing: int) -> str | None:
    if "epoch" not in meta:
        return "it is a copy"
    if missing:
        return f"{missing} committed batches are missing"
    if "unsynced" in meta:
        return "it ended without a word at a durability below full"
    return None


def _renew(database: sqlite3.Connection, meta: dict[str, Any], last: int, missing: int) -> None:
    rows: list[tuple[str, Any]] = [("epoch", uuid4().hex)]
    if missing:
        rows.append(("lost", int(meta.get("lost", 0)) + missing))
        database.execute("delete from sqlite_sequence where name = 'batch'")
        database.execute("insert into sqlite_sequence(name, seq) values ('batch', ?)", (last,))
    database.executemany("insert or replace into meta values (?, ?)", rows)
    database.execute("delete from meta where key = 'unsynced'")
