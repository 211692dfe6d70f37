"""A log moves between a file and servers, either way, and nothing in it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest
from typer import Typer
from typer.testing import CliRunner

from eventlog import Checkpoint, Event, LogReader, Seq, SessionId, open_log, open_reader
from eventlog.cli import app as log
from eventlog.copying import copy_log
from replay.cli import app as replay

PLAIN, PRUNED = SessionId("plain.1"), SessionId("pruned")
LARGE, LOST = SessionId("large"), SessionId("lost")


async def fill(location: str | Path) -> None:
    """Write sessions of every kind."""
    async with open_log(location) as into:
        await into.append(
            PLAIN,
            [
                Event.of("session.opened", {"title": "t\u00e9", "cwd": "/x"}),
                Event.of("session.alias", {"scope": "acp", "id": "theirs"}),
                *(Event.of("x", {"n": number, "big": 2**70}) for number in range(700)),
            ],
            at=range(1, 703),
        )
        for number in range(6):
            await into.append(PRUNED, [Event.of("x", {"n": number})], at=[number])
        await into.prune(PRUNED, Checkpoint(Seq(3), 1, b'{"base":1}'))
        text = "large" * 300_000
        await into.append(LARGE, [Event.of("x", {"text": text}), Event.of("y")], at=[1, 2])
        await into.append(LOST, [Event.of("x")], at=[1])
        gap = Event.of("log.gap", {"first": 2, "last": 5, "reason": "damaged"})
        await into.skip(LOST, gap, at=2)
        await into.append(LOST, [Event.of("x")], at=[3])


async def content(reader: LogReader) -> Mapping[str, object]:
    """Return everything that a log says, but for its epoch."""
    found: dict[str, object] = {}
    for row in await reader.sessions(every=True):
        page = await reader.read(row.id, after=row.floor, limit=10_000, by_reference=True)
        whole = await reader.read(row.id, after=row.floor, limit=10_000)
        digest = hashlib.sha256(whole.body).hexdigest()
        found[row.id] = (row, page.body, digest, await reader.base(row.id))
    found["theirs"] = await reader.resolve("theirs")
    return found


async def copied(source: str | Path, target: str | Path, *, sessions: int = 99) -> list[int]:
    """Copy, and stop after some sessions; return how many events each has got."""
    added: list[int] = []
    async with (
        open_reader(source) as reader,
        open_log(target) as into,
        aclosing(copy_log(reader, into)) as results,
    ):
        async for one in results:
            assert not one.problem
            added.append(one.added)
            if len(added) == sessions:
                break
    return added


@pytest.mark.anyio
@pytest.mark.parametrize("way", ["to servers", "to a file"])
async def test_a_copy_is_equal(way: str, url: str, tmp_path: Path) -> None:
    """Same bytes, digests, numbers, rows, bases and aliases; again is a no-op.

    A copy that was cut off goes on where it stopped.
    """
    ends: tuple[str | Path, str | Path] = (tmp_path / "log", url)
    source, target = ends if way == "to servers" else ends[::-1]
    await fill(source)

    assert len(await copied(source, target, sessions=1)) == 1
    rest = await copied(source, target)
    assert (rest[0], len(rest)) == (0, 4)
    assert await copied(source, target) == [0, 0, 0, 0]

    async with open_reader(source) as one, open_reader(target) as other:
        assert await content(one) == await content(other)
        assert one.epoch != other.epoch


@pytest.mark.anyio
async def test_half_a_session_is_finished(url: str, tmp_path: Path) -> None:
    """A copy that was cut off inside a session goes on at the next event."""
    await fill(tmp_path / "log")
    async with open_reader(tmp_path / "log") as source, open_log(url) as target:
        page = await source.read(PLAIN, limit=300)
        events = [Event.of(one["type"], one["payload"]) for one in page.envelopes()]
        await target.append(PLAIN, events, at=range(1, 301))
    assert sorted(await copied(tmp_path / "log", url)) == [2, 6, 6, 402]
    async with open_reader(tmp_path / "log") as one, open_reader(url) as other:
        assert await content(one) == await content(other)


def test_the_commands_take_either(url: str, tmp_path: Path) -> None:
    """`hermes-log` and `hermes-replay` do with a URL what they do with a folder."""
    folder = tmp_path / "log"
    anyio.run(fill, folder)
    command(log, "copy", folder, url)
    for program, *arguments in (
        (log, "ls"),
        (log, "show", PLAIN),
        (log, "verify"),
        (replay, PLAIN),
    ):
        there, here = (
            command(program, *arguments, "--log", url),
            command(program, *arguments, "--log", folder),
        )
        assert there == here
    assert "copies" in command(log, "stats", "--log", url)
    command(log, "prune", PRUNED, "--to", "6", "--log", url)
    assert command(log, "show", PRUNED, "--log", url) == ""
    command(log, "delete", "--yes", LARGE, "--log", url)
    assert LARGE not in command(log, "ls", "--log", url)


def command(program: Typer, *arguments: object) -> str:
    found = CliRunner().invoke(program, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output
    return found.stdout
