"""A thousand bits flip and files are cut: what changes is found, and costs what it must only."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from eventlog import EventLogError, SessionId, SqliteReader, SqliteStore

pytestmark = pytest.mark.anyio

FLIPS = 250
"""Of each kind of file in each test; four of these are a thousand."""

SESSIONS = tuple(map(SessionId, "abc"))

WRITE_AND_DIE = """
import os, signal, sys, anyio
from pathlib import Path
from eventlog import Event, SessionId, SqliteStore
async def main(path):
    async with SqliteStore.open(path) as store:
        for number in range(60):
            events = [
                Event.of("x", {"text": f"{number}.{part}" + "x" * (900 if number % 3 else 9000)})
                for part in range(number % 4 + 1)
            ]
            await store.append(SessionId("abc"[number % 3]), events)
            if number == 30:
                await store._writer.execute("pragma wal_checkpoint(passive)")
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main, Path(sys.argv[1]))
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader sees of a log."""

    lines: dict[SessionId, list[bytes]]
    errors: list[str]
    damages: list[str]


async def look(path: Path) -> Seen:
    """Read everything and verify it."""
    lines: dict[SessionId, list[bytes]] = {session: [] for session in SESSIONS}
    errors, damages = [], []
    try:
        async with SqliteReader.open(path) as reader:
            for session in SESSIONS:
                try:
                    lines[session] = await everything(reader, session)
                except EventLogError as error:
                    errors.append(str(error))
            try:
                damages = [str(damage) async for damage in reader.verify()]
            except EventLogError as error:
                errors.append(str(error))
    except EventLogError as error:
        errors.append(str(error))
    return Seen(lines, errors, damages)


async def everything(reader: SqliteReader, session: SessionId) -> list[bytes]:
    found: list[bytes] = []
    cursor = 0
    while (page := await reader.read(session, after=cursor)).body:
        found += page.lines
        assert page.next > cursor
        cursor = page.next
    return found


@contextmanager
def flipped(file: Path, at: int, bit: int) -> Iterator[None]:
    """One bit of *file* is another one for a while."""
    with file.open("r+b") as opened:
        opened.seek(at)
        (was,) = opened.read(1)
        opened.seek(at)
        opened.write(bytes([was ^ 1 << bit]))
    try:
        yield
    finally:
        with file.open("r+b") as opened:
            opened.seek(at)
            opened.write(bytes([was]))


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose writer was killed: half of it is still in the WAL."""
    path = tmp_path_factory.mktemp("log")
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, path], check=False)
    assert done.returncode == -9
    return path


def kept(seen: Sequence[bytes], whole: Sequence[bytes], lost: range) -> bool:
    """Whether *seen* is *whole* with one line in place of the events with the numbers *lost*."""
    return list(seen) == [
        *whole[: lost.start - 1],
        *(line for line in seen if b'"log.gap"' in line),
        *whole[lost.stop - 1 :],
    ]


async def test_a_bit_of_the_database(crashed: Path) -> None:
    """Every flip that changes what is read is found by `verify` and named (S-6).

    In a body it costs its own batch and nothing else; elsewhere it is a fault that is said.
    """
    whole = await look(crashed)
    assert (whole.errors, whole.damages) == ([], [])
    chance = random.Random(2)  # noqa: S311 - which bits is no secret
    file = crashed / "events.db"
    batches = 0
    for _ in range(2 * FLIPS):
        at, bit = chance.randrange(file.stat().st_size), chance.randrange(8)
        with flipped(file, at, bit):
            seen = await look(crashed)
        changed = [session for session in SESSIONS if seen.lines[session] != whole.lines[session]]
        assert not changed or seen.damages or seen.errors, (at, bit)
        match changed, seen.damages:
            case [session], [damage] if damage.startswith(f"{session}: events "):
                _, _, first, _, last, *_ = damage.split()
                lost = range(int(first), int(last) + 1)
                assert kept(seen.lines[session], whole.lines[session], lost), (at, bit)
                batches += 1
    assert batches > FLIPS / 2


async def test_a_bit_of_the_journal(crashed: Path) -> None:
    """SQLite drops what follows it; how many batches that were is said, none is served wrong (S-6)."""
    whole = await look(crashed)
    chance = random.Random(3)  # noqa: S311 - which bits is no secret
    file = crashed / "events.db-wal"
    for _ in range(FLIPS):
        with flipped(file, chance.randrange(400_000), chance.randrange(8)):
            seen = await look(crashed)
        assert_a_prefix(seen, whole)


async def test_files_that_are_cut(crashed: Path, tmp_path: Path) -> None:
    """Wherever the WAL ends, what is missing is counted; a database that ends early is refused
    or its damage named: never is it taken for whole (S-6, R033).
    """
    whole = await look(crashed)
    chance = random.Random(4)  # noqa: S311 - where is no secret
    log = tmp_path / "log"
    shutil.copytree(crashed, log)
    for name, longest in (("events.db-wal", 400_000), ("events.db", 0)):
        text = (log / name).read_bytes()
        for _ in range(FLIPS // 2):
            (log / name).write_bytes(text[: chance.randrange(longest or len(text))])
            seen = await look(log)
            if longest:
                assert_a_prefix(seen, whole)
            else:
                assert seen == whole or seen.damages or seen.errors
        (log / name).write_bytes(text)
    async with SqliteStore.open(log) as store:
        assert store.incarnation.renewed is None


def assert_a_prefix(seen: Seen, whole: Seen) -> None:
    """What is there is the beginning of all, and what is not is counted."""
    if seen.lines != whole.lines:
        assert seen.damages
        assert seen.damages[0].startswith("the last ")
        assert seen.damages[0].endswith(" batches are missing")
    for session in SESSIONS:
        assert seen.lines[session] == whole.lines[session][: len(seen.lines[session])]
