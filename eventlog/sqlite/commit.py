"""One transaction: the appends that it holds, numbered, and the statements that record them.

Above this module: `writer`. Below it: `batch`, `heads`, `intake`, `transaction`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from eventlog import codec
from eventlog.batch import Sealer
from eventlog.blobs import Blob, hash_of
from eventlog.checksum import Checksum
from eventlog.errors import WrongExpectedVersion
from eventlog.event import Span, line
from eventlog.listing import Listing
from eventlog.sqlite.heads import Stream
from eventlog.sqlite.intake import Pending
from eventlog.sqlite.transaction import Statement

_ROWS: Final = 1_024
"""Rows in one statement; SQLite takes 32,766 values."""
_FEW: Final = 16
"""Up to so many rows a statement has any number of them, beyond it a power of two.

There are few different statements so, and SQLite's preparing them costs as much as executing.
"""

_SESSION: Final = "insert into session(key, created) values"
_BATCH: Final = "insert into batch(session, first, last, ts, codec, crc, body) values"
_BATCH_ROW: Final = "(?,?,?,?,?,?,?)"
_NEW_ROW: Final = "((select id from session where key = ?),?,?,?,?,?,?)"
_ID: Final = "select id from session where key = ?"
_BLOB: Final = "insert or ignore into blob(hash, size, body) values (?, ?, ?)"
_BLOB_REF: Final = """
    insert into blob_ref(session, hash, last) select id, ?, ? from session where key = ?
    on conflict do update set last = max(last, excluded.last)
"""


@dataclass(slots=True)
class Draft:
    """What one session gains: the lines after *start*, and their times."""

    start: int
    """Where the session was believed to end."""
    times: list[int] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class Commit:
    """Appends that become durable together, or not at all."""

    accepted: list[Pending] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """The first number that each of *accepted* was given."""
    drafts: dict[Stream, Draft] = field(default_factory=dict)
    changes: list[tuple[Stream, Listing]] = field(default_factory=list)
    blobs: list[tuple[Stream, int, Blob]] = field(default_factory=list)
    """What was taken out of events, each with the number of its event."""

    def fill(self, waiting: Iterable[Pending], now: int) -> None:
        """Give each of *waiting* the next numbers of its session, or tell it that it came too late.

        One loop without calls where most appends, of a single event, come by: 64 of them come at
        once, and all wait for the last one.
        """
        accepted, firsts, drafts = self.accepted, self.firsts, self.drafts
        for pending in waiting:
            stream, events, expected, at, outcome, _, found, blobs = pending
            if outcome.done():
                continue
            head = stream.assigned
            if expected is not None and expected != head:
                outcome.set_exception(WrongExpectedVersion(stream.key, expected, head))
                continue
            accepted.append(pending)
            firsts.append(head + 1)
            if not events:
                continue
            if (draft := drafts.get(stream)) is None:
                draft = drafts[stream] = Draft(head)
            if len(events) == 1:
                stream.assigned = last = head + 1
                draft.times.append(ts := at[0] if at else now)
                draft.lines.append(line(last, ts, events[0]))
            else:
                self._extend(draft, pending, now)
            if found is not None:
                self.changes.append((stream, found))
            if blobs:
                self.blobs += ((stream, head + 1 + index, blob) for index, blob in blobs)

    def _extend(self, draft: Draft, pending: Pending, now: int) -> None:
        """Put all events of *pending* at the end of *draft*."""
        stream, events, _, at, *_ = pending
        first, count = stream.assigned + 1, len(events)
        stream.assigned += count
        times = at or (now,) * count
        draft.times += times
        draft.lines += map(line, range(first, first + count), times, events)

    def acknowledge(self) -> None:
        """Tell everyone what was recorded, and where: it is durable."""
        for stream, draft in self.drafts.items():
            stream.extend(draft.start + 1, draft.lines)
        for pending, first in zip(self.accepted, self.firsts, strict=True):
            outcome = pending.outcome
            if not outcome.done():
                # what Span(…) does, in half the time
                outcome.set_result(tuple.__new__(Span, (first, first + len(pending.events) - 1)))

    def statements(self, checksum: Checksum) -> Iterator[Statement]:
        """Yield what to execute: a single statement unless the list of sessions changes."""
        yield from self._new_sessions()
        known = all(stream.row is not None for stream in self.drafts)
        row = _BATCH_ROW if known else _NEW_ROW
        yield from _inserts(_BATCH, row, list(self._rows(checksum, known=known)))
        for sql, change in _CHANGES.items():
            if rows := [row for stream, found in self.changes for row in change(stream, found)]:
                yield Statement(sql, rows, many=True)
        if self.blobs:
            rows = [[hash_of(blob.ref), len(blob.body), blob.body] for *_, blob in self.blobs]
            yield Statement(_BLOB, rows, many=True)
            rows = [[hash_of(blob.ref), seq, stream.key] for stream, seq, blob in self.blobs]
            yield Statement(_BLOB_REF, rows, many=True)

    def _new_sessions(self) -> Iterator[Statement]:
        new = [item for item in self.drafts.items() if not item[0].listed]
        for stream, _ in new:
            stream.listed = True  # whatever is formed from now on stands behind this commit
        return _inserts(_SESSION, "(?,?)", [[stream.key, draft.times[0]] for stream, draft in new])

    def _rows(self, checksum: Checksum, *, known: bool) -> Iterator[Sequence[Any]]:
        for stream, draft in self.drafts.items():
            session = stream.row if known else stream.key
            sealer = Sealer(stream.key, checksum)
            if len(draft.lines) == 1:
                yield session, *sealer.seal_one(draft.start + 1, draft.times[0], draft.lines[0])
                continue
            for batch in sealer.seal(draft.start + 1, draft.times, draft.lines):
                yield session, *batch

    def identify(self, database: sqlite3.Connection) -> None:
        """Learn the ids of sessions that are new; a later commit is cheaper by it."""
        for stream in self.drafts:
            if stream.row is None:
                for (row,) in database.execute(_ID, (stream.key,)):
                    stream.row = row


def form(waiting: Iterable[Pending], now: int) -> Commit:
    """Return *waiting* as one transaction, without those that expected another head."""
    commit = Commit()
    commit.fill(waiting, now)
    return commit


def _inserts(head: str, row: str, rows: Sequence[Sequence[Any]]) -> Iterator[Statement]:
    start = 0
    while left := len(rows) - start:
        count = left if left <= _FEW else min(_ROWS, 1 << left.bit_length() - 1)
        part = rows[start : start + count]
        yield Statement(_many(head, row, count), list(chain.from_iterable(part)))
        start += count


@lru_cache(maxsize=96)
def _many(head: str, row: str, count: int) -> str:
    return f"{head} {','.join([row] * count)}"


def _titles(stream: Stream, found: Listing) -> list[list[Any]]:
    return [] if found.title is None else [[found.title, stream.key]]


def _openings(stream: Stream, found: Listing) -> list[list[Any]]:
    return [] if found.opened is None else [[codec.dumps(found.opened), stream.key]]


def _aliases(stream: Stream, found: Listing) -> list[list[Any]]:
    return [[scope, alias, stream.key] for scope, alias in found.aliases]


_CHANGES: Final[dict[str, Callable[[Stream, Listing], list[list[Any]]]]] = {
    "update session set title = nullif(?, '') where key = ?": _titles,
    "update session set meta = coalesce(meta, ?) where key = ?": _openings,
    "insert or ignore into alias select ?, ?, id from session where key = ?": _aliases,
}
"""What may change in the list of sessions: how, and with what."""
