"""What `hermes-replay` does, once its arguments are read: open, fold, render, write, say how it went.

Above this module: `replay.cli`. Below it: `source`, the fold, the renderers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from eventlog import (
    EventLogError,
    ForeignDatabase,
    InvalidSessionId,
    parse,
)
from replay.digest import digest
from replay.entries import Gap
from replay.errors import (
    AmbiguousName,
    CannotRedact,
    ForeignFile,
    NoSuchPoint,
    NothingToReplay,
    ReplayError,
    SessionNotFound,
    WouldOverwrite,
    WrongName,
)
from replay.fold import Fold
from replay.formats import LINES, format_name, format_named, refuse_to_redact
from replay.recordings import Flaw, Recording, Recordings, holds_no_session
from replay.render import PROFILES, TextOptions
from replay.render.figures import counted
from replay.source import PRUNED, is_file_name, read_file, read_log
from replay.transcript import Transcript
from replay.writing import refuse_to_overwrite, write

DONE: Final = 0
USAGE: Final = 2
NOT_FOUND: Final = 3
DAMAGED: Final = 4
UNAVAILABLE: Final = 5
INTERRUPTED: Final = 130

_CODES: Final[Mapping[type[Exception], int]] = {
    InvalidSessionId: USAGE,
    WrongName: USAGE,
    AmbiguousName: USAGE,
    NoSuchPoint: USAGE,
    WouldOverwrite: USAGE,
    CannotRedact: USAGE,
    SessionNotFound: NOT_FOUND,
    NothingToReplay: NOT_FOUND,
    ForeignFile: DAMAGED,
    ForeignDatabase: DAMAGED,
}
"""Every other failure is that of the log, or of the file system: UNAVAILABLE."""

_ADVICE: Final[Mapping[type[Exception], str]] = {
    InvalidSessionId: "give a session's id or its beginning, `latest`, or the path of a file",
    WrongName: "give a session's id, or the path of a cassette or capture",
    AmbiguousName: "give more of the id",
    NoSuchPoint: "give the number of an event, or turn:N",
    WouldOverwrite: "name another file, or overwrite it with --force",
    CannotRedact: "leave out --redact, or take -f json",
    SessionNotFound: "`latest` is the session recorded last; --log names another log",
    NothingToReplay: "record a session first, or take a file that holds one",
    ForeignFile: "hermes-replay reads cassettes, captures and lines of the log",
    ForeignDatabase: "--log names another log",
}
_OF_LOG: Final = "--log, or HERMES_LOG, names another log"
_OF_FILES: Final = "look at the path, its permissions, and the room on the disk"

_DIGEST: Final = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    name: str
    pick: str | None = None
    log: str | None = None
    format: str | None = None
    output: Path | None = None
    force: bool = False
    redact: bool | None = None
    """None leaves it to the format."""
    until: str | None = None
    profile: str = "default"
    digest: bool = False
    width: int = 80
    ascii: bool = False
    seq: bool = False


def run(request: Request) -> int:
    """Do what *request* asks; return the exit code. Errors go to standard error, in words."""
    try:
        return _replay(request)
    except BrokenPipeError:
        _close_stdout()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ReplayError, EventLogError, OSError) as error:
        general = _OF_FILES if isinstance(error, OSError) else _OF_LOG
        _complain(f"hermes-replay: {error}", f"  try: {_ADVICE.get(type(error), general)}")
        return _CODES.get(type(error), UNAVAILABLE)


def _replay(request: Request) -> int:
    until = _read_until(request.until)
    format_ = _DIGEST if request.digest else format_name(request.format, request.output)
    if format_ in {LINES, _DIGEST}:
        refuse_to_redact(format_, hide=request.redact)
    refuse_to_overwrite(request.output, force=request.force)
    found = _take(_read(request), until)
    content, hidden = _content(found, format_, request)
    write(content, request.output, force=request.force)
    if hidden:
        _complain(f"hermes-replay: {hidden}")
    return _report(found, request)


@dataclass(frozen=True, slots=True)
class _Found:
    """Sessions as far as they were asked for: what they say, their lines, what is damaged."""

    transcripts: Sequence[Transcript]
    lines: Sequence[Sequence[bytes]]
    flaws: Sequence[Flaw]


def _read(request: Request) -> Recordings:
    """Read what was named, outside of any event loop: Ctrl-C ends waiting for standard input."""
    if is_file_name(request.name):
        return read_file(request.name, request.pick)
    if request.pick is not None:
        raise WrongName(request.name, "is one session: --session picks one of a file's sessions")
    return anyio.run(partial(read_log, request.name, log=request.log))


def _take(held: Recordings, until: _Until) -> _Found:
    taken = [_taken(recording, until) for recording in held.sessions]
    shown = [one for one in taken if one[0].entries or not holds_no_session(one[0].session)]
    shown = shown or taken  # asked for by name
    return _Found([one for one, _ in shown], [lines for _, lines in shown], held.flaws)


def _content(found: _Found, format_: str, request: Request) -> tuple[bytes, str]:
    """Return what is to be written, and in words what was hidden of it."""
    if format_ == _DIGEST:
        return b"".join(digest(one).encode() + b"\n" for one in found.transcripts), ""
    if format_ == LINES:
        return _own_lines(found), ""
    options = TextOptions(
        profile=PROFILES[request.profile],
        width=request.width,
        ascii=request.ascii,
        seq=request.seq,
    )
    return format_named(format_).write(found.transcripts, options, hide=request.redact)


def _own_lines(found: _Found) -> bytes:
    if len(found.lines) > 1:
        ids = ", ".join(one.session for one in found.transcripts)
        what = f"is one session, here are {len(found.lines)}: pick one with --session, of {ids}"
        raise WrongName("jsonl", what)
    return b"".join(text + b"\n" for lines in found.lines for text in lines)


def _report(found: _Found, request: Request) -> int:
    for flaw in found.flaws:
        _complain(f"hermes-replay: {request.name}, {flaw}")
    lost = sum(map(_lost, found.transcripts))
    if found.flaws:
        _complain("hermes-replay: the file is damaged; what could be read is shown")
    elif lost:
        _complain(f"hermes-replay: the log is damaged: {counted(lost, 'event')} cannot be read")
    return DAMAGED if found.flaws or lost else DONE


def _lost(transcript: Transcript) -> int:
    """Return how many events are missing that were once recorded, not those that never were."""
    gaps = [entry for entry in transcript.entries if isinstance(entry, Gap)]
    lost = [gap for gap in gaps if gap.reason != PRUNED]
    return sum(1 + gap.end - gap.begin for gap in lost if gap.begin and gap.end)


# -- until where -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Until:
    """Behind which event, or which turn, reading stops; None reads everything."""

    text: str = ""
    seq: int | None = None
    turn: int | None = None


def _read_until(text: str | None) -> _Until:
    if text is None:
        return _Until()
    kind, _, number = text.rpartition(":")
    if kind not in {"", "turn"} or not number.isascii() or not number.isdigit():
        raise NoSuchPoint(text, "neither the number of an event nor turn:N")
    return _Until(text, turn=int(number)) if kind else _Until(text, seq=int(number))


def _taken(recording: Recording, until: _Until) -> tuple[Transcript, list[bytes]]:
    if until.turn is None:
        return _fold(recording, lambda seq: until.seq is None or seq <= until.seq)
    whole, lines = _fold(recording, lambda _: True)
    if not 1 <= until.turn <= len(whole.turns):
        raise NoSuchPoint(until.text, f"{recording.id} has {counted(len(whole.turns), 'turn')}")
    if until.turn == len(whole.turns):
        return whole, lines
    following = whole.turns[until.turn].started
    return _fold(recording, lambda seq: seq < following)


def _fold(recording: Recording, wanted: Callable[[int], bool]) -> tuple[Transcript, list[bytes]]:
    folding = Fold(Transcript(session=recording.id))
    lines = []
    for text in recording.lines:
        envelope = parse(text)
        if not wanted(envelope["seq"]):
            break
        folding.apply(envelope)
        lines.append(text)
    return folding.transcript(), lines


# -- telling ---------------------------------------------------------------------------------------


def _complain(*lines: str) -> None:
    text = "".join(f"{line}\n" for line in lines)
    sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()


def _close_stdout() -> None:
    """Keep the interpreter from flushing into the broken pipe once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
