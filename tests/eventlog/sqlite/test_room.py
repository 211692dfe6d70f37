"""Room given back: pruning, deleting, compacting; and a log in another place."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import (
    Checkpoint,
    Event,
    LogUnavailable,
    Seq,
    SessionId,
    SqliteReader,
    SqliteStore,
    read_capture,
)
from eventlog.sqlite import sums
from eventlog.sqlite.backup import duplicate

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")
OTHER = SessionId("other")
CAPTURES = sorted((Path(__file__).parents[2] / "captures").glob("*/*.jsonl"))


def large(number: int) -> Event:
    return Event.of("x", {"text": f"{number:04} " * 40_000})


async def damages(log: SqliteReader) -> list[str]:
    return [str(damage) async for damage in log.verify()]


def query(path: Path, sql: str, *values: object) -> list[Any]:
    with closing(sqlite3.connect(path / "events.db")) as database, database:
        sums.install(database)
        return database.execute(sql, values).fetchall()


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def found_in_files(folder: Path, words: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() if words in file.read_bytes()]


def size(path: Path) -> int:
    return (path / "events.db").stat().st_size


async def test_deleting_and_pruning_shrink_the_file(tmp_path: Path) -> None:
    """S-10, R171: large strings and all; what is left is whole, also for SQLite."""
    async with SqliteStore.open(tmp_path) as log:
        for number in range(30):
            await log.append(SESSION, [large(number)])
            await log.append(OTHER, [large(number + 100)])
    full = size(tmp_path)
    async with SqliteStore.open(tmp_path) as log:
        assert await log.delete(SESSION)
    half = size(tmp_path)
    async with SqliteStore.open(tmp_path) as log:
        await log.prune(OTHER, Checkpoint(Seq(27), 1, b"{}"))
        assert await damages(log) == []
        assert len((await log.read(OTHER, after=27)).lines) == 3
    few = size(tmp_path)

    assert half < full * 0.6
    assert few < full * 0.15
    assert query(tmp_path, "pragma integrity_check") == [("ok",)]
    assert query(tmp_path, "select count(*) from blob") == [(3,)]


async def test_what_was_deleted_stands_nowhere_in_the_file(tmp_path: Path) -> None:
    """S-10: neither in a free page nor in the WAL, once the log is closed."""
    words = "correct horse battery staple " * 3_000
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("x", {"a": words, "b": "correct horse"})])
        await log.append(OTHER, [Event.of("x")])
        await log.delete(SESSION)
    assert found_in_files(tmp_path, b"correct horse") == []


async def test_a_commit_between_changes_no_number(tmp_path: Path) -> None:
    """P-20a: appends that are under way while a session is deleted come after what it had."""
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("x")] * 3)
        await log.delete(SESSION)
        assert (await log.append(SESSION, [Event.of("x")], expected=3)).first == 4
        await log.delete(SESSION)
    async with SqliteStore.open(tmp_path) as log:
        assert (await log.append(SESSION, [Event.of("x")], expected=4)).first == 5
        assert await damages(log) == []


async def test_a_prune_inside_a_batch_is_refused_whole(tmp_path: Path) -> None:
    """S-10: only where a batch ends; nothing is changed otherwise."""
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("x")] * 5)
        with pytest.raises(ValueError, match="not where a batch of s ends"):
            await log.prune(SESSION, Checkpoint(Seq(3), 1, b"{}"))
        assert (await log.prunable(SESSION, to=3)).seq == 0
        assert (await log.read(SESSION)).floor == 0
        assert await log.base(SESSION) is None


async def test_damage_beside_the_batches_is_found(tmp_path: Path) -> None:
    """S-6: a base, a large string, or the note that it is used: verify names session and event."""
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("x")])
        await log.append(SESSION, [large(1)])
        await log.append(OTHER, [large(2), Event.of("x", {"rows": list(range(90_000))})])
        await log.prune(SESSION, Checkpoint(Seq(1), 1, b'{"a":"b"}'))
        assert await damages(log) == []
    (undo,) = query(tmp_path, "select body from base")
    query(tmp_path, "update base set body = zeroblob(length(body))")
    async with SqliteReader.open(tmp_path) as reader:
        assert await damages(reader) == ["s: events 1 to 1 are pruned, and their base is damaged"]
        assert await reader.base(SESSION) is None
    query(tmp_path, "update base set body = ?", *undo)
    query(tmp_path, "update blob_ref set last = 0 where session = 1")  # it is summed anew
    query(tmp_path, "update blob set body = cast('x' as blob) where size > 200000")
    async with SqliteReader.open(tmp_path) as reader:
        found = await damages(reader)
        assert [text[: text.index("sha256")] for text in found] == [
            "s: events 2 to 2 are incomplete: ",
            "other: events 2 to 2 are incomplete: ",
            "the large string ",
        ]
        page = await reader.read(OTHER)
        assert page.envelopes()[1]["payload"]["$blob"].startswith("sha256:")
        assert page.head == 2


async def test_a_damaged_checkpoint_is_none(tmp_path: Path) -> None:
    """S-14: the one before it serves; `verify` says that it costs nothing (S-6)."""
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("x")] * 5)
        for seq in (2, 4):
            await log.keep(SESSION, "k", Checkpoint(Seq(seq), 1, b'{"at":%d}' % seq))
    query(tmp_path, "update checkpoint set crc = crc + 1 where seq = 4")
    async with SqliteReader.open(tmp_path) as reader:
        assert await reader.checkpoint(SESSION, "k", 1) == Checkpoint(Seq(2), 1, b'{"at":2}')
        assert await damages(reader) == ["s: a kept state is damaged; no answer needs it"]


async def test_compaction_makes_real_recordings_small(tmp_path: Path) -> None:
    """S-11: each session in few batches, compressed to less than half of its lines."""
    lines = 0
    async with SqliteStore.open(tmp_path, clock=lambda: 1_000) as log:
        for number, path in enumerate(CAPTURES):
            for recorded in read_capture(path.read_bytes())[:1]:
                for event in recorded.events:
                    lines += len(event.payload)
                    await log.append(SessionId(f"s-{number}"), [event])
        await log.compact(before=10)
        assert await damages(log) == []
    ((batches, longest, bodies),) = query(
        tmp_path, "select count(*), max(last - first + 1), sum(length(body)) from batch"
    )
    assert longest > 50
    assert batches < 4 * len(CAPTURES)
    assert bodies < lines / 2
    assert query(tmp_path, "pragma integrity_check") == [("ok",)]


async def test_compaction_leaves_damage_alone(tmp_path: Path) -> None:
    """S-11: a damaged batch stays what it is, and hides no other."""
    async with SqliteStore.open(tmp_path) as log:
        for _ in range(9):
            await log.append(SESSION, [Event.of("x", {"a": 1})])
    query(tmp_path, "update batch set body = cast('{}' as blob) where first = 5")
    async with SqliteStore.open(tmp_path) as log:
        before = (await log.read(SESSION)).body
        await log.compact(before=2**62)
        assert (await log.read(SESSION)).body == before
        assert await damages(log) == ["s: events 5 to 5 are damaged"]
    assert query(tmp_path, "select count(*) from batch") == [(3,)]


async def test_long_sessions_are_compacted_in_steps(tmp_path: Path) -> None:
    """S-11: across the borders of transactions as well; the newest session stays the newest."""
    async with SqliteStore.open(tmp_path) as log:
        for number in range(700):
            await log.append(SESSION, [Event.of("x", {"n": number})])
        await log.append(OTHER, [Event.of("x")])
        await log.compact(before=2**62)
        assert [row.id for row in await log.sessions()] == [OTHER, SESSION]
        texts = (await log.read(SESSION, limit=1_000)).envelopes()
        assert [one["payload"]["n"] for one in texts] == list(range(700))
        assert await log.unsettled() == [OTHER, SESSION]
    ((count,),) = query(tmp_path, "select count(*) from batch where session = 1")
    assert count < 20


async def test_a_backup_is_the_log_with_another_epoch(tmp_path: Path) -> None:
    """S-13, P-18: made while it is written; private; whoever opens it begins a new epoch."""
    backup = tmp_path / "backup.db"
    async with SqliteStore.open(tmp_path / "log") as log:
        await log.append(SESSION, [Event.of("x"), large(1)])
        await log.prune(SESSION, Checkpoint(Seq(2), 1, b"{}"))
        await log.append(SESSION, [large(2)])
        assert await duplicate(tmp_path / "log", backup) == backup
        body, epoch = (await log.read(SESSION, after=2)).body, log.epoch
        await log.append(SESSION, [Event.of("later")])
    assert backup.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["backup.db", "log"]
    async with SqliteReader.open(backup) as copy:
        assert copy.epoch == ""
        assert (await copy.read(SESSION, after=2)).body == body
        assert await damages(copy) == []
    async with SqliteStore.open(backup) as copy:
        assert copy.epoch not in {"", epoch}
        renewed = copy.epoch
        assert await copy.base(SESSION) == Checkpoint(Seq(2), 1, b"{}")
        assert (await copy.append(SESSION, [Event.of("x")], expected=3)).first == 4
    async with SqliteStore.open(backup) as copy:
        assert copy.epoch == renewed
    with closing(sqlite3.connect(backup)) as database:
        assert database.execute("pragma auto_vacuum").fetchone() == (2,)


async def test_a_backup_takes_nothing_s_place(tmp_path: Path) -> None:
    """S-13: what is there already is not overwritten, and a failed copy leaves nothing."""
    there = tmp_path / "there.db"
    there.write_bytes(b"precious")
    async with SqliteStore.open(tmp_path / "log") as log:
        await log.append(SESSION, [Event.of("x")])
    with pytest.raises(LogUnavailable, match="there is something already"):
        await duplicate(tmp_path / "log", there)
    assert there.read_bytes() == b"precious"
    with pytest.raises(LogUnavailable):
        await duplicate(tmp_path / "nowhere", tmp_path / "new.db")
    with pytest.raises(LogUnavailable):
        await duplicate(tmp_path / "log", there / "below" / "x.db")
    assert names(tmp_path) == ["log", "there.db"]


DIE_DELETING = """
import os, signal, sys, anyio
from pathlib import Path
from eventlog import Checkpoint, Event, Seq, SessionId, SqliteStore
from eventlog.sqlite import pruning
async def main(path, how):
    async with SqliteStore.open(path) as store:
        for number in range(400):
            await store.append(SessionId("s"), [Event.of("x", {"n": number})] * 2)
            if number % 100 == 0:
                await store.append(SessionId("s"), [Event.of("x", {"text": f"{number} " * 40_000})])
        await store.append(SessionId("other"), [Event.of("x")])
        sweep, steps = pruning.sweep, iter(range(3))
        def dying(database):
            if next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return sweep(database)
        pruning.sweep = dying
        if how == "delete":
            await store.delete(SessionId("s"))
        else:
            await store.prune(SessionId("s"), Checkpoint(Seq(804), 1, b"{}"))
anyio.run(main, Path(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.parametrize("how", ["delete", "prune"])
async def test_a_removal_that_was_cut_off_is_finished(how: str, tmp_path: Path) -> None:
    """S-10, S-8: killed amid a delete or a prune, nothing of it is seen again; whoever opens the
    log next removes the rest, numbers go on, and the log is whole before and after.
    """
    program = [sys.executable, "-c", DIE_DELETING, str(tmp_path), how]
    assert (await anyio.run_process(program, check=False)).returncode == -9
    batches = "select count(*) from batch where session = 1"
    async with SqliteReader.open(tmp_path) as reader:
        assert query(tmp_path, batches) != [(0,)]
        await assert_removed(reader, how)
        reach = await reader.prunable(SESSION)
        assert (reach.seq, reach.events) == (804, 0)
    async with SqliteStore.open(tmp_path) as log:
        with anyio.fail_after(30):
            while query(tmp_path, "select (select count(*) from sweep)") != [(0,)]:
                await log.append(OTHER, [Event.of("x")])
        await assert_removed(log, how)
        assert query(tmp_path, batches) == [(0,)]
        assert (await log.append(SESSION, [Event.of("x")])).first == 805
        assert [str(damage) async for damage in log.verify()] == []


async def assert_removed(log: SqliteReader, how: str) -> None:
    page = await log.read(SESSION)
    assert (page.floor, page.head, page.body) == (804, 804, b"")
    assert [str(damage) async for damage in log.verify()] == []
    listed = [row.id for row in await log.sessions()]
    assert listed == ["other"] if how == "delete" else set(listed) == {"s", "other"}
    assert (await log.resolve(SESSION) == []) is (how == "delete")
    figures = await log.figures()
    assert figures["sessions"] == len(listed)
    assert figures["pruned_events"] == (0 if how == "delete" else 804)


async def test_a_long_session_is_removed_step_by_step(tmp_path: Path) -> None:
    """S-10: commits of others pass between its steps, each of which is a small transaction."""
    async with SqliteStore.open(tmp_path) as log:
        for _ in range(400):
            await log.append(SESSION, [Event.of("x", {"text": "x" * 1_000})] * 20)
        sizes: list[int] = []

        async def others() -> None:
            while True:
                await log.append(OTHER, [Event.of("x")])
                sizes.append(query(tmp_path, "select count(*) from batch where session = 1")[0][0])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others)
            await log.delete(SESSION)
            tasks.cancel_scope.cancel()
        steps = [size for size in dict.fromkeys(sizes) if 0 < size < 400]
        assert len(steps) >= 3
        assert max(a - b for a, b in pairwise([400, *steps])) <= 3 * 64
