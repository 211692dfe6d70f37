"""What is known in memory of a session in use.

Above this module: `look`, `reader`, `writer`, `leases`. Below it: `stored`, `tail`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from eventlog import codec
from eventlog.event import SessionId
from eventlog.jetstream.link import Message
from eventlog.jetstream.row import Row
from eventlog.jetstream.stored import Stored, stored
from eventlog.tail import Tail

if TYPE_CHECKING:
    from eventlog.jetstream.draft import Pending


class Claim(NamedTuple):
    """What is stored of who may write a session: which process, its name; nobody if empty."""

    process: str
    owner: str

    def body(self) -> bytes:
        """Return it as it is stored."""
        return codec.dumps({"process": self.process, "owner": self.owner})

    @classmethod
    def of(cls, body: bytes) -> Claim:
        """Read it."""
        found = codec.loads(body)
        return cls(found["process"], found["owner"])


FREE = Claim("", "")


class Looking:
    """A look at a session that is under way, for all who want to see it."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.error: Exception | None = None


class Unreadable(Exception):
    """The last message of a session does not say where the session ends."""


@dataclass(slots=True, eq=False)
class Session:
    """A session in use. What is known of it is as of *as_of* in the stream, or later."""

    key: SessionId
    as_of: int = -1
    end: Stored | None = None
    """The last message of its events, a fence perhaps."""
    row: Row = field(default_factory=Row)
    """What that message says beside them."""
    claim: Claim = FREE
    claim_at: int = 0
    held: bool = False
    """Whether this process has acquired it, and has not seen that it lost it."""
    was_held: bool = False
    """Whether it has lost it, and not acquired it again."""
    tail: Tail | None = None
    places: dict[int, int] = field(default_factory=dict)
    """Where some of its batches are in the stream, by their first numbers."""
    queue: deque[Pending] = field(default_factory=deque)
    busy: bool = False
    """Whether something writes what stands in the queue."""
    looking: Looking | None = None
    """A look that is under way."""
    _grown: anyio.Event | None = None

    @property
    def head(self) -> int:
        """The number of the last event."""
        return max(self.end.last if self.end else 0, self.floor)

    @property
    def floor(self) -> int:
        """Pruned up to and including this one."""
        return self.row.floor

    @property
    def end_at(self) -> int:
        """The stream's number of the last message of its events."""
        return self.end.at if self.end else 0

    @property
    def is_there(self) -> bool:
        """Whether there are events, or were some that left a base."""
        return self.head > self.floor or self.row.base is not None

    def see(self, messages: Sequence[Message], as_of: int, parts: Mapping[str, str]) -> None:
        """Take what was found of it when the stream ended at *as_of*.

        *parts* says which subject is which part. Older news than is known changes nothing.

        Raises:
            Unreadable: its last message is none of ours.

        """
        if as_of <= self.as_of:
            return
        found = {parts[one.subject]: one for one in messages if one.subject in parts}
        head = self.head
        if self.end_at <= as_of:
            self._see_end(found.get("evt"))
        if self.claim_at <= as_of:
            claim = found.get("lease")
            self.claim, self.claim_at = (Claim.of(claim.body), claim.seq) if claim else (FREE, 0)
        self.as_of = as_of
        if self.head > head:
            self.wake()

    def _see_end(self, message: Message | None) -> None:
        if message is None or message.seq != self.end_at:
            self.tail = None  # what others wrote is not in it
        known = message and stored(message)
        if message and known is None:
            raise Unreadable(f"message {message.seq} of the stream does not say what it holds")
        row = Row.of(known.row) if known else Row()
        if row.apart and row.apart == self.row.apart:
            row = replace(row, title=self.row.title, opened=self.row.opened)
        self.end, self.row = known or None, row

    def extend(self, end: Stored, first: int, lines: Sequence[bytes]) -> None:
        """Note that *lines* are durable, the last of them in *end*."""
        if self.end_at > end.at:
            self.wake()  # others have gone on from there, and were seen first
            return
        waited = self._grown is not None
        if waited or self.tail is not None:
            self.tail = self.tail or Tail()
            if not self.tail.add(first, lines, wanted=waited):
                self.tail = None
        self.end = end
        self.wake()

    def note(self, first: int, at: int) -> None:
        """Remember where a batch is, of some batches at most."""
        if len(self.places) >= _PLACES:
            for known in sorted(self.places)[1::2]:
                del self.places[known]
        self.places[first] = at

    def forget(self) -> None:
        """Believe nothing any more."""
        self.as_of, self.tail = -1, None
        self.places.clear()

    def lines_after(
        self, cursor: int, limit: int, limit_bytes: int | None
    ) -> Sequence[bytes] | None:
        """Return the lines that follow *cursor* if they are in memory."""
        if self.tail is None or self.end is None or self.tail.last != self.end.last:
            return None
        return self.tail.after(cursor, limit, limit_bytes)

    def growing(self) -> anyio.Event:
        """Return what is set when something is stored, or was perhaps."""
        self._grown = self._grown or anyio.Event()
        return self._grown

    def wake(self) -> None:
        """Wake everyone who waits for this session."""
        if self._grown is not None:
            self._grown.set()
            self._grown = None


_PLACES = 512
