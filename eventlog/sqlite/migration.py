"""From each earlier schema to the next: once, under the lock, all or nothing (S-12).

Above this module: `schema`. Below it: `sqlite3`.

A step changes tables; the log's lines are never rewritten.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

from eventlog.errors import ForeignDatabase
from eventlog.sqlite import sums

VERSION: Final = 3
"""What schema.sql makes; in the file as `user_version`."""

VIEW: Final = """
create view event as
select session.key as session_id, line.value ->> 'seq' as seq, line.value ->> 'ts' as ts,
    line.value ->> 'type' as type, line.value -> 'payload' as payload, batch.id as batch
from batch
join session on session.id = batch.session
join json_each('[' || replace(cast(batch.body as text), char(10), ',') || ']') as line
where batch.codec <> 1 and batch.first > session.floor
order by session.id, batch.first, line.key
"""
"""For people with the sqlite3 shell: one row an event."""

STEPS: Final[dict[int, tuple[str, ...]]] = {
    1: (
        "alter table session add column last_ts integer not null default 0",
        "alter table session add column last_batch integer not null default 0",
        "create index blob_ref_by_hash on blob_ref(hash)",
    ),
    2: (
        "alter table session add column own integer not null default 0",
        "alter table session add column names integer not null default 0",
        "alter table session add column refs integer not null default 0",
        "drop view event",
        VIEW,
        "create table sweep(session integer primary key) strict",
        *sums.FIRST,
        *sums.TRIGGERS,
        *sums.SEAL,
    ),
}
"""From that version to the next one."""

_COUNTS: Final = """
    select count(*), sum(last - first + 1), max(id), (select count(*) from session),
        (select count(*) from alias), (select count(*) from blob), (select count(*) from base)
    from batch
"""


def migrate(database: sqlite3.Connection, path: Path) -> None:
    """Bring the database at *path* to the present schema; the caller holds the log's lock.

    Raises:
        ForeignDatabase: something would be lost by it; nothing was changed.

    """
    if _version(database) == VERSION:
        return
    database.execute("begin immediate")
    try:
        _climb(database, path)
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise


def _climb(database: sqlite3.Connection, path: Path) -> None:
    before = _counts(database)
    for version in range(_version(database), VERSION):
        database.execute(f"pragma user_version={version + 1}")  # it is a part of what is summed
        for statement in STEPS[version]:
            database.execute(statement)
    if (after := _counts(database)) != before:
        raise ForeignDatabase(str(path), f"migration would make {after} of {before}")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("pragma user_version").fetchone()
    return int(version)


def _counts(database: sqlite3.Connection) -> Any:
    return database.execute(_COUNTS).fetchone()
