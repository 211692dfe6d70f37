"""Sessions that lie in a file: a cassette, a capture, or the log's lines alone.

Above this module: `source`, `snapshots`. Below it: the event log's readers.

What is damaged is left out, named with its line and size, and leaves a gap in its session where
a number is missing (R031): the rest is read as if nothing were wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

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
from replay.opening import transcript_at
from replay.transcript import Transcript

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


def holds_no_session(id_: str) -> bool:
    """Whether what bears this id is what belongs to no session (protocol §8)."""
    return not is_session(id_)


def read_recordings(data: bytes, name: str) -> Recordings:
    """Read a file's content; *name* is for messages, and the id of lines without a header.

    Raises:
        NothingToReplay: it is empty.
        ForeignFile: it is neither a cassette nor a capture.

    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise NothingToReplay(name, "is empty")
    texts = data.removesuffix(b"\n").split(b"\n")
    form = _form(texts)
    if form is None:
        raise ForeignFile(name, _what(data))
    if form == "capture":
        return _capture(data)
    ahead = [] if form == "cassette" else [_header(texts, name)]
    return _cassette([*ahead, *texts], name, ahead=len(ahead))


# -- cassettes, and lines without a header ---------------------------------------------------------


@dataclass(slots=True)
class _Session:
    id: SessionId
    seq: int
    lines: list[bytes] = field(default_factory=list)
    lost: list[Flaw] = field(default_factory=list)
    ts: int = 0
    begin: Transcript | None = None

    def add(self, text: bytes) -> None:
        envelope = parse(text)
        if envelope["seq"] > self.seq + 1 and envelope["type"] != "log.gap":
            self.mark_gap(envelope["seq"] - 1)
        self.lines.append(text)
        self.seq, self.ts, self.lost = envelope["seq"], envelope["ts"], []

    def mark_gap(self, last: int) -> None:
        """Say where numbers are missing, and which damaged lines may have had them."""
        why = "; ".join(
            f"line {flaw.line}: {flaw.reason} ({flaw.size} bytes)" for flaw in self.lost
        )
        gap = {"first": self.seq + 1, "last": last, "lost": last - self.seq}
        event = Event.of("log.gap", gap | {"reason": why or "missing in the file"})
        self.lines.append(line(Seq(last), self.ts, event))
        self.seq = last


def _cassette(texts: Sequence[bytes], name: str, *, ahead: int) -> Recordings:
    sessions: list[_Session] = []
    flaws: list[Flaw] = []
    for item in read_cassette(texts, name=name, lenient=True):
        match item:
            case CassetteHeader():
                _end(sessions)
                sessions.append(_Session(item.session_id, item.floor))
            case CassetteBase() if sessions and (begin := transcript_at(item.state)):
                sessions[-1].begin = replace(begin, session=sessions[-1].id)
            case BadCassette():
                flaw = _flaw(item, texts, ahead, sessions[-1].seq if sessions else 0)
                if flaw.size and sessions:
                    sessions[-1].lost.append(flaw)
                if flaw.size or not (sessions and sessions[-1].lost):
                    flaws.append(flaw)
            case bytes() if sessions:
                sessions[-1].add(item)
    _end(sessions)
    held = [Recording(session.id, session.lines, session.begin) for session in sessions]
    return Recordings(held, flaws)


def _end(sessions: Sequence[_Session]) -> None:
    """Mark what was damaged behind the last event that could be read."""
    if sessions and sessions[-1].lost:
        sessions[-1].mark_gap(sessions[-1].seq + len(sessions[-1].lost))


def _flaw(found: BadCassette, texts: Sequence[bytes], ahead: int, cursor: int) -> Flaw:
    """Return what was found; without a size where it is not the line itself that is damaged."""
    text = texts[found.line - 1] if found.line <= len(texts) else b""
    readable = (_seq(text) or 0) > cursor  # only that it comes too early was found
    return Flaw(found.line - ahead, 0 if readable else len(text), found.reason)


def _header(texts: Sequence[bytes], name: str) -> bytes:
    """Make the header that the lines lack."""
    seqs = [seq for text in texts if (seq := _seq(text)) is not None]
    id_ = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "session"
    header = CassetteHeader(SessionId(id_), "", Seq(min(seqs) - 1), Seq(max(seqs)))
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


def _form(texts: Sequence[bytes]) -> Form | None:
    return next((form for form in map(_form_of, texts[:_LOOKED_AT]) if form), None)


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
