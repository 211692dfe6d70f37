"""Logs of every earlier schema are brought to the present one: once, whole, or not at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eventlog import (
    GATEWAY,
    Event,
    ForeignDatabase,
    LogBusy,
    SessionId,
    SqliteReader,
    SqliteStore,
)
from eventlog.sqlite import files, migration

pytestmark = pytest.mark.anyio

SCHEMAS = Path(__file__).parent / "schemas"
EPOCH = "19873c9b3a664f4bbe2ee996a98d449e"
ONE = SessionId("one")


@pytest.fixture(params=sorted(migration.STEPS))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log as an earlier version left it."""
    path = tmp_path / "events.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((SCHEMAS / f"{request.param}.sql").read_text("utf-8"))
    return path


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("pragma user_version").fetchone()
    return int(found)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def test_every_earlier_schema_has_a_step_and_a_log() -> None:
    """S-12: none is left behind."""
    assert sorted(migration.STEPS) == list(range(1, migration.VERSION))
    assert {path.stem for path in SCHEMAS.glob("*.sql")} == {str(n) for n in migration.STEPS}


@pytest.mark.parametrize("kind", [SqliteStore, SqliteReader])
async def test_an_older_log_is_read_as_ever(kind: type[SqliteReader], older: Path) -> None:
    """S-12: whoever opens it first, to write or to read: the same events, epoch, list, names."""
    async with kind.open(older) as log:
        assert log.epoch == EPOCH
        page = await log.read(ONE)
        texts = [envelope["payload"].get("text") for envelope in page.envelopes()]
        assert texts == [None, None, *(f"word {n} é" for n in range(5))]
        assert [row.id for row in await log.sessions()] == ["two", "one"]
        assert await log.resolve("theirs") == [ONE]
        assert (await log.read(GATEWAY)).head == 1
        assert [one async for one in log.verify()] == []
    assert version(older) == migration.VERSION
    async with SqliteStore.open(older) as store:
        assert (await store.append(ONE, [Event.of("x")], expected=7)).first == 8
        assert await store.unsettled() == ["one"]


async def test_a_migrated_log_has_the_schema_of_a_new_one(older: Path, tmp_path: Path) -> None:
    """Tables and columns are the same, in whatever order they came to be."""

    def shape(path: Path) -> dict[str, set[str]]:
        with closing(sqlite3.connect(path)) as database:
            names = database.execute("select name from sqlite_schema where type <> 'view'")
            return {
                name: {row[1] for row in database.execute(f"pragma table_info('{name}')")}
                for (name,) in names
            }

    async with SqliteStore.open(older), SqliteStore.open(tmp_path / "new"):
        pass
    assert shape(older) == shape(tmp_path / "new" / "events.db")


async def test_a_log_that_is_being_written_is_not_migrated(older: Path) -> None:
    """S-12: a reader that would have to migrate waits its turn: it is told who writes."""
    before = dump(older)
    async with files.locked(older):
        with pytest.raises(LogBusy):
            async with SqliteReader.open(older):
                pass
    assert dump(older) == before


@pytest.mark.parametrize("fault", ["delete from batch where id = 2", "nonsense"])
async def test_a_step_that_fails_changes_nothing(
    fault: str, older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-12: all or nothing; a step that would lose an event is no step."""
    last = migration.VERSION - 1
    steps = {**migration.STEPS, last: (*migration.STEPS[last], fault)}
    monkeypatch.setattr(migration, "STEPS", steps)
    before = dump(older)
    with pytest.raises((ForeignDatabase, Exception)) as error:
        async with SqliteStore.open(older):
            pass
    assert "migration would make" in str(error.value) or "nonsense" in str(error.value)
    assert dump(older) == before
