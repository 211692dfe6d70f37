"""What waits to be committed: appends in the order of their coming, bounded in bytes.

Above this module: `writer`. Below it: `heads`.
"""

from __future__ import annotations

from asyncio import Future
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from eventlog.blobs import Blob
from eventlog.event import Event, Span
from eventlog.listing import Listing
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
    """A queue that one task empties at a stroke."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: deque[Pending] = deque()
        self._bytes = 0
        self._turn = anyio.Lock(fast_acquire=True)  # first come, first served
        self._crowded = 0
        """How many wait outside."""
        self._arrived = anyio.Event()
        self._emptied = anyio.Event()
        self._closed = False

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

    def _fits(self, size: int) -> bool:
        return not self._bytes or self._bytes + size <= self._limit

    def _add(self, pending: Pending) -> None:
        if not self._waiting:
            self._arrived.set()
        self._waiting.append(pending)
        self._bytes += pending.size

    async def take(self) -> list[Pending]:
        """Wait for something to come, then return all of it; nothing once closed and empty."""
        while not (self._waiting or self._closed):
            self._arrived = anyio.Event()
            await self._arrived.wait()
        taken = [pending for pending in self._waiting if not pending.outcome.done()]
        self._waiting.clear()
        self._bytes = 0
        if self._crowded:
            self._emptied.set()
            self._emptied = anyio.Event()
        return taken

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left and nothing more will come."""
        return self._closed and not self._waiting

    def close(self) -> None:
        """Take nothing more in; what waits is still there to be taken."""
        self._closed = True
        self._arrived.set()
        self._emptied.set()
