"""A client's side of one session: its cursor, its transcript, and the rule of n + 1.

Above this module: `client`. Below it: `replay`. No I/O: it is told, and says what to do next.

An event is applied once, in order (protocol §10): a lower number is a duplicate, a higher one a
gap, after which the client subscribes again from where it stands. The cursor moves when an event
has been applied, not when it has arrived.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from enum import Enum
from typing import Any, Final

import anyio

from eventlog import START, Envelope, Seq, SessionId
from replay import Fold, Transcript, load

ROOM: Final = 8 << 20
"""Bytes of events that may wait for a large string."""

Seen = Callable[[Envelope, bool], None]
"""Hears every event once, in order; the second argument is whether it is live (R008, R020)."""


class Verdict(Enum):
    """What became of an event."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    GAP = "gap"


class Parked:
    """Events and borders in their order; what is beyond *room* bytes is let go, to come again."""

    def __init__(self, room: int = ROOM) -> None:
        self.overflowed = False
        self._room = room
        self._items: deque[tuple[Envelope | int, int]] = deque()
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    def put(self, item: Envelope | int, size: int = 0) -> None:
        """Let an event of *size* bytes, or the border that is told of with a number, wait."""
        self.overflowed = self.overflowed or (bool(self._items) and self._size + size > self._room)
        if not self.overflowed:
            self._items.append((item, size))
            self._size += size

    def first(self) -> Envelope | int:
        """Return what has waited longest."""
        return self._items[0][0]

    def drop_first(self) -> None:
        """Let it go."""
        _, size = self._items.popleft()
        self._size -= size

    def clear(self) -> None:
        """Let everything go: it will come again."""
        self._items.clear()
        self._size, self.overflowed = 0, False


class Follower:
    """One session, as far as this client knows it."""

    def __init__(
        self,
        session_id: SessionId,
        *,
        after: int = START,
        epoch: str | None = None,
        seen: Seen = lambda _envelope, _live: None,
    ) -> None:
        self.session_id = session_id
        self.seq = Seq(after)
        self.epoch = epoch
        self.caught_up = False
        """Whether everything that was recorded when we last subscribed has been applied."""
        self.subscribing = False
        """A subscribe is on its way: what does not fit yet will come again."""
        self.resets = 0
        """How often the client had to start from a snapshot."""
        self.gone: str | None = None
        """Why there is nothing to follow any more: it was deleted, or is refused."""
        self.parked = Parked()
        """What came and waits for a large string that stands before it."""
        self._seen = seen
        self._version = 0
        self._fold = Fold(Transcript(session=session_id))
        self._changed = anyio.Event()

    @property
    def transcript(self) -> Transcript:
        """The session as far as it has been applied."""
        return self._fold.transcript()

    def hear(self, envelope: Envelope) -> Verdict:
        """Apply an event if it is the next one."""
        seq = envelope["seq"]
        if seq <= self.seq:
            return Verdict.DUPLICATE
        if seq != self.seq + 1 and not _bridges(envelope, self.seq):
            return Verdict.GAP
        self._fold.apply(envelope)
        self.seq = seq
        self._seen(envelope, self.caught_up)
        self._wake()
        return Verdict.APPLIED

    def reached(self, seq: int) -> None:
        """Hear that history ends at *seq* (P-19)."""
        self.caught_up = self.caught_up or seq <= self.seq
        self._wake()

    def lose(self, why: str) -> None:
        """Hear that there is nothing to follow any more."""
        self.gone = why
        self._wake()

    def replace(self, transcript: dict[str, Any], epoch: str) -> None:
        """Go on from a snapshot, since the events up to it are not to be had (P-16)."""
        self._fold = Fold(load(transcript))
        self.seq = Seq(self._fold.seq)
        self.epoch = epoch
        self.resets += 1
        self._wake()

    def begin_anew(self, records: Iterable[Envelope], epoch: str) -> None:
        """Go on from what *records* tell of the whole session, numbered by this client (R056)."""
        self.resets += self.epoch is not None
        self._fold = Fold(Transcript(session=self.session_id))
        for record in records:
            self._fold.apply(record)
        self.seq = Seq(self._fold.seq)
        self.epoch = epoch
        self._wake()

    async def until(self, met: Callable[[Follower], bool]) -> None:
        """Return once *met* is true of this follower."""
        while not met(self):
            await self._changed.wait()

    async def __aiter__(self) -> AsyncIterator[Transcript]:
        """Yield the transcript whenever it has changed; several events may be one change."""
        shown = -1
        while True:
            while self._version == shown:
                await self._changed.wait()
            shown = self._version
            yield self.transcript

    def _wake(self) -> None:
        self._version += 1
        self._changed.set()
        self._changed = anyio.Event()


def _bridges(envelope: Envelope, seq: int) -> bool:
    """Whether this says itself that everything between *seq* and it is lost (S-6)."""
    return envelope["type"] == "log.gap" and envelope["payload"].get("first") == seq + 1
