"""Opening a long session and listing many: what should not depend on length (B-11, R160).

B-11 is measured as a gateway does it after a restart: open the log, make the transcript, dump it.
Two long sessions stand against one of a thousand events: one whose million events made as much to
show as the thousand did (a terminal's output), and one that has a thousand times as much to show.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio

from bench.harness import Contender, Goal
from eventlog import Event, SessionId, SqliteReader, SqliteStore, open_reader
from eventlog.printing import listed
from gateway.transcripts import Transcripts
from replay import FOLD_VERSION, KIND, digest

SESSION = SessionId("s")
SHORT, LONG = 1_000, 1_000_000
SESSIONS = 10_000
_AT_ONCE = 10_000


def quiet(count: int) -> list[Event]:
    """Return a turn whose *count* events are a tool's progress: little to show."""
    start = [
        Event.of("message.start", {"input": "go"}),
        Event.of("tool.start", {"tool_id": "t", "name": "terminal", "args": {"command": "make"}}),
    ]
    return start + [
        Event.of("status.update", {"kind": "status", "text": f"{n}"}) for n in range(count)
    ]


def talk(turns: int) -> list[Event]:
    """Return *turns* turns of a hundred events each, with an answer of 100 words."""
    one = [Event.of("message.start", {"input": "go"})]
    one += [Event.of("message.delta", {"text": f"word {n} "}) for n in range(98)]
    one += [Event.of("message.complete", {"text": "", "status": "complete"})]
    return one * turns


async def fill(folder: Path, events: Sequence[Event]) -> None:
    """Record *events*, and keep a state at the end, as the gateway does at the end of a turn."""
    async with SqliteStore.open(folder) as log:
        for start in range(0, len(events), _AT_ONCE):
            await log.append(SESSION, events[start : start + _AT_ONCE])
        await Transcripts(log).keep(SESSION)


async def open_session(folder: Path, *, kept: bool = True) -> dict[str, float]:
    """Open the log and make the session's transcript; return how long that took."""
    begun = perf_counter()
    async with SqliteStore.open(folder) as log:
        opened = perf_counter()
        if not kept:
            await log.forget()
        transcript = await Transcripts(log).at(SESSION)
        done = perf_counter()
        assert transcript.seq == (await log.read(SESSION, limit=0)).head
    return {
        "ms to the transcript": (done - opened) * 1e3,
        "ms to open the log": (opened - begun) * 1e3,
    }


async def fill_list(folder: Path) -> None:
    """Record many sessions of a few events."""
    opened = {"source": {"kind": "hosted", "name": "agent"}, "cwd": "/work", "protocol": 1}
    async with SqliteStore.open(folder) as log, anyio.create_task_group() as tasks:
        for number in range(SESSIONS):
            events = [
                Event.of("session.opened", opened),
                Event.of("session.title", {"title": f"Session {number}"}),
                *[Event.of("message.delta", {"text": "word " * 50}) for _ in range(20)],
            ]
            tasks.start_soon(log.append, SessionId(f"s-{number:05}"), events)


async def list_sessions(folder: Path) -> dict[str, float]:
    """List the sessions as `hermes-log ls` does, from opening the log on."""
    begun = perf_counter()
    async with open_reader(folder) as log:
        rows = await log.sessions()
    with redirect_stdout(TextIOWrapper(BytesIO())):
        for text in listed(rows):
            print(text)
    assert len(rows) == SESSIONS
    return {"ms to list": (perf_counter() - begun) * 1e3}


async def list_by_command(folder: Path) -> dict[str, float]:
    """Run `hermes-log ls`, the start of the interpreter and all."""
    begun = perf_counter()
    program = [sys.executable, "-m", "eventlog", "ls", "--log", str(folder)]
    printed = await anyio.run_process(program)
    taken = (perf_counter() - begun) * 1e3
    assert printed.stdout.count(b"\n") == SESSIONS
    begun = perf_counter()
    await anyio.run_process([sys.executable, "-m", "eventlog", "--help"])
    return {"ms of the command": taken, "ms of its start": (perf_counter() - begun) * 1e3}


async def check(folder: Path) -> None:
    """Hold the kept state to the fold from the start."""
    async with SqliteStore.open(folder) as log:
        with_state = digest(await Transcripts(log).at(SESSION))
        assert await log.checkpoint(SESSION, KIND, FOLD_VERSION)
    async with SqliteReader.open(folder) as reader:
        assert (await reader.read(SESSION, limit=0)).head
    async with SqliteStore.open(folder) as log:
        await log.forget()
        assert digest(await Transcripts(log).at(SESSION)) == with_state


def contender(
    name: str,
    holder: TemporaryDirectory[str],
    made: str,
    run: Callable[[Path], Awaitable[dict[str, float]]],
) -> Contender:
    """Return what runs on a copy of the log *made* in *holder*: every run finds the same."""

    async def on_a_copy(at: Path) -> dict[str, float]:
        copytree(Path(holder.name) / made, at / "log")
        return await run(at / "log")

    return Contender(name, on_a_copy)


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    holder = TemporaryDirectory(prefix="bench-")
    root = Path(holder.name)
    made = {
        "short": quiet(SHORT),
        "quiet": quiet(LONG),
        "short talk": talk(SHORT // 100),
        "talk": talk(LONG // 100),
    }
    for name, events in made.items():
        anyio.run(fill, root / name, events)
    anyio.run(fill_list, root / "list")
    anyio.run(check, root / "short talk")
    short = contender("1 000 events", holder, "short", open_session)
    long = contender("1 000 000 events, as much to show", holder, "quiet", open_session)
    folded = contender("the same, nothing kept", holder, "quiet", partial(open_session, kept=False))
    short_talk = contender("1 000 events of talk", holder, "short talk", open_session)
    long_talk = contender("1 000 000 events of talk", holder, "talk", open_session)
    listing = contender("10 000 sessions", holder, "list", list_sessions)
    command = contender("10 000 sessions, hermes-log ls", holder, "list", list_by_command)
    figure = "ms to the transcript"
    return [short, long, folded, short_talk, long_talk, listing, command], [
        Goal(
            "a million events over a thousand, as much to show (B-11: ≤ 3)",
            lambda: long.median(figure) / short.median(figure),
            lambda ratio: ratio <= 3,
        ),
        Goal(
            "with a kept state over without",
            lambda: long.median(figure) / folded.median(figure),
        ),
        Goal(
            "a thousand times as much to show, over a thousand events",
            lambda: long_talk.median(figure) / short_talk.median(figure),
        ),
        Goal(
            "ms to list 10 000 sessions (R160: < 300)",
            lambda: listing.median("ms to list"),
            lambda ms: ms < 300,
        ),
        Goal(
            "ms of hermes-log ls as a whole (R160: < 300)",
            lambda: command.median("ms of the command"),
            lambda ms: ms < 300,
        ),
    ]
