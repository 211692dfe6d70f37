"""What is known in memory of the sessions in use: where each one ends (S-2).

Above this module: `intake`, `writer`, `store`. Below it: `tail`, the reading connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import aiosqlite
import anyio

from eventlog.event import SessionId, valid_session_id
from eventlog.sqlite.extent import EXTENT
from eventlog.tail import Tail


@dataclass(slots=True, eq=False)
class Stream:
    """A session in use."""

    key: SessionId
    listed: bool
    """Whether it has a row in the table `session`, or a commit under way makes one."""
    head: int
    """The last number that is durable."""
    assigned: int
    """The last number given out; beyond *head* only while commits run."""
    row: int | None = None
    """The id of its row; None while nobody has looked."""
    floor: int = 0
    """Pruned up to and including this one."""
    tail: Tail | None = None
    _grown: anyio.Event | None = None

    async def grow(self) -> None:
        """Wait until the next batch is durable, or the store closes."""
        self._grown = self._grown or anyio.Event()
        await self._grown.wait()

    def extend(self, first: int, lines: Sequence[bytes]) -> None:
        """Note that *lines* are durable, keep them for those who follow, and wake these."""
        self.head = first + len(lines) - 1
        waited = self._grown is not None
        if waited or self.tail is not None:
            self.tail = self.tail or Tail()
            if not self.tail.add(first, lines, wanted=waited):
                self.tail = None
        self.wake()

    def cut(self, floor: int) -> None:
        """Note that the session was pruned up to *floor*."""
        self.floor = floor
        self.tail = None

    def wake(self) -> None:
        """Wake everyone who waits for this session."""
        if self._grown is not None:
            self._grown.set()
            self._grown = None


class Heads:
    """The sessions in use, each read from disk when it is first asked for."""

    def __init__(self, database: aiosqlite.Connection) -> None:
        self._database = database
        self._streams: dict[SessionId, Stream] = {}
        self.known: Final = self._streams.get
        """The session of that key, or None if it is not in memory yet."""

    async def stream(self, key: SessionId) -> Stream:
        """Return the session *key*, which may have no events yet.

        Raises:
            InvalidSessionId: *key* has not the form of one; nothing was looked up (P-25).

        """
        row, floor, end = await self._end(valid_session_id(key))
        fresh = Stream(key, row is not None, end, end, row, floor)
        return self._streams.setdefault(key, fresh)

    async def reload(self, streams: Iterable[Stream]) -> None:
        """Believe the disk again, after a commit that failed."""
        for stream in streams:
            stream.row, stream.floor, end = await self._end(stream.key)
            stream.listed = stream.row is not None
            stream.head = stream.assigned = end

    def wake_all(self) -> None:
        """Wake everyone who waits for any session."""
        for stream in self._streams.values():
            stream.wake()

    async def _end(self, key: SessionId) -> tuple[int | None, int, int]:
        """Return the id of a session's row, if it has one, its floor, and where it ends."""
        for row, floor, end in await self._database.execute_fetchall(EXTENT, (key,)):
            return row, floor, end
        return None, 0, 0
