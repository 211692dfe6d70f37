"""Appends that wait, and what a session is to gain of them at once.

Above this module: `writer`. Below it: `event`, `listing`.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eventlog.blobs import Blob
from eventlog.event import Event, Seq, Span, line
from eventlog.listing import Listing


@dataclass(slots=True, eq=False)
class Pending:
    """One call of `append`. It is withdrawn by cancelling *outcome* before it is taken."""

    events: Sequence[Event]
    expected: int | None
    at: Sequence[int] | None
    blobs: Sequence[tuple[int, Blob]]
    found: Listing | None
    size: int
    outcome: Future[Span]


@dataclass(slots=True)
class Draft:
    """What a session is to gain: the lines after *start*."""

    start: int
    follows: int
    """The stream's number of what was the session's end."""
    accepted: list[tuple[Pending, Span]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    blobs: list[tuple[int, Blob]] = field(default_factory=list)
    changes: list[Listing] = field(default_factory=list)
    size: int = 0

    @property
    def last(self) -> int:
        """The last number given out."""
        return self.start + len(self.lines)

    def take(self, pending: Pending, now: int) -> None:
        """Give *pending* the next numbers."""
        head = self.last
        times = pending.at or [now] * len(pending.events)
        self.times += times
        self.lines += map(line, range(head + 1, head + 1 + len(times)), times, pending.events)
        self.accepted.append((pending, Span(Seq(head + 1), Seq(self.last))))
        self.blobs += ((head + 1 + index, blob) for index, blob in pending.blobs)
        self.size += pending.size
        if pending.found is not None:
            self.changes.append(pending.found)


def errs(queue: Iterable[Pending], head: int) -> bool:
    """Whether somebody expects another head than *head*, which was seen last.

    He may know better, and is told of the one there is.
    """
    for pending in queue:
        if pending.expected not in {None, head}:
            return True
        head += len(pending.events)
    return False
