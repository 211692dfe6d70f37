"""Sessions that lie in a file: a cassette, a capture, or the log's lines alone.

Above this module: `source`, `snapshots`. Below it: the event log's readers.

What is damaged is left out, named with its line and size, and leaves a gap in its session where
a number is missing (R031): the rest is read as if nothing were wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Final, Literal

from eventlog import (
    BadCassette,
    CassetteBase,
    CassetteHeader,
    Event,
    Malformed,
    Seq,
    SessionId,
    capture_of,
    codec,
    is_cassette,
    is_session,
    line,
    parse,
    read_cassette,
)
from replay.errors import ForeignFile, NothingToReplay
from replay.lines import FileLines, Spool
from replay.opening import transcript_at
from replay.transcript import Transcript

_BOM: Final = b"\xef\xbb\xbf"

Form = Literal["cassette", "lines", "capture"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong: a line of a file (from 1), how many bytes of it are lost, and why."""

    line: int
    size: int
    reason: str

    def __str__(self) -> str:
        lost = f" ({self.size} bytes)" if self.size else ""
        return f"line {self.line}: {self.reason}{lost}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A session: its id and its lines, as the log has them, but with large strings in them."""

    id: SessionId
    lines: Sequence[bytes] = field(repr=False)
    begin: Transcript | None = None
    """What stood before the first of them, if that was pruned."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """What a place holds: sessions in order of their first event, and what is damaged."""

    sessions: Sequence[Recording]
    flaws: Sequence[Flaw] = ()
    spool: Spool | None = field(default=None, repr=False)
    """What the sessions' lines lie in, if they came from a stream."""


def holds_no_session(id_: str) -> bool:
    """Whether what bears this id is what belongs to no session (protocol §8)."""
    return not is_session(id_)


def read_recordings(data: bytes, name: str) -> Recordings:
    """Read a file's content; *name* is for messages, and the id of lines without a header.

    Raises:
        NothingToReplay: it is empty.
        ForeignFile: it is neither a cassette nor a capture.

    """
    return _read(partial(BytesIO, data), name, None)


def read_recordings_of(path: Path, name: str) -> Recordings:
    """Read a file line by line: sessions of a cassette stay in it. A capture is read whole.

    Raises:
        NothingToReplay, ForeignFile: as `read_recordings`.
        OSError: it cannot be read.

    """
    return _read(lambda: path.open("rb"), name, path)


def _read(opened: Callable[[], IO[bytes]], name: str, path: Path | None) -> Recordings:
    with opened() as file:
        form = _form(_texts(file), name)
    with opened() as file:
        if form == "capture":
            return _capture(file.read().removeprefix(_BOM))
        ahead = [_header(_texts(file), name)] if form == "lines" else []
    with opened() as file:
        return _cassette(_Pulled(file, ahead), name, path)


def _texts(file: IO[bytes]) -> Iterator[bytes]:
    for number, raw in enumerate(file):
        yield (raw if number else raw.removeprefix(_BOM)).removesuffix(b"\n")


# -- cassettes, and lines without a header ---------------------------------------------------------


class _Pulled:
    """The lines of a file with those that it lacks *ahead*, one after the other; which was the last."""

    def __init__(self, file: IO[bytes], ahead: Sequence[bytes]) -> None:
        self._file = file
        self.ahead: Final = ahead
        self.number = 0
        self.text = b""
        self.place = 0

    def __iter__(self) -> Iterator[bytes]:
        for text in self.ahead:
            self.number += 1
            yield text
        place = 0
        for raw in self._file:
            bare = raw if place else raw.removeprefix(_BOM)
            self.number += 1
            self.text, self.place = bare.removesuffix(b"\n"), place + len(raw) - len(bare)
            place += len(raw)
            yield bare

    def place_of(self, line: bytes) -> int | None:
        """Return where *line* stands, if it is the last line of the file as it is."""
        return self.place if line == self.text.rstrip(b"\r") else None


@dataclass(slots=True)
class _Session:
    id: SessionId
    seq: int
    lines: list[bytes] | FileLines
    lost: list[Flaw] = field(default_factory=list)
    ts: int = 0
    begin: Transcript | None = None

    def add(self, text: bytes, place: int | None) -> None:
        envelope = parse(text)
        if envelope["seq"] > self.seq + 1 and envelope["type"] != "log.gap":
            self.mark_gap(envelope["seq"] - 1)
        self._append(text, place)
        self.seq, self.ts, self.lost = envelope["seq"], envelope["ts"], []

    def mark_gap(self, last: int) -> None:
        """Say where numbers are missing, and which damaged lines may have had them."""
        why = "; ".join(
            f"line {flaw.line}: {flaw.reason} ({flaw.size} bytes)" for flaw in self.lost
        )
        gap = {"first": self.seq + 1, "last": last, "lost": last - self.seq}
        event = Event.of("log.gap", gap | {"reason": why or "missing in the file"})
        self._append(line(Seq(last), self.ts, event), None)
        self.seq = last

    def _append(self, text: bytes, place: int | None) -> None:
        if isinstance(self.lines, FileLines):
            self.lines.append(text, place)
        else:
            self.lines.append(text)


def _cassette(pulled: _Pulled, name: str, path: Path | None) -> Recordings:
    sessions: list[_Session] = []
    flaws: list[Flaw] = []
    for item in read_cassette(pulled, name=name, lenient=True):
        match item:
            case CassetteHeader():
                _end(sessions)
                lines: list[bytes] | FileLines = [] if path is None else FileLines(path)
                sessions.append(_Session(item.session_id, item.floor, lines))
            case CassetteBase() if sessions and (begin := transcript_at(item.state)):
                sessions[-1].begin = replace(begin, session=sessions[-1].id)
            case BadCassette():
                flaw = _flaw(item, pulled, sessions[-1].seq if sessions else 0)
                if flaw.size and sessions:
                    sessions[-1].lost.append(flaw)
                if flaw.size or not (sessions and sessions[-1].lost):
                    flaws.append(flaw)
            case bytes() if sessions:
                sessions[-1].add(item, pulled.place_of(item))
    _end(sessions)
    held = [Recording(session.id, session.lines, session.begin) for session in sessions]
    return Recordings(held, flaws)


def _end(sessions: Sequence[_Session]) -> None:
    """Mark what was damaged behind the last event that could be read."""
    if sessions and sessions[-1].lost:
        sessions[-1].mark_gap(sessions[-1].seq + len(sessions[-1].lost))


def _flaw(found: BadCassette, pulled: _Pulled, cursor: int) -> Flaw:
    """Return what was found; without a size where it is not the line itself that is damaged."""
    text = pulled.text if found.line == pulled.number else b""
    readable = (_seq(text) or 0) > cursor  # only that it comes too early was found
    return Flaw(found.line - len(pulled.ahead), 0 if readable else len(text), found.reason)


def _header(texts: Iterable[bytes], name: str) -> bytes:
    """Make the header that the lines lack."""
    first, last = math.inf, 0
    for seq in filter(None, map(_seq, texts)):
        first, last = min(first, seq), max(last, seq)
    id_ = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "session"
    header = CassetteHeader(SessionId(id_), "", Seq(int(first) - 1), Seq(last))
    return header.line()


def _seq(text: bytes) -> int | None:
    try:
        seq = parse(text)["seq"]
    except Malformed:
        return None
    return seq if type(seq) is int and seq > 0 else None


# -- captures, and telling files apart -------------------------------------------------------------


def _capture(data: bytes) -> Recordings:
    capture = capture_of(data)
    flaws = [Flaw(skip.number, skip.size, skip.reason) for skip in capture.skipped if skip.size]
    sessions = [Recording(session.id, session.lines) for session in capture.sessions]
    return Recordings(sessions, flaws)


def _what(data: bytes) -> str:
    if data.startswith(b"SQLite format 3"):
        return "is a database; name a log with --log"
    return "is neither a cassette nor a capture: no line of it is an event or a frame"


_LOOKED_AT: Final = 1000
"""Lines in which a file has to show what it is."""


def _form(texts: Iterable[bytes], name: str) -> Form:
    start: bytes | None = None
    for text in islice(filter(bytes.strip, texts), _LOOKED_AT):
        start = text if start is None else start
        if form := _form_of(text):
            return form
    raise NothingToReplay(name, "is empty") if start is None else ForeignFile(name, _what(start))


def _form_of(text: bytes) -> Form | None:
    if is_cassette(text):
        return "cassette"
    try:
        value = codec.loads(text)
    except Malformed:
        return None
    match value:
        case {"dir": "in" | "out" | "meta"}:
            return "capture"
        case {"seq": int(seq), "type": str(), "payload": dict()} if _seq(text) and seq:
            return "lines"
    return None
