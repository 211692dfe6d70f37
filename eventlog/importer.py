"""Bring a file into a log: a capture of raw frames, or a cassette.

Above this module: `hermes-gateway import`, the demo. Below it: `capture` and `cassette`, which
read files, and the port.

A session's id comes from the file's content, and its events are a pure function of it, so an
import that is repeated changes nothing and one that was cut off goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from eventlog.capture import Capture, ImportedSession, Kind, Skipped, capture_of
from eventlog.cassette import Imported, import_cassette, is_cassette
from eventlog.errors import BadCassette, Malformed
from eventlog.event import SessionId
from eventlog.recorders import Unrecorded
from eventlog.store import Log

_AT_ONCE: Final = 1024
"""Events in one append."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found, and what is new in the log."""

    name: str
    kind: Kind | Literal["cassette"]
    sessions: Sequence[Imported]
    """In order of their first event, `@gateway`'s last; `added` is 0 where nothing was new."""
    frames: int = 0
    notes: int = 0
    events: Mapping[str, int] = field(default_factory=dict)
    """How many events of each type the frames became."""
    unrecorded: Mapping[Unrecorded, int] = field(default_factory=dict)
    """How many frames became none, by reason."""
    skipped: Sequence[Skipped] = ()
    """Lines that hold no frame."""


async def import_file(
    log: Log, name: str, data: bytes, *, into: SessionId | None = None
) -> ImportReport:
    """Import a file's content; *name* is for messages. *into* appends to that session.

    Raises:
        BadCassette: it is neither a cassette nor a capture, is a damaged cassette, or holds
            several sessions that cannot all be appended to one; nothing was appended.
        LogUnavailable: the log cannot be written; importing again goes on from there.

    """
    if is_cassette(data):
        stream = data.splitlines(keepends=True)
        return ImportReport(
            name, "cassette", await import_cassette(log, stream, name=name, into=into)
        )
    start = (await log.read(into, limit=0)).head if into else 0
    try:
        capture = capture_of(data, into=into, start=start)
    except Malformed as error:
        raise BadCassette(name, 1, error.reason) from None
    own = [session for session in capture.sessions if not session.is_gateway]
    if into and len(own) != 1:
        raise BadCassette(name, 1, f"{len(own)} sessions cannot be appended to one")
    added = [await _append(log, name, capture, session) for session in capture.sessions]
    return _report(name, capture, added)


async def _append(log: Log, name: str, capture: Capture, session: ImportedSession) -> Imported:
    """Append what the log does not hold yet of a session."""
    row = await log.session(session.id)
    if row and session.start == 0 and not _is_of(row.opened, capture):
        raise BadCassette(name, 1, f"{session.id} is the name of another import")
    head = row.head if row else 0
    done = head - session.start
    while 0 <= done < len(session.events):
        span = await log.append(
            session.id,
            session.events[done : done + _AT_ONCE],
            expected=session.start + done,
            at=session.at[done : done + _AT_ONCE],
        )
        done = span.last - session.start
    return Imported(session.id, max(0, session.start + done - head))


def _is_of(opened: Mapping[str, object], capture: Capture) -> bool:
    """Whether a session was opened by an import of this content; the gateway's is by none."""
    match opened.get("import"):
        case {"sha256": str(digest)}:
            return digest == capture.sha256
    return not opened


def _report(name: str, capture: Capture, added: Sequence[Imported]) -> ImportReport:
    types = Counter(event.type for session in capture.sessions for event in session.events)
    return ImportReport(
        name=name,
        kind=capture.kind,
        sessions=added,
        frames=capture.frames,
        notes=capture.notes,
        events=types,
        unrecorded=capture.unrecorded,
        skipped=capture.skipped,
    )
