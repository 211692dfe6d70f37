"""The commands of `hermes-log` that change a log, or make another, run as people run them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path
from time import time_ns

import anyio
import pytest

from eventlog import (
    Checkpoint,
    Event,
    Seq,
    SessionId,
    SqliteReader,
    SqliteStore,
    exits,
    export_cassette,
    import_cassette,
)
from eventlog.copying import copy_log
from eventlog.sqlite.doctor import examine, file_system
from tests.eventlog.program import hermes_log

pytestmark = pytest.mark.anyio

OLD, NEW, ASKING = SessionId("old"), SessionId("new"), SessionId("asking")
DAY = 24 * 3_600 * 1_000_000
NOW = time_ns() // 1_000
COMMANDS = (
    "backup",
    "restore",
    "salvage",
    "copy",
    "prune",
    "delete",
    "fork",
    "compact",
    "stats",
    "doctor",
    "journal",
)


def turn(text: str) -> list[Event]:
    return [
        Event.of("message.start", {"input": text}),
        Event.of("message.complete", {"text": text, "status": "complete"}),
    ]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of an old session, one that has gone on, and an old one that waits for an answer."""
    path = tmp_path / "log"
    anyio.run(fill, path)
    return path


async def fill(path: Path) -> None:
    question = Event.of(
        "request.opened", {"id": "srq-1", "method": "clarify", "params": {"question": "?"}}
    )
    async with SqliteStore.open(path) as store:
        for days, key in ((60, OLD), (60, NEW), (60, ASKING), (59, OLD)):
            at = [NOW - days * DAY] * 2
            await store.append(key, turn(f"{days} days " + "x" * 90_000), at=at)
        await store.append(NEW, turn("today"), at=[NOW, NOW])
        await store.append(ASKING, [question], at=[NOW - 50 * DAY])


async def floors(path: Path) -> dict[str, int]:
    async with SqliteReader.open(path) as reader:
        return {row.id: row.floor for row in await reader.sessions()}


async def test_pruning_by_age_removes_what_it_said(log: Path) -> None:
    """R171, S-10: a dry run lists, the real one removes the same; what waits is kept; it shrinks."""
    before = (log / "events.db").stat().st_size
    dry = hermes_log("prune", "--older-than", "30d", "--dry-run", "--json", log=log)
    assert await floors(log) == {OLD: 0, NEW: 0, ASKING: 0}
    real = hermes_log("prune", "--older-than", "30d", "--json", log=log)

    assert (dry.returncode, dry.stdout) == (exits.OK, real.stdout)
    rows = {row["id"]: (row["to"], row["events"]) for row in json.loads(real.stdout)}
    assert rows == {OLD: (4, 4), NEW: (2, 2)}
    assert "asking is kept" in real.stderr
    assert await floors(log) == {OLD: 4, NEW: 2, ASKING: 0}
    assert (log / "events.db").stat().st_size < before
    again = hermes_log("prune", "--older-than", "30d", log=log)
    assert (again.returncode, again.stdout) == (exits.OK, "")
    assert "everything is as it was written" in hermes_log("verify", log=log).stderr


async def test_one_session_is_pruned_to_an_event(log: Path) -> None:
    """S-10: at the border of a batch before it."""
    found = hermes_log("prune", "old", "--to", "3", log=log)
    assert found.stdout.startswith("old  2 events up to 2  ")
    assert await floors(log) == {OLD: 2, NEW: 0, ASKING: 0}


async def test_a_deleted_session_is_gone(log: Path) -> None:
    """R171: by any of its names; its id is not given to another, and its numbers go on."""
    assert hermes_log("delete", "ol", "--dry-run", log=log).stdout == "old\n"
    assert hermes_log("show", "old", log=log).returncode == exits.OK
    assert hermes_log("delete", "ol", log=log).stdout == "old\n"
    assert hermes_log("show", "old", log=log).returncode == exits.NOT_FOUND
    assert hermes_log("delete", "old", log=log).returncode == exits.NOT_FOUND
    async with SqliteStore.open(log) as store:
        assert (await store.append(OLD, turn("again"))).first == 5


async def test_a_backup_is_restored(log: Path, tmp_path: Path) -> None:
    """S-13, P-18: to the same sessions under a new epoch; never over something that is there."""
    backup = tmp_path / "kept" / "backup"
    assert hermes_log("backup", backup, log=log).returncode == exits.OK
    assert hermes_log("backup", backup, log=log).returncode == exits.UNAVAILABLE
    assert hermes_log("restore", backup, log=log).returncode == exits.UNAVAILABLE
    restored = tmp_path / "restored"
    made = hermes_log("restore", backup, "--log", restored)
    assert (made.returncode, made.stdout) == (exits.OK, "")
    assert hermes_log("ls", "--log", restored).stdout == hermes_log("ls", log=log).stdout
    async with SqliteStore.open(log) as ours, SqliteStore.open(restored) as theirs:
        assert ours.epoch != theirs.epoch
        assert (await ours.read(OLD)).body == (await theirs.read(OLD)).body


async def test_a_damaged_backup_is_told(log: Path, tmp_path: Path) -> None:
    """S-13: what is damaged is restored as far as it goes, and named."""
    hermes_log("backup", tmp_path / "b.db", log=log)
    with closing(sqlite3.connect(tmp_path / "b.db")) as database, database:
        database.execute("update batch set crc = crc + 1 where first = 3 and session = 1")
    made = hermes_log("restore", tmp_path / "b.db", "--log", tmp_path / "r")
    assert (made.returncode, made.stdout) == (exits.FOUND, "old: events 3 to 4 are damaged\n")


async def test_a_copy_goes_on_where_it_stopped(log: Path, tmp_path: Path) -> None:
    """Every session with its id, numbers, base and large strings; again: only what is new."""
    hermes_log("prune", "old", "--to", "2", log=log)
    other = tmp_path / "other"
    found = hermes_log("copy", log, other)
    assert (found.returncode, len(found.stdout.splitlines())) == (exits.OK, 3)
    async with SqliteStore.open(log) as ours:
        await ours.append(NEW, turn("later"))
    assert "new  2 events" in hermes_log("copy", log, other).stdout
    async with SqliteStore.open(log) as ours, SqliteReader.open(other) as theirs:
        for key in (OLD, NEW, ASKING):
            for how in (True, False):
                mine = await ours.read(key, by_reference=how)
                copy = await theirs.read(key, by_reference=how)
                assert (copy.body, copy.floor) == (mine.body, mine.floor)
            assert await theirs.base(key) == await ours.base(key)
        assert [damage async for damage in theirs.verify()] == []


async def test_a_copy_never_mixes_two_sessions(log: Path, tmp_path: Path) -> None:
    """What has another history under the same id is left alone, and told."""
    async with SqliteStore.open(tmp_path / "other") as other:
        await other.append(OLD, turn("something else"))
    found = hermes_log("copy", log, tmp_path / "other")
    assert found.returncode == exits.FOUND
    assert "old was not copied: there is another session" in found.stderr
    async with SqliteStore.open(log) as ours, SqliteStore.open(tmp_path / "third") as third:
        await ours.prune(OLD, Checkpoint(Seq(2), 1, b"{}"))
        await third.append(OLD, turn("x"), at=[1, 1])
        problems = {one.session_id: one.problem async for one in copy_log(ours, third)}
        assert problems[OLD] != ""
        assert problems[NEW] == ""


async def test_a_fork_is_a_session_of_its_own(log: Path) -> None:
    """The past under the same numbers, what was open ended, and where it comes from."""
    made = hermes_log("fork", "asking", log=log)
    child = SessionId(made.stdout.strip())
    early = SessionId(hermes_log("fork", "asking", "--at", "2", log=log).stdout.strip())
    async with SqliteReader.open(log) as reader:
        ours = (await reader.read(ASKING)).lines
        copied = await reader.read(child)
        assert copied.lines[:3] == ours
        types = [envelope["type"] for envelope in copied.envelopes()]
        assert types[3:] == ["log.forked", "request.cancel"]
        assert copied.envelopes()[3]["payload"]["from"] == {"session_id": ASKING, "seq": 3}
        assert [one["type"] for one in (await reader.read(early)).envelopes()][2:] == ["log.forked"]
    beyond = hermes_log("fork", "asking", "--at", "9", log=log)
    assert (beyond.returncode, beyond.stdout) == (exits.USAGE, "")
    assert "from 0 to 3" in beyond.stderr


async def test_a_fork_of_a_pruned_session_has_its_base(log: Path) -> None:
    """S-10: what was pruned of the parent is in the fork as far as it is in the parent."""
    hermes_log("prune", "old", "--to", "2", log=log)
    child = SessionId(hermes_log("fork", "old", log=log).stdout.strip())
    async with SqliteReader.open(log) as reader:
        assert await reader.base(child) == await reader.base(OLD)
        page = await reader.read(child, after=2)
        assert (page.floor, page.head) == (2, 5)
    assert hermes_log("fork", "old", "--at", "1", log=log).returncode == exits.USAGE


async def test_compaction_is_not_seen(log: Path) -> None:
    """S-11: sessions show what they did, in less room."""
    before = [hermes_log("show", key, log=log).stdout for key in (OLD, NEW)]
    assert hermes_log("compact", "--older-than", "1h", log=log).returncode == exits.OK
    assert [hermes_log("show", key, log=log).stdout for key in (OLD, NEW)] == before
    figures = json.loads(hermes_log("stats", "--json", log=log).stdout)
    assert figures["compressed_batches"] > 0


def test_figures_are_printed(log: Path) -> None:
    """Counts and bytes, one a line, or as JSON."""
    found = json.loads(hermes_log("stats", "--json", log=log).stdout)
    assert (found["sessions"], found["events"], found["large_strings"]) == (3, 11, 2)
    text = hermes_log("stats", log=log).stdout
    assert len(text.splitlines()) == len(found)
    assert text.splitlines()[0].split() == ["sessions", "3"]


async def test_everything_is_exported_in_one_file(log: Path, tmp_path: Path) -> None:
    """R165, S-13: all sessions, bases and large strings, in a file that is the owner's alone; it
    imports whole, twice the same.
    """
    hermes_log("prune", "old", "--to", "2", log=log)
    file = tmp_path / "all.jsonl"
    assert hermes_log("export", "--all", "-o", file, log=log).returncode == exits.OK
    assert hermes_log("export", log=log).returncode == exits.USAGE
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_bytes()
    async with SqliteStore.open(tmp_path / "other") as other, SqliteReader.open(log) as ours:
        found = await import_cassette(other, BytesIO(content))
        assert sum(one.added for one in found) == 9
        assert {one.added for one in await import_cassette(other, BytesIO(content))} == {0}
        pieces = [piece async for piece in export_cassette(ours, OLD)]
        assert b"".join(pieces) in content


@pytest.mark.parametrize(
    "arguments",
    [
        ("prune",),
        ("prune", "--older-than", "30d", "--to", "3"),
        ("prune", "--to", "3"),
        ("prune", "old", "--older-than", "soon"),
        ("prune", "../old", "--to", "3"),
        ("delete",),
        ("delete", "../old"),
        ("fork", "../old"),
        ("compact", "--older-than", "1y"),
    ],
)
def test_what_makes_no_sense_changes_nothing(arguments: tuple[str, ...], log: Path) -> None:
    """Wrong arguments and names that cannot be are exit code 2, with a word."""
    before = (log / "events.db").read_bytes()
    found = hermes_log(*arguments, log=log)
    assert (found.returncode, found.stdout) == (exits.USAGE, "")
    assert found.stderr
    assert (log / "events.db").read_bytes() == before


async def test_a_log_that_is_being_written_is_left_alone(log: Path, tmp_path: Path) -> None:
    """While a gateway runs, what writes is refused by name; what reads, and a backup, works."""
    async with SqliteStore.open(log) as store:
        for arguments in (
            ("prune", "--older-than", "30d"),
            ("delete", "old"),
            ("fork", "old"),
            ("compact",),
            ("copy", tmp_path / "log", log),
        ):
            found = await anyio.to_thread.run_sync(partial(hermes_log, *arguments, log=log))
            assert (found.returncode, found.stdout) == (exits.UNAVAILABLE, "")
            assert "is being written by another process" in found.stderr
        backup = tmp_path / "b.db"
        for command in (("backup", backup), ("prune", "--older-than", "30d", "--dry-run")):
            found = await anyio.to_thread.run_sync(partial(hermes_log, *command, log=log))
            assert found.returncode == exits.OK
        assert (await store.append(OLD, turn("on"))).first == 5


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples(command: str) -> None:
    """Every help shows how it is used."""
    found = hermes_log(command, "--help")
    assert found.returncode == exits.OK
    assert f"hermes-log {command}" in found.stdout.rpartition("Examples:")[2]


@pytest.mark.parametrize("command", ["prune", "delete", "fork", "compact", "stats", "doctor"])
def test_no_log_is_made_by_looking_for_one(command: str, tmp_path: Path) -> None:
    """Where no log is, none is made."""
    given = {"prune": ("--older-than", "1d"), "delete": ("x",), "fork": ("x",)}.get(command, ())
    found = hermes_log(command, *given, "--log", tmp_path / "nowhere")
    assert (found.returncode, found.stdout) == (exits.UNAVAILABLE, "")
    assert list(tmp_path.iterdir()) == []


# -- doctor ---------------------------------------------------------------------------------------

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:40 / {at} rw - {kind} server:/export rw
31 22 0:41 / /some\\040where rw - tmpfs none rw
"""


async def warnings(log: Path, **how: object) -> dict[str, str]:
    return {found.name: found.advice for found in await examine(log, **how) if found.warns}  # type: ignore[arg-type]


async def test_a_healthy_log_has_nothing_to_change(log: Path) -> None:
    """What was looked at is printed, with this machine's SQLite; exit 0 if nothing warns (R042)."""
    found = hermes_log("doctor", log=log)
    assert sqlite3.sqlite_version in found.stdout
    assert "durability    full" in found.stdout
    assert "nobody writes" in found.stdout
    rows = json.loads(hermes_log("doctor", "--json", log=log).stdout)
    assert {row["name"] for row in rows} >= {"sqlite", "file system", "lock", "files", "room"}
    assert found.returncode == (exits.OK if all(row["ok"] for row in rows) else exits.FOUND)


@pytest.mark.parametrize("kind", ["nfs4", "9p", "virtiofs", "fuse.sshfs", "cifs", "smb3"])
async def test_a_network_file_system_is_told(kind: str, log: Path, tmp_path: Path) -> None:
    """R045, R042: a WAL on a shared file system, and an old SQLite on it, are warned of."""
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS.format(at=log, kind=kind))
    found = await warnings(log, mounts=mounts, sqlite=(3, 51, 2))
    assert set(found) >= {"file system", "sqlite"}
    assert "`hermes-log journal delete`" in found["file system"]
    assert "sqlite" not in await warnings(log, mounts=mounts, sqlite=(3, 51, 3))
    assert hermes_log("journal", "delete", log=log).returncode == exits.OK
    assert "file system" not in await warnings(log, mounts=mounts, sqlite=(3, 40, 0))


async def test_a_log_is_begun_without_a_wal(tmp_path: Path) -> None:
    """R045, S-4: so that there never is one where it is not safe; it stays until it is asked for."""
    log = tmp_path / "log"
    made = hermes_log("journal", "delete", log=log)
    assert (made.returncode, made.stdout) == (exits.OK, "")
    async with SqliteStore.open(log) as store:
        assert store.incarnation.journal == "delete"
        refused = await anyio.to_thread.run_sync(partial(hermes_log, "journal", "wal", log=log))
        assert refused.returncode == exits.UNAVAILABLE
    assert hermes_log("journal", "other", log=log).returncode == exits.USAGE
    assert hermes_log("journal", "wal", log=log).returncode == exits.OK
    async with SqliteStore.open(log) as store:
        assert store.incarnation.journal == "wal"


def test_a_file_system_is_that_of_the_deepest_mount(tmp_path: Path) -> None:
    """By the kernel's own table, with names that hold spaces; unknown where there is none."""
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS.format(at="/home", kind="nfs"))
    for path, kind in (("/x", "ext4"), ("/home/a", "nfs"), ("/some where/b", "tmpfs")):
        assert file_system(Path(path), mounts) == kind
    assert file_system(Path("/"), tmp_path / "none") == ""


async def test_what_others_may_read_is_told(log: Path) -> None:
    """S-13: files that are not private, and a folder that others may write to."""
    assert set(await warnings(log)) <= {"room"}
    (log / "events.db").chmod(0o644)
    log.chmod(0o777)  # noqa: ASYNC240 - one call
    found = await warnings(log)
    assert "events.db" in found["files"]
    assert "chmod 700" in found["folder"]


async def test_a_weaker_durability_is_named(log: Path) -> None:
    """S-3: and who writes, while somebody does."""
    async with SqliteStore.open(log, durability="normal"):
        found = {one.name: one for one in await examine(log)}
        assert found["durability"].warns
        assert found["durability"].value == "normal"
        assert found["lock"].value.startswith("written by pid ")
    assert "durability" not in await warnings(log)
