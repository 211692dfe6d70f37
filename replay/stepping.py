"""Going through a session on a terminal, key by key.

Above this module: `program`. Below it: `steps`, the text renderer, the terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import anyio

from replay.errors import WrongName
from replay.exits import DONE
from replay.recordings import Recordings
from replay.render import render_text
from replay.render.cells import clip
from replay.render.clean import clean_line
from replay.render.options import TextOptions
from replay.request import Request
from replay.source import is_file_name, read_file, read_log
from replay.steps import Steps
from replay.transcript import Transcript

Move = Callable[[Steps, int], int]

HELP: Final = "space next · b back · ] next turn · [ turn before · g first · G last · q quit"

MOVES: Final[Mapping[bytes, Move]] = {
    b" ": lambda steps, at: min(len(steps), at + 1),
    b"n": lambda steps, at: min(len(steps), at + 1),
    b"\x1b[C": lambda steps, at: min(len(steps), at + 1),
    b"b": lambda _, at: max(0, at - 1),
    b"p": lambda _, at: max(0, at - 1),
    b"\x1b[D": lambda _, at: max(0, at - 1),
    b"]": lambda steps, at: steps.next_turn(at),
    b"\x1b[B": lambda steps, at: steps.next_turn(at),
    b"[": lambda steps, at: steps.turn_before(at),
    b"\x1b[A": lambda steps, at: steps.turn_before(at),
    b"g": lambda _, __: 0,
    b"G": lambda steps, _: len(steps),
}
"""What each key does."""

_CLEAR: Final = "\x1b[H\x1b[2J"


def step(request: Request) -> int:
    """Show a session event by event; return the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongName("--step", "needs a terminal to show and to be told; --until POINT does not")
    held = _read(request)
    if len(held.sessions) != 1:
        raise WrongName(request.name, f"holds {len(held.sessions)} sessions: --session picks one")
    (recording,) = held.sessions
    steps = Steps(recording.begin or Transcript(session=recording.id), recording.lines)
    at = len(steps) if request.until is None else _start(request, steps)
    with _keys() as keys:
        walk(steps, keys, request.options(), _show, at)
    return DONE


def walk(
    steps: Steps,
    keys: Iterator[bytes],
    options: TextOptions,
    show: Callable[[str], None],
    at: int = 0,
) -> int:
    """Show the state that each key leads to; return where it ended."""
    show(screen(steps, at, options))
    for key in keys:
        if key in {b"q", b"\x04", b""}:
            break
        if key == b"?":
            show(screen(steps, at, options, HELP))
        elif (move := MOVES.get(key)) is not None:
            at = move(steps, at)
            show(screen(steps, at, options))
    return at


def screen(steps: Steps, at: int, options: TextOptions, note: str = "? for keys") -> str:
    """Return the end of the page at an event, as much as the screen holds, and where that is."""
    size = shutil.get_terminal_size()
    transcript = steps.at(at)
    page = render_text(transcript, replace(options, width=size.columns, until=True)).splitlines()
    turn = f"turn {len(transcript.turns)}" if transcript.turns else "before the first turn"
    told = f"{at}/{len(steps)} · {clean_line(steps.type_at(at))} · {turn} · {note}"
    rows = max(1, size.lines - 2)
    return "\n".join([*page[-rows:], "", clip(told, size.columns, "…")])


def _start(request: Request, steps: Steps) -> int:
    until = request.part().until
    if until is not None and until.turn is not None:
        at = 0
        for _ in range(until.turn):
            at = steps.next_turn(at)
        return at
    seq = until.seq if until is not None and until.seq is not None else len(steps)
    return max(0, min(len(steps), seq - steps.begin.seq))


def _read(request: Request) -> Recordings:
    if is_file_name(request.name):
        return read_file(request.name, request.pick)
    return anyio.run(partial(read_log, request.name, log=request.log))


def _show(text: str) -> None:
    sys.stdout.buffer.write((_CLEAR + text).encode())
    sys.stdout.buffer.flush()


@contextmanager
def _keys() -> Iterator[Iterator[bytes]]:
    """Read keys one by one while the block runs; the terminal is put back behind it."""
    import termios  # noqa: PLC0415 - not everywhere
    import tty  # noqa: PLC0415

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        yield iter(partial(os.read, fd, 16), b"")
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
