"""What waits to be committed: appends in the order of their coming, bounded in bytes.

Above this module: `writer`. Below it: `batch`, `heads`.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

import anyio

from eventlog.batch import MAX_BYTES, MAX_EVENTS
from eventlog.blobs import Blob
from eventlog.event import Event, Span
from eventlog.listing import Listing
from eventlog.sqlite.heads import Stream

LIMIT: Final = 4 * 1024 * 1024
"""Bytes of events that may wait; whoever brings more waits outside."""


class Pending(NamedTuple):
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
    """A queue of which all is taken for the next commit, or half of it where that is enough.

    While a commit is under way, what waits is only taken if it is a full batch: it would otherwise
    make two small commits of what could be one (S-1). Where more than a full batch waits, half of
    it is left for the commit behind, which is formed while the first is at the disk.
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
        self._idle: deque[Future[None]] = deque()
        """Who waits to take something."""
        self._called = False
        """Whether one of them has been called and has not looked yet."""
        self._emptied = anyio.Event()
        self._closed = False
        self._held = False
        self.under_way = 0
        """Commits of what was taken that have not ended."""

    def offer(self, pending: Pending) -> bool:
        """Add *pending* if there is room and nobody waits for some; whether it was added."""
        # the same as `_fits` and `_add`, without the calls: every append comes by here
        size = self._bytes + pending.size
        if self._crowded or self._closed or (size > self._limit and self._bytes):
            return False
        self._waiting.append(pending)
        self._events += len(pending.events)
        self._bytes = size
        if self._idle and not self._called and self._is_due():
            self._call()
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
        """Wait until it is time for another commit, then return what is to go into it.

        Nothing once closed and empty. `ended` has to be called once for each that is taken.
        """
        while not self._is_due():
            idle = get_running_loop().create_future()
            self._idle.append(idle)
            await idle
            self._called = False
        taken = self._split()
        if self._crowded:
            self._emptied.set()
            self._emptied = anyio.Event()
        if taken:
            self.under_way += 1
        if self._is_due():  # for the other one, too: it takes what is left, or has to end
            self._call()
        return taken

    def ended(self) -> None:
        """Note that a commit has ended, and was answered.

        Who takes what comes next is called at once: it looks when those who were answered have
        had their turn, and may have brought something again.
        """
        self.under_way -= 1
        self._call()

    def hold(self, *, on: bool) -> None:
        """Let nothing be taken for a while: something has to be set right first."""
        self._held = on
        self._call()

    def close(self) -> None:
        """Take nothing more in; what waits is still there to be taken."""
        self._closed = True
        self._call()
        self._emptied.set()

    def drain(self) -> list[Pending]:
        """Return what waits, for no commit."""
        taken, self._waiting = self._waiting, []
        return taken

    def _split(self) -> list[Pending]:
        """Take what goes into the next commit out of what waits."""
        count = self._enough() if self._is_full() else len(self._waiting)
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        self._events = sum(len(pending.events) for pending in self._waiting)
        self._bytes = sum(pending.size for pending in self._waiting)
        return taken

    def _enough(self) -> int:
        """Return how many of those that wait bring half of it all, and at least a full batch."""
        events, size = max(self._full, self._events // 2), max(MAX_BYTES, self._bytes // 2)
        for count, pending in enumerate(self._waiting, 1):
            events -= len(pending.events)
            size -= pending.size
            if events <= 0 or size <= 0:
                return count
        return len(self._waiting)

    def _is_full(self) -> bool:
        """Whether what waits is worth a commit of its own beside one that is under way."""
        return self._events >= self._full or self._bytes >= MAX_BYTES

    def _fits(self, size: int) -> bool:
        return not self._bytes or self._bytes + size <= self._limit

    def _add(self, pending: Pending) -> None:
        self._waiting.append(pending)
        self._events += len(pending.events)
        self._bytes += pending.size
        if self._idle and not self._called and self._is_due():
            self._call()

    def _call(self) -> None:
        """Let one who waits look whether it is time."""
        if self._idle and not self._called:
            self._called = True
            self._idle.popleft().set_result(None)

    def _is_due(self) -> bool:
        if self._held:
            return False
        if not self._waiting:
            return self._closed
        return not self.under_way or (self.under_way == 1 and self._is_full())
