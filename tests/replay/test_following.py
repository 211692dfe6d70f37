"""Following a session: history, then what comes, with no seam (R174, R175)."""

from __future__ import annotations

import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId, open_log, parse, read_capture, seq_of
from replay import KIND, Transcript, checkpoint_of, fold, state_of
from replay.errors import SessionNotFound, WrongName
from replay.following import follow, followed
from replay.part import Part
from replay.points import point_of
from replay.program import run
from replay.reading import take_log
from replay.request import Request

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-new")
CLOSED = Event.of("session.closed", {"reason": "test"})


def said(text: str, mid: str) -> Event:
    """Return a message of the agent."""
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": mid, "content": content}
    return Event.of("acp.session_update", {"update": update})


def prompt(text: str) -> Event:
    """Return a prompt."""
    return Event.of("prompt.submitted", {"content": [{"type": "text", "text": text}]})


class Screen:
    """What a follower has printed, and a way to wait for it."""

    def __init__(self) -> None:
        self.printed = b""
        self._grown = anyio.Event()
        self.code: int | None = None

    def __call__(self, content: bytes) -> None:
        self.printed += content
        self._grown.set()
        self._grown = anyio.Event()

    async def shows(self, words: bytes) -> None:
        """Return once *words* have been printed."""
        with anyio.fail_after(20):
            while words not in self.printed:
                await self._grown.wait()


@asynccontextmanager
async def following(**fields: Any) -> AsyncIterator[Screen]:
    """Follow in the background; at the end of the block it has ended by itself."""
    screen = Screen()

    async def go() -> None:
        screen.code = await followed(
            Request(**{"name": SESSION, "profile": "snapshot"} | fields), screen
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go)
        with anyio.fail_after(30):
            yield screen


async def test_history_and_live_events_come_once_and_in_order(tmp_path: Path) -> None:
    """R174: as lines, whatever was there before and whatever comes: 1, 2, 3, …, and it ends."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [said(str(n), f"m{n}") for n in range(100)])
        async with following(log=str(tmp_path), format="jsonl") as screen:
            await screen.shows(b'"seq":100,')
            for n in range(100, 130):
                await log.append(SESSION, [said(str(n), f"m{n}")])
            await log.append(SESSION, [CLOSED])

    lines = screen.printed.splitlines()
    assert screen.code == 0
    assert [seq_of(line) for line in lines] == list(range(1, 132))


async def test_what_is_printed_is_never_taken_back(tmp_path: Path) -> None:
    """R174: history as a page, then each entry once it can be read, a question when it is asked."""
    ask = {"id": "srq-1", "method": "clarify", "params": {"questions": [
        {"qid": "q0", "question": "Which?", "choices": ["a", "b"]}]}}  # fmt: skip
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [prompt("Go"), said("First.", "m1")])
        async with following(log=str(tmp_path)) as screen:
            await screen.shows("› you".encode())
            assert b"First." not in screen.printed  # more of it may come
            await log.append(SESSION, [said(" And more.", "m1"), said("Second.", "m2")])
            await screen.shows(b"  First. And more.\n")
            await log.append(SESSION, [Event.of("request.opened", ask)])
            await screen.shows(b"    ( ) b\n")
            answer = {"id": "srq-1", "method": "clarify", "result": {"answers": {"q0": "b"}}}
            await log.append(SESSION, [Event.of("request.answered", answer)])
            await screen.shows("    (•) b\n".encode())
            await log.append(
                SESSION, [Event.of("prompt.finished", {"prompt": 1, "result": {}}), CLOSED]
            )

    text = screen.printed.decode()
    shown = re.findall(r"First\. And more\.|Second\.|\( \) b|\(•\) b|you|turn \d", text)
    assert shown == ["turn 1", "you", "First. And more.", "Second.", "( ) b", "(•) b"]
    assert "waiting" in text.split("(•) b")[0]


async def test_a_finished_session_is_shown_as_it_would_be_without_following(
    tmp_path: Path, captures: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """R092, R174: the history of a session that is closed is the page, from its head to its foot."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    async with open_log(tmp_path) as log:
        await log.append(
            SESSION,
            [*session.events, CLOSED],
            at=[1_800_000_000_000_000 + n for n in range(len(session.events) + 1)],
        )
        async with following(log=str(tmp_path), profile="default") as screen:
            pass
    await anyio.to_thread.run_sync(lambda: run(Request(name=SESSION, log=str(tmp_path))))

    assert screen.printed.decode() == capsysbinary.readouterr().out.decode()


async def test_a_session_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """R175: neither the log nor the session has to exist: with `--wait` its first event is seen."""
    where = tmp_path / "later"
    async with following(log=str(where), format="jsonl", wait=True) as screen:
        await anyio.wait_all_tasks_blocked()
        async with open_log(where) as log:
            await log.append(SessionId("s-other"), [said("not this", "m")])
            await log.append(SESSION, [said("one", "m"), CLOSED])

    assert [parse(line)["seq"] for line in screen.printed.splitlines()] == [1, 2]


async def test_without_waiting_a_session_has_to_be_there(tmp_path: Path) -> None:
    """Cli: exit 3."""
    async with open_log(tmp_path) as log:
        await log.append(SessionId("s-other"), [said("x", "m")])
        with pytest.raises(SessionNotFound):
            await followed(Request(name=SESSION, log=str(tmp_path)), Screen())


async def test_a_restart_of_the_writer_is_not_noticed(tmp_path: Path) -> None:
    """R174, R175: the log is closed and opened by another process's store; nothing is missed."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [said("1", "m1")])
    async with following(log=str(tmp_path), format="jsonl") as screen:
        for n in range(2, 6):
            await screen.shows(b'"seq":%d,' % (n - 1))
            async with open_log(tmp_path) as log:
                await log.append(SESSION, [said(str(n), f"m{n}")])
        async with open_log(tmp_path) as log:
            await log.append(SESSION, [CLOSED])

    assert [seq_of(line) for line in screen.printed.splitlines()] == [1, 2, 3, 4, 5, 6]


async def test_a_log_that_takes_the_place_of_another_is_read_on(tmp_path: Path) -> None:
    """R175: a copy of the log is put in its place, as by a restore: what follows comes once."""
    here, copy = tmp_path / "log", tmp_path / "copy"
    async with open_log(here) as log:
        await log.append(SESSION, [said("1", "m1"), said("2", "m2")])
    shutil.copytree(here, copy)
    async with following(log=str(here), format="jsonl") as screen:
        await screen.shows(b'"seq":2,')
        async with open_log(copy) as log:
            await log.append(SESSION, [said("3", "m3"), CLOSED])
        (copy / "events.db").replace(here / "events.db")

    assert [seq_of(line) for line in screen.printed.splitlines()] == [1, 2, 3, 4]


async def test_a_session_that_is_pruned_meanwhile_goes_on(tmp_path: Path) -> None:
    """R175: what has been shown may be removed from the log; what comes is shown once, in order."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [prompt("Go"), said("1", "m1")])
        await log.append(SESSION, [said("2", "m2"), said("3", "m3")])
        async with following(log=str(tmp_path), format="jsonl") as screen:
            await screen.shows(b'"seq":4,')
            state = await take_log(SESSION, Part(until=point_of("2")), log=str(tmp_path))
            await log.prune(SESSION, state_of(state.transcript))
            await log.append(SESSION, [said("4", "m4"), CLOSED])
        late = Screen()
        await followed(Request(name=SESSION, log=str(tmp_path), profile="snapshot"), late)

    assert [seq_of(line) for line in screen.printed.splitlines()] == [1, 2, 3, 4, 5, 6]
    assert "› you\n  Go\n".encode() in late.printed  # from the base that pruning left


async def test_a_kept_state_stands_for_what_it_was_made_of(tmp_path: Path) -> None:
    """S-14: what is followed begins with a kept state where there is one; the text is the same."""
    printed = []
    for kept in (False, True):
        where = tmp_path / f"{kept}"
        async with open_log(where) as log:
            await log.append(SESSION, [prompt("Go"), said("First.", "m1"), said("Second.", "m2")])
            page = await log.read(SESSION, limit=10)
            if kept:
                state = checkpoint_of(fold(Transcript(session=SESSION), page.envelopes()))
                await log.keep(SESSION, KIND, state)
            async with following(log=str(where)) as screen:
                await screen.shows(b"First.")
                await log.append(SESSION, [CLOSED])
            printed.append(screen.printed)

    assert printed[0] == printed[1]
    assert b"Second." in printed[0]


async def test_filters_hold_for_what_is_followed(tmp_path: Path) -> None:
    """Cli: `-F --only agent`."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [prompt("Go"), said("First.", "m1")])
        async with following(log=str(tmp_path), only="agent") as screen:
            await log.append(SESSION, [said("Second.", "m2"), CLOSED])

    assert b"First." in screen.printed
    assert "›".encode() not in screen.printed


def test_a_file_cannot_be_followed() -> None:
    """Cli: exit 2."""
    with pytest.raises(WrongName, match="only a session of the log"):
        follow(Request(name="x.jsonl"))
    with pytest.raises(WrongName, match="prints text"):
        follow(Request(name="s", format="html"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
async def test_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    """R174: what was there is printed; an interrupt ends it, quietly."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [prompt("Go")])
    arguments = [sys.executable, "-m", "replay.cli", SESSION, "-F", "--log", str(tmp_path)]
    with anyio.fail_after(30):
        async with await anyio.open_process(arguments, cwd=Path(__file__).parents[2]) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            read = await process.stdout.receive()
            process.send_signal(signal.SIGINT)
            errors = b"".join([part async for part in process.stderr])
            code = await process.wait()

    assert read
    assert (code, errors) == (130, b"")


async def test_a_reader_that_has_enough_ends_it(tmp_path: Path) -> None:
    """R128: `--follow | head -1` ends at the next thing to print, with 0 and without a word."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, [said(f"{n} {'x' * 1000}", f"m{n}") for n in range(300)])
        await log.append(SESSION, [CLOSED])
    root = Path(__file__).parents[2]
    run_ = await anyio.run_process(
        ["sh", "-c", f"{sys.executable} -m replay.cli {SESSION} -F --log '{tmp_path}' | head -1"],
        cwd=root, check=False,
    )  # fmt: skip

    assert run_.stdout.count(b"\n") == 1
    assert run_.stderr == b""
