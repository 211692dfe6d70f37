"""How much may wait to be written: bounded in bytes, so that whoever brings more waits outside.

Above this module: `writer`. Below it: nothing.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections import deque
from typing import Final

LIMIT: Final = 4 * 1024 * 1024
"""Bytes of events that may wait."""


class Room:
    """Lets in as much as there is room for, in the order of coming."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._taken = 0
        self._outside: deque[tuple[int, Future[None]]] = deque()

    def fits(self, size: int) -> bool:
        """Take room for *size* bytes if there is some and nobody waits; whether there was.

        What is larger than all of it fits when it is empty.
        """
        if self._outside or (self._taken and self._taken + size > self._limit):
            return False
        self._taken += size
        return True

    async def enter(self, size: int) -> None:
        """Take room for *size* bytes once it is there."""
        turn: Future[None] = get_running_loop().create_future()
        self._outside.append((size, turn))
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.leave(size)  # it was let in, and went away at the same moment
            raise

    def leave(self, size: int) -> None:
        """Give room back, and let in who waits."""
        self._taken -= size
        while self._outside:
            wanted, turn = self._outside[0]
            if not turn.done():
                if self._taken and self._taken + wanted > self._limit:
                    return
                self._taken += wanted
                turn.set_result(None)
            self._outside.popleft()
