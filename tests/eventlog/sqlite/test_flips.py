"""A thousand bits flip and files are cut: what changes is found, and costs what it must only."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from eventlog import LogUnavailable, SessionId, SqliteStore, exits
from eventlog.sqlite import sums
from eventlog.sqlite.inspection import inspect
from eventlog.sqlite.salvage import salvage
from tests.eventlog.program import hermes_log
from tests.eventlog.sqlite.damaged import SESSIONS, Seen, flipped, look, make

pytestmark = pytest.mark.anyio

SOME_OR_A_THOUSAND = pytest.mark.parametrize(
    "flips", [50, pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_200)])]
)
SOME_OR_MANY = pytest.mark.parametrize(
    "flips", [6, pytest.param(300, marks=[pytest.mark.slow, pytest.mark.timeout(1_200)])]
)
END = 400_000
"""Bytes of the WAL that hold something."""


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of everything whose writer was killed: half of it is still in the WAL."""
    return make(tmp_path_factory.mktemp("log"))


async def damages(path: Path) -> list[str]:
    return [str(damage) async for damage in inspect(path)]


def kept(seen: Sequence[bytes], whole: Sequence[bytes], lost: range) -> bool:
    """Whether *seen* is *whole* with one line in place of the events with the numbers *lost*."""
    return list(seen) == [
        *whole[: lost.start - 1],
        *(line for line in seen if b'"log.gap"' in line),
        *whole[lost.stop - 1 :],
    ]


@SOME_OR_A_THOUSAND
async def test_a_bit_of_the_database(crashed: Path, flips: int) -> None:
    """Every flip that changes anything that can be read, in any table, is found and named (S-6).

    In a body it costs its own batch and nothing else.
    """
    whole = await look(crashed)
    assert (whole.errors, await damages(crashed)) == ([], [])
    chance = random.Random(2)  # noqa: S311 - which bits is no secret
    file = crashed / "events.db"
    batches = 0
    for _ in range(flips):
        at, bit = chance.randrange(file.stat().st_size), chance.randrange(8)
        with flipped(file, at, bit):
            seen, found = await look(crashed), await damages(crashed)
        assert seen == whole or found, (at, bit)
        changed = [one for one in SESSIONS[:3] if seen.lines[one] != whole.lines[one]]
        match changed, found:
            case [session], [damage] if damage.startswith(f"{session}: events "):
                _, _, first, _, last, *_ = damage.split()
                lost = range(int(first), int(last) + 1)
                assert kept(seen.lines[session], whole.lines[session], lost), (at, bit)
                batches += 1
    assert batches > flips / 10


@SOME_OR_A_THOUSAND
async def test_a_bit_of_the_journal(crashed: Path, flips: int) -> None:
    """SQLite drops what follows it; how many batches that were is said, none is served wrong (S-6)."""
    whole = await look(crashed)
    chance = random.Random(3)  # noqa: S311 - which bits is no secret
    file = crashed / "events.db-wal"
    for _ in range(flips // 2):
        with flipped(file, chance.randrange(END), chance.randrange(8)):
            assert_a_prefix(await look(crashed), whole, await damages(crashed))


@SOME_OR_A_THOUSAND
async def test_files_that_are_cut(crashed: Path, tmp_path: Path, flips: int) -> None:
    """Wherever the WAL ends, what is missing is counted; a database that ends early has its damage
    named: never is it taken for whole (S-6, R033).
    """
    whole = await look(crashed)
    chance = random.Random(4)  # noqa: S311 - where is no secret
    log = tmp_path / "log"
    shutil.copytree(crashed, log)
    for name, longest in (("events.db-wal", END), ("events.db", 0)):
        text = (log / name).read_bytes()
        for _ in range(flips // 4):
            (log / name).write_bytes(text[: chance.randrange(100, longest or len(text))])
            seen, found = await look(log), await damages(log)
            if longest:
                assert_a_prefix(seen, whole, found)
            else:
                assert seen == whole or found
        (log / name).write_bytes(text)
    async with SqliteStore.open(log) as store:
        assert store.incarnation.renewed is None


def assert_a_prefix(seen: Seen, whole: Seen, found: Sequence[str]) -> None:
    """What is there is the beginning of all, and what is not is counted."""
    if seen != whole:
        assert found
        assert found[0].startswith("the last ")
        assert found[0].endswith(" batches are missing")
    for session in ("a", "b", "c"):
        key = SessionId(session)
        assert seen.lines[key] == whole.lines[key][: len(seen.lines[key])]


@SOME_OR_MANY
async def test_what_is_intact_is_salvaged(crashed: Path, tmp_path: Path, flips: int) -> None:
    """S-6: whichever bit flips, also where SQLite cannot read on: all but its own batch is in the
    log that a salvage makes; a gap says what is lost, and the new log is whole, under a new epoch.
    """
    whole = await look(crashed)
    chance = random.Random(5)  # noqa: S311 - which bits is no secret
    bits = [("events.db", at, bit) for at, bit in ((0, 3), (100, 0), (105, 1), (36_867, 2))]
    size = (crashed / "events.db").stat().st_size
    for _ in range(flips):
        bits.append(("events.db", chance.randrange(size), chance.randrange(8)))
        bits.append(("events.db-wal", chance.randrange(END), chance.randrange(8)))
    for number, (file, at, bit) in enumerate(bits):
        target = tmp_path / f"{number}"
        with flipped(crashed / file, at, bit):
            lost = [str(damage) for damage in await salvage(crashed, target)]
        seen = await look(target)
        assert seen.rest["epoch"] != whole.rest["epoch"]
        assert_salvaged(seen, whole, lost)
        assert [one for one in await damages(target) if "incomplete: sha256" not in one] == []


async def test_a_salvage_leaves_what_is_left_of_another_log(crashed: Path, tmp_path: Path) -> None:
    """S-6: a WAL without its database holds commits; nothing is made beside it, nor removed."""
    left = tmp_path / "events.db-wal"
    left.write_bytes(b"commits")
    with pytest.raises(LogUnavailable, match="belongs to a log that is gone"):
        await salvage(crashed, tmp_path)
    assert left.read_bytes() == b"commits"


def assert_salvaged(seen: Seen, whole: Seen, lost: Sequence[str]) -> None:
    """Nothing is there that was not, and what is not there is said; it is a batch, or a string."""
    missing = 0
    for session, was in whole.lines.items():
        there = [line for line in seen.lines[session] if b'"log.gap"' not in line]
        gone = set(was) - set(there)
        others = [line for line in there if line not in was]
        assert all(b'"$blob"' in line for line in others), session
        assert not gone or any(damage.startswith(session) for damage in lost), session
        missing += len(gone)
    assert missing <= 24  # what the largest batch here has, once merged: all of `large`
    same = [key for key in whole.rest if key not in {"epoch", "kept", "settled"}]
    assert lost or [seen.rest[key] for key in same] == [whole.rest[key] for key in same]


DAMAGES = {
    "update session set floor = 7 where key = 'a'": "a: its row",
    "update session set deleted = 0 where key = 'deleted'": "deleted: its row",
    "update session set title = 'other' where key = 'a'": "a: its row",
    "update session set created = created + 1 where key = 'b'": "b: its row",
    "update session set meta = x'7B7D' where key = 'cold'": "cold: its row",
    "update session set last_ts = 1 where key = 'pruned'": "pruned: its row",
    "update session set key = 'd' where key = 'c'": "d: its row",
    "update alias set alias = 'nobody' where alias = 'theirs-a'": "a: its names",
    "delete from alias where alias = 'theirs-pruned'": "pruned: its names",
    "update blob_ref set last = last + 4": "large: what it refers to",
    "update meta set value = value - 1 where key = 'settled'": "what the log says of itself",
    "update base set seq = seq - 1": "pruned: events 1 to 11 are pruned, and their base is damaged",
    "update base set body = x'00'": "pruned: events 1 to 11 are pruned, and their base is damaged",
    "delete from base": "pruned: events 1 to 11 are pruned, and their base is missing",
    "update checkpoint set crc = crc + 1": "a: a kept state is damaged",
    "update blob set size = size + 1": "the large string sha256:",
    "update blob set body = x'00' where rowid = 1": "the large string sha256:",
    "update batch set session = 99 where id = 70": "1 batches are of no session that is known",
    "drop index alias_by_name": "the schema is not as it was made",
}


@pytest.mark.parametrize("statement", DAMAGES)
async def test_every_table_is_looked_at(statement: str, crashed: Path, tmp_path: Path) -> None:
    """S-6: what `hermes-log verify` prints names what has changed in any table behind the log's back."""
    log = tmp_path / "log"
    shutil.copytree(crashed, log)
    with closing(sqlite3.connect(log / "events.db", isolation_level=None)) as database:
        sums.install(database)
        rows = list(database.execute("select own, names, refs, id from session"))
        ((total,),) = database.execute("select value from meta where key = 'sum'")
        database.execute(statement)
        database.executemany("update session set own = ?, names = ?, refs = ? where id = ?", rows)
        database.execute("update meta set value = ? where key = 'sum'", (total,))
    assert any(damage.startswith(DAMAGES[statement]) for damage in await damages(log))


async def test_a_damaged_structure_is_named(crashed: Path, tmp_path: Path) -> None:
    """S-6: where SQLite gives up `verify` does not: it says what, and which events that costs; the
    session that was asked for alone, too. `salvage` makes a log of the rest, never over another.
    """
    log, made = tmp_path / "log", tmp_path / "made"
    shutil.copytree(crashed, log)
    async with SqliteStore.open(log):
        pass  # nothing is left in the WAL
    with (log / "events.db").open("r+b") as opened:
        opened.seek(100)
        opened.write(bytes(3_000))  # the list of tables
    named = hermes_log("verify", log=log)
    assert named.returncode == exits.FOUND
    assert named.stdout.startswith("its structure is damaged: ")
    assert "page 1" in named.stdout
    assert hermes_log("verify", "a", log=log).stdout == named.stdout
    assert hermes_log("ls", log=log).returncode == exits.DAMAGED
    assert "salvage" in hermes_log("ls", log=log).stderr
    done = hermes_log("salvage", log, made)
    # its events that named it were pruned, and the table of names is out of reach
    lost = "pruned: names that it was given before it was pruned are lost\n"
    assert (done.returncode, done.stdout) == (exits.FOUND, lost)
    whole, seen = await look(crashed), await look(made)
    assert seen.lines == whole.lines
    again = hermes_log("salvage", log, made)
    assert (again.returncode, again.stdout) == (exits.UNAVAILABLE, "")
    nothing = hermes_log("salvage", tmp_path / "nowhere", tmp_path / "new")
    assert nothing.returncode == exits.UNAVAILABLE
    assert not (tmp_path / "new").exists()


async def test_a_damaged_page_is_named_by_its_table(crashed: Path, tmp_path: Path) -> None:
    """S-6: also where the log cannot be opened any more, for the page says how it is to be read."""
    log = tmp_path / "log"
    shutil.copytree(crashed, log)
    async with SqliteStore.open(log):
        pass
    with closing(sqlite3.connect(log / "events.db")) as database:
        ((root,),) = database.execute("select rootpage from sqlite_schema where name = 'meta'")
    with (log / "events.db").open("r+b") as opened:
        opened.seek(4_096 * (root - 1))
        opened.write(b"\xff" * 600)
    found = await damages(log)
    assert found[0].startswith("its structure is damaged: ")
    assert any("table meta" in damage for damage in found[1:])
    assert await salvage(log, tmp_path / "made") == []


async def test_a_gap_stays_a_gap(crashed: Path, tmp_path: Path) -> None:
    """R005: what was lost once is one event that says so, in every later page, also compacted;
    a follower goes on behind it, and the log that holds it is whole.
    """
    at = (crashed / "events.db").read_bytes().index(b'"text":"30.')
    with flipped(crashed / "events.db", at, 3):
        lost = [str(damage) for damage in await salvage(crashed, tmp_path)]
    assert len(lost) == 1
    key = SessionId(lost[0].split(":")[0])
    _, _, first, _, last, *_ = lost[0].split()
    async with SqliteStore.open(tmp_path) as store:
        await store.compact(before=2**62)
        page = await store.read(key, after=int(first) - 2, limit=2)
        assert [one["type"] for one in page.envelopes()] == ["x", "log.gap"]
        assert page.next == int(last)
        assert page.envelopes()[1]["payload"] == {
            "first": int(first), "last": int(last), "reason": "damaged"
        }  # fmt: skip
        assert (await store.read(key, after=page.next, limit=1)).next == page.next + 1
    assert await damages(tmp_path) == []
