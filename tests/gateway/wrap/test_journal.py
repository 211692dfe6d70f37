"""One process writes a log: whoever comes second records beside it, and nothing is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from eventlog import GATEWAY, Event, SessionId, open_log, parse
from gateway.beside import take_in
from gateway.transports import Exit
from gateway.wrap.journal import journal
from tests.gateway.stage import staged
from tests.gateway.wrap.bench import editing, frames_of, parrot, recorded
from tests.gateway.wrap.test_passing import ACP

pytestmark = pytest.mark.anyio

OPENED = Event.of("session.opened", {"source": {"kind": "wrapped"}, "protocol": 1})
SAID = Event.of("prompt.submitted", {"content": []})


async def test_two_editors_at_once_are_both_recorded(tmp_path: Path) -> None:
    """The second one records into a log beside the first one's, and says so; the next one takes
    that in: the same ids, numbers and times (S-4)."""
    log = tmp_path / "log"
    frames = frames_of(ACP / "claude049-hello.jsonl")
    async with open_log(log) as first:
        await first.append(SessionId("s-first"), [OPENED])
        async with editing(log, parrot(tmp_path, frames)) as editor:
            for way, raw in frames:
                if way == "in":
                    await editor.say(raw)
                else:
                    await editor.line()
            editor.hang_up()
        assert editor.end == Exit(0)
        assert "recording beside it" in editor.told[0]
    (beside,) = (log / "beside").iterdir()
    there = await recorded(beside)

    async with open_log(log) as last:
        await take_in(log, last, editor.told.append)

    here = await recorded(log)
    assert here.pop(SessionId("s-first"))
    assert here == there
    assert list((log / "beside").iterdir()) == []
    assert len(editor.told) == 1


async def test_what_is_being_written_beside_is_left_alone(tmp_path: Path) -> None:
    """A log beside the main one stays until whoever writes it has ended."""
    async with open_log(tmp_path / "log") as main:
        async with journal(tmp_path / "log", lambda _: None) as beside:
            await beside.append(SessionId("s-1"), [OPENED])
            await take_in(tmp_path / "log", main, lambda _: None)
            assert await main.sessions() == []
        await take_in(tmp_path / "log", main, lambda _: None)
        assert [row.id for row in await main.sessions()] == ["s-1"]


async def test_a_gateway_takes_in_what_is_wrapped_while_it_runs(tmp_path: Path) -> None:
    """Its clients see the session when the editor has ended, with the numbers and times that it
    had; what nobody has finished to begin is left alone (S-4)."""
    frames = frames_of(ACP / "claude049-hello.jsonl")
    unfinished = tmp_path / "beside" / "00000000"
    unfinished.mkdir(parents=True)
    async with staged(tmp_path) as stage, stage.client() as client:
        async with editing(tmp_path, parrot(tmp_path, frames)) as editor:
            for way, raw in frames:
                if way == "in":
                    await editor.say(raw)
                else:
                    await editor.line()
            editor.hang_up()
        assert "recording beside it" in editor.told[0]
        with anyio.fail_after(30):
            while not (rows := (await client.ask("session.list"))["sessions"]):
                await anyio.wait_all_tasks_blocked()
        (row,) = rows
        assert row["source"] == "wrapped"
        events = await client.ask("session.events.since", {"session_id": row["id"]})
    assert [event["seq"] for event in events["events"]] == list(range(1, row["latest_seq"] + 1))
    assert list((tmp_path / "beside").iterdir()) == [unfinished]


async def test_taking_in_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Sessions that are there in part are completed, those that were cut off are ended (P-40)."""
    session = SessionId("s-1")
    async with open_log(tmp_path / "log" / "beside" / "a") as beside:
        await beside.append(session, [OPENED, SAID], at=[5, 6])
        await beside.append(GATEWAY, [SAID])
    async with open_log(tmp_path / "log") as main:
        await main.append(session, [OPENED], at=[5])
        await take_in(tmp_path / "log", main, lambda _: None)
        lines = [parse(line) for line in (await main.read(session)).lines]

    assert [line["type"] for line in lines] == [
        "session.opened",
        "prompt.submitted",
        "agent.exited",
        "prompt.finished",
    ]
    assert [line["ts"] for line in lines[:2]] == [5, 6]


async def test_without_any_log_everything_passes_and_that_is_said(tmp_path: Path) -> None:
    """A folder that cannot be written is no reason not to work: it is told, and what is lost."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    script = "import sys; sys.stdout.write(sys.stdin.readline())"

    async with editing(blocked / "log", [sys.executable, "-S", "-c", script]) as editor:
        await editor.say(b"ping\n")
        assert await editor.line() == b"ping\n"
        editor.hang_up()

    assert editor.end == Exit(0)
    assert editor.told[0].startswith("nothing is recorded: ")
    assert editor.told[-1].endswith("events were not recorded")
