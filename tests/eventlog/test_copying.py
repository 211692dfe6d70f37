"""A session of which something is lost goes wherever a whole one goes, gaps and all (S-6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from eventlog import (
    Event,
    HistoryTruncated,
    LogReader,
    MemoryStore,
    SessionId,
    SqliteReader,
    SqliteStore,
    exits,
    export_cassette,
    fork,
    import_cassette,
    seq_of,
)
from eventlog.copying import copy_log
from eventlog.sqlite.salvage import salvage
from tests.eventlog.program import hermes_log

pytestmark = pytest.mark.anyio

KEY, CHILD = SessionId("lost"), SessionId("child")
LOST = {"damaged": [5, 8, 13, 16], "recorded": [8, 13, 16]}
"""Where the gaps end: of 16 events the last two are lost, and 3 to 8, and 11 to 13."""


@pytest.fixture(params=["damaged", "recorded"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log with batches that are damaged, or one that was salvaged of it."""
    path = tmp_path / "damaged"
    anyio.run(fill, path)
    with closing(sqlite3.connect(path / "events.db", isolation_level=None)) as database:
        for first in (3, 6, 11, 15):
            database.execute("update batch set body = x'00' where first = ?", (first,))
    if request.param == "recorded":
        anyio.run(salvage, path, tmp_path / "whole")
        return tmp_path / "whole"
    return path


async def fill(path: Path) -> None:
    async with SqliteStore.open(path) as store:
        for count in (2, 3, 3, 2, 3, 1, 2):
            await store.append(KEY, [Event.of("x", {"n": n}) for n in range(count)])


async def test_what_is_lost_is_told(log: Path, request: pytest.FixtureRequest) -> None:
    """The log of these tests is as they believe."""
    async with SqliteReader.open(log) as reader:
        lines = (await reader.read(KEY)).lines
        wanted = LOST[request.node.callspec.params["log"]]
        assert [seq_of(text) for text in lines if b'"log.gap"' in text] == wanted
        assert {1, 2, 9, 10, 14} < {seq_of(text) for text in lines}


async def test_it_is_copied(log: Path) -> None:
    """`hermes-log copy`: same numbers, same bytes, into any log; again, and further, what is new."""
    other = log.with_name("other")
    found = hermes_log("copy", log, other)
    assert (found.returncode, found.stdout, found.stderr) == (exits.OK, "lost  16 events\n", "")
    async with SqliteStore.open(log) as ours:
        await ours.append(KEY, [Event.of("y")])
        memory = MemoryStore()
        added = [one.added async for one in copy_log(ours, memory)]
        assert (added, await body(memory)) == ([17], await body(ours))
    assert hermes_log("copy", log, other).stdout == "lost  1 events\n"
    async with SqliteStore.open(other) as copy, SqliteReader.open(log) as ours:
        assert await body(copy) == await body(ours)
        assert (await copy.append(KEY, [Event.of("z")], expected=17)).last == 18
    assert hermes_log("verify", log=other).returncode == exits.OK  # nothing is lost but was said


async def test_it_is_exported_and_imported(log: Path) -> None:
    """A cassette holds the gaps; whoever imports it has the same lines, and nothing twice."""
    async with SqliteReader.open(log) as reader:
        file = b"".join([piece async for piece in export_cassette(reader, KEY)])
        whole = await body(reader)
    async with SqliteStore.open(log.with_name("other")) as other:
        for new in (whole.count(b"\n") + 1, 0):
            (made,) = await import_cassette(other, file.splitlines(keepends=True))
            assert made.added == new
        assert await body(other, made.session_id) == whole
        again = b"".join([piece async for piece in export_cassette(other, made.session_id)])
        assert again.partition(b"\n")[2] == file.partition(b"\n")[2]


async def test_it_is_forked(log: Path) -> None:
    """At its end, behind a gap and before one; inside of a gap there is no such place."""
    async with SqliteStore.open(log) as store:
        lines = (await store.read(KEY)).lines
        for at in (2, 8, 9, 10, 13, 16):
            child = SessionId(f"child-{at}")
            await fork(store, KEY, child, at)
            page = await store.read(child)
            past = [text for text in lines if seq_of(text) <= at]
            assert page.lines[:-1] == past
            assert page.envelopes()[-1]["type"] == "log.forked"
            assert page.head == at + 1
        for at in (4, 11, 12, 15, 17):
            with pytest.raises(HistoryTruncated):
                await fork(store, KEY, CHILD, at)
        assert await store.session(CHILD) is None
    told = hermes_log("fork", KEY, "--at", "12", log=log)
    assert (told.returncode, "after 12" in told.stderr) == (exits.USAGE, True)


async def test_it_is_backed_up_and_restored(log: Path) -> None:
    """A backup has what its log has; that something is damaged is told when it is restored."""
    copy, again = log.with_name("copy.db"), log.with_name("again")
    assert hermes_log("backup", copy, log=log).returncode == exits.OK
    told = hermes_log("restore", copy, log=again)
    assert told.stdout.count("damaged") == (4 if log.name == "damaged" else 0)
    async with SqliteReader.open(log) as ours, SqliteReader.open(again) as theirs:
        assert await body(theirs) == await body(ours)


async def test_one_that_grows_is_exported_as_it_was(log: Path) -> None:
    """What comes while it is exported is not in the file, although a gap is fewer lines."""
    async with SqliteStore.open(log) as store:
        pieces = export_cassette(store, KEY)
        header = await anext(pieces)
        await store.append(KEY, [Event.of("y")] * 9)
        rest = b"".join([piece async for piece in pieces]).splitlines()
        assert b'"head":16' in header
        assert seq_of(rest[-1]) == 16


async def body(log: LogReader, key: SessionId = KEY) -> bytes:
    return (await log.read(key, limit=1_000)).body
