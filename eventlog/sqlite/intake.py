"""What waits to be committed: appends in the order of their coming, bounded in bytes.

Above this module: `writer`. Below it: `batch`, `heads`.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from eventlog.blobs import Blob
from eventlog.event import Event, Span
from eventlog.listing import Listing
from eventlog.sqlite.batch import MAX_BYTES, MAX_EVENTS
from eventlog.sqlite.heads import Stream

LIMIT: Final = 4 * 1024 * 1024
"""Bytes of events that may wait; whoever brings more waits outside."""


@dataclass(slots=True, eq=False)
class Pending:
    """One call of `append`. It is withdrawn by cancelling *outcome* before it is taken."""

    stream: Stream
    events: Sequence[Event]
    expected: int | None
    at: Sequence[int] | None
    outcome: Future[Span]
    size: int
    """About as many bytes as the lines will have."""
    found: Listing | None
    """What changes in the list of sessions."""
    blobs: Sequence[tuple[int, Blob]] = ()
    """What was taken out of the events (P-34), each with the index of its event."""


class Closed(Exception):
    """Nothing more is taken in."""


class Intake:
    """A queue that is emptied at a stroke, while at most one other commit is under way.

    While one is, what waits is only taken if it is full: it would otherwise make two small
    commits of what could be one (S-1).
    """

    def __init__(self, limit: int = LIMIT, full: int = MAX_EVENTS) -> None:
        self._limit = limit
        self._full = full
        self._waiting: list[Pending] = []
        self._events = 0
        self._bytes = 0
        self._turn = anyio.Lock(fast_acquire=True)  # first come, first served
        self._crowded = 0
        """How many wait outside."""
        self._taking = anyio.Lock(fast_acquire=True)
        self._due = anyio.Event()
        self._emptied = anyio.Event()
        self._closed = False
        self._held = False
        self.under_way = 0
        """Commits of what was taken that have not ended."""

    def offer(self, pending: Pending) -> bool:
        """Add *pending* if there is room and nobody waits for some; whether it was added."""
        if self._crowded or self._closed or not self._fits(pending.size):
            return False
        self._add(pending)
        return True

    async def put(self, pending: Pending) -> None:
        """Add *pending* once there is room for it; a larger one than the limit needs all of it.

        Raises:
            Closed: the intake was closed before.

        """
        self._crowded += 1
        try:
            async with self._turn:
                while not (self._closed or self._fits(pending.size)):
                    await self._emptied.wait()
                if self._closed:
                    raise Closed
                self._add(pending)
        finally:
            self._crowded -= 1

    async def take(self) -> list[Pending]:
        """Wait until it is time for another commit, then return all that waits, for it.

        Nothing once closed and empty. `ended` has to be called once for each that is taken.
        """
        async with self._taking:
            while not self._is_due():
                self._due = anyio.Event()
                await self._due.wait()
            taken, self._waiting = self._waiting, []
            self._events = self._bytes = 0
            if self._crowded:
                self._emptied.set()
                self._emptied = anyio.Event()
            self.under_way += bool(taken)
            return taken

    def ended(self) -> None:
        """Note that a commit has ended."""
        self.under_way -= 1
        self._look()

    def hold(self, *, on: bool) -> None:
        """Let nothing be taken for a while: something has to be set right first."""
        self._held = on
        self._look()

    def close(self) -> None:
        """Take nothing more in; what waits is still there to be taken."""
        self._closed = True
        self._due.set()
        self._emptied.set()

    def drain(self) -> list[Pending]:
        """Return what waits, for no commit."""
        taken, self._waiting = self._waiting, []
        return taken

    def _fits(self, size: int) -> bool:
        return not self._bytes or self._bytes + size <= self._limit

    def _add(self, pending: Pending) -> None:
        self._waiting.append(pending)
        self._events += len(pending.events)
        self._bytes += pending.size
        if len(self._waiting) == 1 or self.under_way:
            self._look()

    def _look(self) -> None:
        if self._is_due():
            self._due.set()

    def _is_due(self) -> bool:
        if self._held:
            return False
        if not self._waiting:
            return self._closed
        full = self._events >= self._full or self._bytes >= MAX_BYTES
        return not self.under_way or (self.under_way == 1 and full)
