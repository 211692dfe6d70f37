"""Fences: messages that move a session's end and add nothing.

Above this module: `leases`, `pruning`. Below it: `publishing`, `stored`.
"""

from __future__ import annotations

from eventlog.batch import LINES, Batch
from eventlog.jetstream.publishing import Outgoing
from eventlog.jetstream.row import Row
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import ORDER, Stored, headers
from eventlog.jetstream.subjects import Subjects


def fence(subjects: Subjects, session: Session, row: Row, *, epoch: str, writer: str) -> Outgoing:
    """Return the message that moves a session's end and adds nothing, but for its row."""
    batch = _empty(session)
    said = headers(batch, row.header(), epoch=epoch, writer=writer)
    if session.end is not None:
        said[ORDER] = str(session.end.order)
    return Outgoing(subjects.events(session.key), b"", said).follows(session.end_at)


def fence_at(session: Session, at: int, row: Row, writer: str) -> Stored:
    """Return the fence that was stored at *at* behind a session's end."""
    return Stored(
        at, _empty(session), writer, session.end.order if session.end else at, row.header()
    )


def _empty(session: Session) -> Batch:
    ts = session.end.batch.ts if session.end else 0
    return Batch(session.head + 1, session.head, ts, LINES, 0, b"")
