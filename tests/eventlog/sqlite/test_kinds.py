"""A row whose values are not of the kinds that the schema promises hides no other, and is found.

A page that was cut off, or written as zeros, is read by SQLite as rows of nothing at all.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eventlog.sqlite import sums
from eventlog.sqlite.inspection import inspect
from tests.eventlog.sqlite.damaged import Seen, look, make

pytestmark = pytest.mark.anyio

COLUMNS = {
    "meta": ("value",),
    "session": ("key", "created", "floor", "deleted", "title", "meta", "last_ts", "own", "names"),
    "batch": ("last", "ts", "codec", "crc", "body"),
    "checkpoint": ("crc", "body"),
    "base": ("seq", "version", "crc", "body"),
    "blob": ("size", "body"),
    "blob_ref": ("last",),
}
"""What damage of a table's rows can make anything of; keys are also in an index, which differs then."""
ANYTHING = (None, "x", b"\0", 2.5, -7, 2**62)
SLOW = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of everything, all of it in the database."""
    log = make(tmp_path_factory.mktemp("log"))
    with closing(sqlite3.connect(log / "events.db")) as database:
        database.execute("pragma wal_checkpoint(truncate)").fetchall()
    return log


@pytest.mark.parametrize("table", COLUMNS)
@pytest.mark.parametrize("values", [ANYTHING[:1], pytest.param(ANYTHING[1:], marks=SLOW)])
async def test_anything_may_stand_in_a_row(
    table: str, values: tuple[object, ...], crashed: Path, tmp_path: Path
) -> None:
    """Reading, listing and verifying go on, whatever it is; what reads otherwise is named (S-6)."""
    whole = await look(crashed)
    for column in COLUMNS[table]:
        for value in values:
            log = shutil.copytree(crashed, tmp_path / f"{column}-{value!r:.9}")
            only = "id = 1" if column == "key" else "true"
            spoil(log / "events.db", table, column, value, only=only)
            seen, found = await look(log), [str(damage) async for damage in inspect(log)]
            assert found, (column, value)
            if table in {"checkpoint", "base"}:
                assert seen.lines == whole.lines


@pytest.mark.parametrize("column", COLUMNS["batch"])
async def test_the_last_batch_of_a_session_is_one_as_well(
    column: str, crashed: Path, tmp_path: Path
) -> None:
    """It costs its own events, and is named, whatever it says of where the session ends (S-6)."""
    whole = await look(crashed)
    for value in ANYTHING[:1] + ANYTHING[4:]:
        log = shutil.copytree(crashed, tmp_path / f"{value}")
        spoil(log / "events.db", "batch", column, value, only="id = (select max(id) from batch)")
        seen, found = await look(log), [str(damage) async for damage in inspect(log)]
        told = {damage.split(": events ")[0] for damage in found if " value in " not in damage}
        assert len(told) == 1, (value, found)
        assert set(differs(seen, whole)) <= told


def differs(seen: Seen, whole: Seen) -> list[str]:
    return [key for key, lines in whole.lines.items() if seen.lines[key] != lines]


def spoil(file: Path, table: str, column: str, value: object, only: str = "true") -> None:
    """Put *value* where the schema takes none of its kind, and leave the schema as it was."""
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        (schema,) = database.execute(
            "select sql from sqlite_schema where name = ?", (table,)
        ).fetchone()
        triggers = database.execute(
            "select name, sql from sqlite_schema where type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            database.execute(f"drop trigger {name}")
        head, _, columns = schema.partition("(")
        loose = re.sub(r"\b(integer|text|blob|any)\b(?! primary)|not null|strict,?", " ", columns)
        rewrite(database, table, f"{head}({loose}")
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        change = f"update {table} set {column} = ? where {only}"  # noqa: S608 - ours
        changed = database.execute(change, (value,))
        assert changed.rowcount > 0
        rewrite(database, table, schema)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        sums.install(database)
        for _, trigger in triggers:
            database.execute(trigger)


def rewrite(database: sqlite3.Connection, table: str, schema: str) -> None:
    database.execute("pragma writable_schema=on")
    database.execute("update sqlite_schema set sql = ? where name = ?", (schema, table))
