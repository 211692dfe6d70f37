"""A session as a file: a line that says what it is, then the log's own lines.

Above this module: the command lines, the importer, replay, the demo. Below it: `event`, the port.

    {"cassette":1,"session_id":"…","epoch":"…","floor":0,"head":42}
    {"seq":1,"ts":1764…,"type":"session.opened","payload":{…}}
    {"blob":"sha256:…","body":"…"}
    {"seq":2,"ts":1764…,"type":"image","payload":{"data":{"$blob":"sha256:…",…}}}
    …

The first line names where the session was recorded; all others are the same bytes wherever they
lie. A large string stands in a line of its own before its first use (P-34); what was pruned is
told by a line `{"base":{…},"body":{…}}` behind the first. A file may hold several sessions, one
after the other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from eventlog import codec
from eventlog.blobs import referred
from eventlog.cassette_reader import (
    CassetteBase,
    CassetteHeader,
    Item,
    is_cassette,
    read_cassette,
)
from eventlog.errors import BadCassette, WrongExpectedVersion
from eventlog.event import GATEWAY, START, Seq, SessionId, seq_of
from eventlog.store import Log, LogReader, SessionRow
from eventlog.verbatim import Placed, append_verbatim, placed

__all__ = [
    "CassetteBase",
    "CassetteHeader",
    "Imported",
    "export_cassette",
    "import_cassette",
    "is_cassette",
    "read_cassette",
]

_PAGE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made of one session of a file: its id here, and how many events are new."""

    session_id: SessionId
    added: int


async def export_cassette(source: LogReader, session_id: SessionId) -> AsyncGenerator[bytes, None]:
    """Yield the session as a file, in pieces of about 1 MiB: all that it holds at this moment.

    An unknown session gives a header with head 0 and no events.
    """
    page = await source.read(session_id, limit=0)
    header = CassetteHeader(session_id, page.epoch, page.floor, page.head)
    yield header.line() + b"\n"
    if base := await _base(source, session_id, header.floor):
        yield base.line() + b"\n"
    cursor = header.floor
    written: set[str] = set()
    while cursor < header.head:
        wanted = header.head - cursor
        page = await source.read(
            session_id, after=cursor, limit=wanted, limit_bytes=_PAGE, by_reference=True
        )
        lines = page.lines
        while lines and seq_of(lines[-1]) > header.head:
            lines.pop()  # a gap is one line of many events: it came with others that are newer
        if not lines:
            break  # whoever reads the file is told by its header that something is missing
        for text in lines if b'"$blob":' in page.body else ():
            async for piece in _blobs(source, session_id, text, written):
                yield piece
        yield b"\n".join(lines) + b"\n"
        cursor = seq_of(lines[-1])


async def _base(source: LogReader, session_id: SessionId, floor: int) -> CassetteBase | None:
    base, row = await source.base(session_id), await source.session(session_id)
    if base is None or row is None or base.seq != floor:
        return None
    return CassetteBase(base, row.created, row.updated, row.title, row.opened)


async def _blobs(
    source: LogReader, session_id: SessionId, text: bytes, written: set[str]
) -> AsyncGenerator[bytes, None]:
    """Yield what *text* refers to and does not stand in the file yet, the innermost first."""
    for ref in referred(text):
        piece = None if ref in written else await source.read_blob(session_id, ref)
        if piece is not None:
            written.add(ref)
            async for inner in _blobs(source, session_id, piece.body, written):
                yield inner
            yield b'{"blob":"%b","body":%b}\n' % (ref.encode(), codec.dumps(piece.body.decode()))


async def import_cassette(
    log: Log, stream: Iterable[bytes], *, name: str = "-", into: SessionId | None = None
) -> list[Imported]:
    """Append each session of a cassette to a session of its own, with its numbers and times.

    The new id is `imp-` and the beginning of the content's SHA-256, so importing the same
    content again changes nothing; a cassette of `@gateway` ends in `-0` (protocol §8). *into*
    appends the events to that session instead, each time. A session is held in memory, and
    imported whole or not at all; one with gaps is imported from gap to gap, and importing again
    goes on.

    Raises:
        BadCassette: the file is damaged, or begins after seq 1; nothing was appended.
        LogUnavailable: the log cannot be written.

    """
    sessions = list(_sessions(read_cassette(stream, name=name), name))
    if into is not None:
        if len(sessions) != 1:
            raise BadCassette(name, 1, f"{len(sessions)} sessions cannot be appended to one")
        (only,) = sessions
        if only.base:
            raise BadCassette(name, 1, "what it begins behind cannot be appended to a session")
        events, times = [one.event for one in only.items], [one.ts for one in only.items]
        await log.append(into, events, at=times)
        return [Imported(into, len(events))]
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


async def _append_new(log: Log, key: SessionId, session: _Session) -> int:
    extent = await log.read(key, limit=0)
    if extent.head and extent.floor != session.start:
        return 0  # it was imported before, and has been pruned or deleted since
    items = [item for item in session.items if item.first > extent.head]
    try:
        if session.base and not extent.head:
            await log.begin(key, session.base.state, session.row(key))
        await append_verbatim(log, key, items)
    except WrongExpectedVersion:
        return 0  # another imports it
    return len(items)


@dataclass(slots=True)
class _Session:
    """One session of a file, ready to be appended."""

    header: CassetteHeader
    base: CassetteBase | None = None
    items: list[Placed] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def start(self) -> Seq:
        """Where it begins: only with a base anywhere but at the beginning."""
        return self.base.state.seq if self.base else START

    def row(self, key: SessionId) -> SessionRow:
        """Return what a list shows of it at its beginning."""
        base = self.base
        assert base is not None  # noqa: S101 - callers have looked
        seq = self.start
        return SessionRow(key, base.created, base.updated, seq, seq, base.title, base.opened)

    @property
    def end(self) -> int:
        """Where it ends as far as it is there, gaps included."""
        return self.items[-1].last if self.items else self.start

    def begin(self, base: CassetteBase) -> None:
        self.base = base
        self.digest.update(base.line() + b"\n")

    def add(self, text: bytes) -> None:
        self.items += placed([text], self.end)
        self.digest.update(text + b"\n")

    def check_complete(self, name: str) -> None:
        """Refuse what would be numbered anew."""
        if lost := self.header.head - self.end:
            key = self.header.session_id
            raise BadCassette(name, 1, f"{lost} events of {key} are missing: it can be read only")


def _sessions(items: Iterable[Item | BadCassette], name: str) -> Iterator[_Session]:
    session: _Session | None = None
    for item in items:
        if isinstance(item, CassetteHeader):
            if session is not None:
                yield session
            session = _Session(item)
        elif isinstance(item, CassetteBase) and session is not None:
            session.begin(item)
        elif isinstance(item, bytes) and session is not None:
            session.add(item)
    if session is None:
        raise BadCassette(name, 1, "it is empty")
    yield session
