"""A session as a file: a line that says what it is, then the log's own lines.

Above this module: the command lines, the importer, replay, the demo. Below it: `event`, the port.

    {"cassette":1,"session_id":"…","epoch":"…","floor":0,"head":42}
    {"seq":1,"ts":1764…,"type":"session.opened","payload":{…}}
    …

The first line names where the session was recorded; all others are the same bytes wherever they
lie. A file may hold several sessions, one after the other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from eventlog import codec
from eventlog.errors import BadCassette, EventLogError, Malformed, WrongExpectedVersion
from eventlog.event import GATEWAY, START, Event, Seq, SessionId, event_of, parse, valid_session_id
from eventlog.store import EventSource, EventStore

VERSION: Final = 1
"""The form of cassettes that this module writes; it reads no later one."""

_MARK: Final = b'{"cassette":'
_PAGE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class CassetteHeader:
    """Where and how far a session was recorded: the first line of its cassette."""

    session_id: SessionId
    epoch: str
    floor: Seq
    head: Seq

    def line(self) -> bytes:
        """Return the header as it stands in the file."""
        return codec.dumps(
            {
                "cassette": VERSION,
                "session_id": self.session_id,
                "epoch": self.epoch,
                "floor": self.floor,
                "head": self.head,
            }
        )

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Read a header.

        Raises:
            Malformed: it is none, or of a later version.
            InvalidSessionId: it names a session that cannot be.

        """
        match codec.loads(text):
            case {"cassette": int(version)} if version > VERSION:
                raise Malformed(f"cassette version {version}, this program knows up to {VERSION}")
            case {
                "cassette": int(),
                "session_id": key,
                "epoch": str(epoch),
                "floor": int(floor),
                "head": int(head),
            } if 0 <= floor <= head:
                return cls(valid_session_id(key), epoch, Seq(floor), Seq(head))
        raise Malformed("not a cassette's first line")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made of one session of a file: its id here, and how many events are new."""

    session_id: SessionId
    added: int


def is_cassette(start: bytes) -> bool:
    """Whether a file that starts with *start* means to be a cassette."""
    return start.removeprefix(b"\xef\xbb\xbf").startswith(_MARK)


async def export_cassette(
    source: EventSource, session_id: SessionId
) -> AsyncGenerator[bytes, None]:
    """Yield the session as a file, in pieces of about 1 MiB: all that it holds at this moment.

    An unknown session gives a header with head 0 and no events.
    """
    page = await source.read(session_id, limit=0)
    header = CassetteHeader(session_id, page.epoch, page.floor, page.head)
    yield header.line() + b"\n"
    cursor = header.floor
    while cursor < header.head:
        wanted = header.head - cursor
        page = await source.read(session_id, after=cursor, limit=wanted, limit_bytes=_PAGE)
        if not page.body:
            break  # whoever reads the file is told by its header that something is missing
        yield page.body + b"\n"
        cursor = page.next


def read_cassette(
    stream: Iterable[bytes], *, name: str = "-", lenient: bool = False
) -> Iterator[CassetteHeader | bytes | BadCassette]:
    """Yield each session's header, then its lines, as they stand in the file.

    *stream* gives lines, as a file opened for reading bytes does; *name* is for messages. Where
    *lenient*, what is damaged comes as a `BadCassette` in its place, and reading goes on.

    Raises:
        BadCassette: a line is not what it should be, one is missing, or the file ends early.

    """
    for number, item in _Reading().items(stream):
        if isinstance(item, str):
            flaw = BadCassette(name, number, item)
            if not lenient:
                raise flaw
            yield flaw
        else:
            yield item


async def import_cassette(
    log: EventStore, stream: Iterable[bytes], *, name: str = "-", into: SessionId | None = None
) -> list[Imported]:
    """Append each session of a cassette to a session of its own, with its numbers and times.

    The new id is `imp-` and the beginning of the content's SHA-256, so importing the same
    content again changes nothing; a cassette of `@gateway` ends in `-0` (protocol §8). *into*
    appends the events to that session instead, each time. A session is imported whole or not at
    all, and is held in memory while it is.

    Raises:
        BadCassette: the file is damaged, or begins after seq 1; nothing was appended.
        LogUnavailable: the log cannot be written.

    """
    sessions = list(_sessions(read_cassette(stream, name=name), name))
    if into is not None:
        if len(sessions) != 1:
            raise BadCassette(name, 1, f"{len(sessions)} sessions cannot be appended to one")
        (only,) = sessions
        await log.append(into, only.events, at=only.times)
        return [Imported(into, len(only.events))]
    for session in sessions:
        session.check_complete(name)
    keys = _keys(sessions)
    return [
        Imported(key, await _append_new(log, key, session))
        for key, session in zip(keys, sessions, strict=True)
    ]


def _keys(sessions: Iterable[_Session]) -> list[SessionId]:
    """Return an id for each: from what it holds, and how often that came before in the file."""
    seen: Counter[str] = Counter()
    keys = []
    for session in sessions:
        digest = session.digest.hexdigest()[:12]
        seen[digest] += session.header.session_id != GATEWAY
        keys.append(SessionId(f"imp-{digest}-{seen[digest]}"))
    return keys


async def _append_new(log: EventStore, key: SessionId, session: _Session) -> int:
    try:
        await log.append(key, session.events, expected=START, at=session.times)
    except WrongExpectedVersion:
        return 0  # it was imported before
    return len(session.events)


@dataclass(slots=True)
class _Session:
    """One session of a file, ready to be appended."""

    header: CassetteHeader
    events: list[Event] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, text: bytes) -> None:
        ts, event = event_of(text)
        self.events.append(event)
        self.times.append(ts)
        self.digest.update(text + b"\n")

    def check_complete(self, name: str) -> None:
        """Refuse what would be numbered anew."""
        lost = self.header.head - len(self.events)
        if lost:
            key = self.header.session_id
            raise BadCassette(name, 1, f"{lost} events of {key} are missing: it can be read only")


def _sessions(
    items: Iterable[CassetteHeader | bytes | BadCassette], name: str
) -> Iterator[_Session]:
    session: _Session | None = None
    for item in items:
        if isinstance(item, CassetteHeader):
            if session is not None:
                yield session
            session = _Session(item)
        elif isinstance(item, bytes) and session is not None:
            session.add(item)
    if session is None:
        raise BadCassette(name, 1, "it is empty")
    yield session


class _Reading:
    """Where a reader of a cassette stands: under which header, after which event."""

    def __init__(self) -> None:
        self._header: CassetteHeader | None = None
        self._cursor = 0

    def items(self, stream: Iterable[bytes]) -> Iterator[tuple[int, CassetteHeader | bytes | str]]:
        """Yield what each line is, with its number; a string says what is wrong with it."""
        number = 0
        for number, raw in enumerate(stream, 1):
            text = raw.rstrip(b"\r\n")
            text = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
            if not text.strip():
                continue
            for item in self._read(text):
                yield number, item
        for flaw in self._end():
            yield number + 1, flaw

    def _read(self, text: bytes) -> Iterator[CassetteHeader | bytes | str]:
        try:
            if text.startswith(_MARK):
                yield from self._end()
                self._header = CassetteHeader.parse(text)
                self._cursor = self._header.floor
                yield self._header
            elif self._header is None:
                yield "no cassette: the first line has to say so"
            else:
                yield from self._event(text)
        except EventLogError as error:
            yield str(error)

    def _event(self, text: bytes) -> Iterator[bytes | str]:
        envelope = parse(text)
        seq, due = envelope["seq"], self._cursor + 1
        if type(seq) is not int or not 0 <= envelope["ts"] < 2**63:
            yield "seq and ts have to be integers of at most 63 bits"
        elif seq < due:
            yield f"event {seq} comes after event {self._cursor}"
        else:
            lost = envelope["payload"] if envelope["type"] == "log.gap" else {}
            if seq > due and (lost.get("first"), lost.get("last")) != (due, seq):
                yield f"event {seq} comes where {due} was due"
            self._cursor = seq
            yield text

    def _end(self) -> Iterator[str]:
        if self._header is not None and self._cursor != self._header.head:
            yield f"it ends at event {self._cursor}, the session at {self._header.head}"
