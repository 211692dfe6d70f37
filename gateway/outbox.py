"""What waits to be sent to one peer: bounded, in order, and never longer than a peer deserves.

Above this module: `Peer`. Below it: a `Transport`.

Events wait until there is room, so that whoever reads them from the log reads only as fast as
they leave; answers and requests do not wait. A peer that takes nothing is given up (P-20).
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Awaitable, Callable
from math import inf
from typing import Final

import anyio

from gateway.errors import TooSlow

ROOM: Final = 1 << 20
"""Bytes that may wait before a further event has to."""

URGENT_ROOM: Final = 4 << 20
"""Bytes of answers and requests that may wait before the peer is given up."""

PATIENCE: Final = 30.0
"""Seconds in which a peer must take at least one byte of what waits for it."""


class Outbox:
    """A queue of frames, counted in bytes. A frame counts until it has left."""

    def __init__(
        self, *, room: int = ROOM, urgent_room: int = URGENT_ROOM, patience: float = PATIENCE
    ) -> None:
        self._room = room
        self._urgent_room = urgent_room
        self._patience = patience
        self._frames: deque[tuple[bytes, bool]] = deque()
        self._waiting = 0
        self._urgent = 0
        self._leaving = 0
        """Bytes of the answer that is on its way out."""
        self._left = 0
        self._closed = False
        self._changed = anyio.Event()
        self._watchers = 0
        self._overrun = anyio.Event()
        self._turn = anyio.Lock()
        self._at_once: Callable[[bytes], bool] = _never

    @classmethod
    def patient(cls) -> Outbox:
        """Return one for a peer that is never given up, as an agent is not: it is ours."""
        return cls(urgent_room=sys.maxsize, patience=inf)

    @property
    def waiting(self) -> int:
        """Bytes that have not left yet."""
        return self._waiting

    @property
    def closed(self) -> bool:
        """Whether nothing will ever be sent again."""
        return self._closed

    async def put(self, frame: bytes) -> None:
        """Queue an event, as soon as there is room and everyone who asked before had theirs.

        A frame larger than all the room waits until it can stand alone.
        """
        if self.put_at_once(frame):
            return
        if not self._turn.locked() and self._fits(frame):
            self._add(frame, urgent=False)
            return
        async with self._turn:
            while not self._fits(frame):
                await self._change()
            self._add(frame, urgent=False)

    def put_at_once(self, frame: bytes) -> bool:
        """Send a frame if nothing waits, here or in the line; return whether that was so."""
        if self._frames or self._turn.locked() or not self._at_once(frame):
            return False
        self._left += 1
        return True

    def put_now(self, frame: bytes) -> None:
        """Queue an answer or a request. One alone may have any size; what waits behind it may not."""
        if self.put_at_once(frame):
            return
        if self._urgent and self._urgent - self._leaving + len(frame) > self._urgent_room:
            self._overrun.set()
        else:
            self._add(frame, urgent=True)

    async def drain(
        self,
        send: Callable[[bytes], Awaitable[None]],
        at_once: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Send what comes, for ever, one frame after the other.

        Where nothing waits, what comes is sent *at_once* if that can be: a frame less to call for.
        """
        self._at_once = at_once or _never
        while True:
            while not self._frames:
                await self._change()
            frame, urgent = self._frames[0]
            self._leaving = len(frame) if urgent else 0
            await send(frame)
            self._leaving = 0
            self._frames.popleft()
            self._waiting -= len(frame)
            self._urgent -= len(frame) if urgent else 0
            self._left += 1
            self._wake()

    async def quiet(self) -> None:
        """Return once no answer and no request waits, so that one of any size may be queued."""
        while self._urgent and not self._closed:
            await self._change()

    async def emptied(self) -> None:
        """Return once everything has left."""
        while self._frames and not self._closed:
            await self._change()

    async def stalled(self, taken: Callable[[], int]) -> TooSlow:
        """Return once the peer has to be given up. *taken* counts bytes that left, or is 0."""
        mark, since = (0, 0), anyio.current_time()
        while not self._overrun.is_set():
            now = (self._left, taken())
            if not self._frames or now != mark:
                mark, since = now, anyio.current_time()
            elif anyio.current_time() - since >= self._patience:
                return TooSlow(self._waiting, f"no byte was taken for {self._patience:g} s")
            with anyio.move_on_after(self._patience / 8):
                await self._overrun.wait()
        return TooSlow(self._waiting, f"answers and requests passed {self._urgent_room} bytes")

    def close(self) -> None:
        """Forget what waits, and take no more."""
        self._closed = True
        self._at_once = _never
        self._frames.clear()
        self._waiting = self._urgent = self._leaving = 0
        self._wake()

    def _add(self, frame: bytes, *, urgent: bool) -> None:
        if self._closed:
            return
        self._frames.append((frame, urgent))
        self._waiting += len(frame)
        self._urgent += len(frame) if urgent else 0
        self._wake()

    def _fits(self, frame: bytes) -> bool:
        return not self._waiting or self._closed or self._waiting + len(frame) <= self._room

    async def _change(self) -> None:
        self._watchers += 1
        try:
            await self._changed.wait()
        finally:
            self._watchers -= 1

    def _wake(self) -> None:
        if self._watchers:  # making an event costs more than sending a frame
            self._changed.set()
            self._changed = anyio.Event()


def _never(_: bytes) -> bool:
    return False
