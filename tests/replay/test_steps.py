"""A session at each of its events, in any order, and the keys that lead there."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import parse, read_capture
from replay import TextOptions, Transcript, fold
from replay.stepping import HELP, walk
from replay.steps import Steps

CAPTURES = Path(__file__).parents[1] / "captures"


def _steps(name: str = "acp/kimi-tools") -> Steps:
    session, *_ = read_capture((CAPTURES / f"{name}.jsonl").read_bytes())
    return Steps(Transcript(session="s"), list(session.lines))


STEPS = _steps()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(STEPS)), min_size=1, max_size=5))
def test_the_state_at_n_is_the_fold_of_n_events(places: list[int]) -> None:
    """R169: whatever way one came there; a step back is the fold of one event less."""
    for at in places:
        assert STEPS.at(at) == fold(Transcript(session="s"), map(parse, STEPS.lines[:at]))


def test_keys_go_forth_and_back_and_from_turn_to_turn() -> None:
    """Cli, `--step`: next, previous, next turn, the turn before, first, last."""
    shown: list[str] = []
    keys = [b" ", b"n", b"b", b"]", b"]", b"[", b"G", b"x", b"?", b"g", b"q", b"n"]
    end = walk(STEPS, iter(keys), TextOptions(), shown.append)
    places = [int(text.splitlines()[-1].split("/")[0]) for text in shown]
    first, second = (turn.started for turn in STEPS.at(len(STEPS)).turns)

    assert places == [0, 1, 2, 1, first, second, first, len(STEPS), len(STEPS), 0]
    assert HELP[:10] in shown[8].splitlines()[-1] or "…" in shown[8].splitlines()[-1]
    assert end == 0


def test_the_screen_shows_the_state_and_what_came_last() -> None:
    """R169: the end of the page, the number, the type of the event, the turn."""
    shown: list[str] = []
    walk(STEPS, iter([b"q"]), TextOptions(), shown.append, at=len(STEPS))

    assert f"{len(STEPS)}/{len(STEPS)} · " in shown[0].splitlines()[-1]
    assert "Both read. Fin." in shown[0]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


def _until(fd: int, words: bytes) -> bytes:
    """Read until *words* have come."""
    seen = b""
    deadline = time.monotonic() + 20
    while words not in seen and time.monotonic() < deadline:
        if select.select([fd], [], [], 0.5)[0]:
            seen += os.read(fd, 65536)
    assert words in seen
    return seen


def test_on_a_terminal_keys_are_taken_as_they_come(terminal: tuple[int, int]) -> None:
    """Cli, `--step`: no Enter is needed; q ends it with 0 and the terminal as it was."""
    ours, theirs = terminal
    arguments = [str(CAPTURES / "acp/kimi-tools.jsonl"), "--step", "--until", "3"]
    process = subprocess.Popen(
        [sys.executable, "-m", "replay.cli", *arguments],
        stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, cwd=CAPTURES.parents[1],
    )  # fmt: skip
    os.close(theirs)
    _until(ours, f"3/{len(STEPS)} ".encode())
    os.write(ours, b" ")
    _until(ours, f"4/{len(STEPS)} ".encode())
    os.write(ours, b"q")
    _, errors = process.communicate(timeout=20)

    assert (process.returncode, errors) == (0, b"")


def test_without_a_terminal_it_says_what_does() -> None:
    """Cli: exit 2, and `--until` as the other way."""
    run = subprocess.run(
        [sys.executable, "-m", "replay.cli", str(CAPTURES / "acp/kimi-tools.jsonl"), "--step"],
        capture_output=True, timeout=20, check=False, cwd=CAPTURES.parents[1], stdin=subprocess.DEVNULL,
    )  # fmt: skip

    assert run.returncode == 2
    assert b"--until" in run.stderr
