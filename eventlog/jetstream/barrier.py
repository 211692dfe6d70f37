"""How far the stream goes now: what makes reading see everything that was acknowledged before.

Above this module: `look`. Below it: `link`, `timing`.

Any server may answer a read, also one that lags behind, was cut off, or believes that it leads
and does not: one that was stopped and wakes up, one whose answers came late. No server can say of
itself that it leads. So a reader first stores a mark, which is nothing but a message in the place
of the one before: a majority has to take it, behind all that was acknowledged, and where it stands
is how far an answer has to go. Readers who come while one mark is under way share the next.

One server alone has nobody to ask, and says where its stream ends. So does, while a log is full
and takes no mark, a leader that has heard from a majority within a time in which the others elect
no new one, which is nearly as good.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, Final, NamedTuple

import anyio

from eventlog.jetstream.codes import FULL
from eventlog.jetstream.link import ATTEMPT, Link, Refused, Silent, answered
from eventlog.jetstream.stored import ROLLUP
from eventlog.jetstream.subjects import Subjects
from eventlog.jetstream.timing import left, until

HEARD: Final = 2.5
"""Seconds; servers elect a new leader when they have heard nothing for at least four."""

_SOON: Final = 1.0
"""Seconds that who leads may take to say so: less than it sleeps if others replace it."""

_AGAIN: Final = 0.1
"""Seconds between two questions while there is no leader."""


_LIMIT: Final = "maximum"
"""What servers say of a stream that has all that its settings allow; of a disk, they do not."""


class Quiet(NamedTuple):
    """Nothing but marks was stored after *since*, up to *until*."""

    since: int
    until: int


class _Round:
    """One question, and all who wait for its answer."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.seq: int | None = None
        self.error: Exception | None = None


class Barrier:
    """Finds out how far the stream goes."""

    def __init__(self, link: Link, *, copies: int) -> None:
        self._link = link
        self._mark = Subjects(link.stream).mark
        self._copies = copies
        self._turn = anyio.Lock(fast_acquire=True)
        self._coming: _Round | None = None
        self._refused_since = inf
        """When a mark was refused for want of room, if none has been taken since."""
        self.quiet = Quiet(0, 0)
        """What was seen at *since* is still so."""

    async def current(self) -> int:
        """Return the stream's last number, at or after the call.

        Raises:
            LogUnavailable: no majority has been found within the deadline.

        """
        while True:
            if (shared := self._coming) is None:
                return await self._lead()
            await shared.answered.wait()
            if shared.error is not None:
                raise shared.error
            if shared.seq is not None:
                return shared.seq

    async def _lead(self) -> int:
        mine = self._coming = _Round()
        try:
            async with self._turn:
                self._coming = None  # who comes now has come too late for this question
                mine.seq = await self._ask()
                return mine.seq
        except Exception as error:
            mine.error = error
            raise
        finally:
            if self._coming is mine:
                self._coming = None
            mine.answered.set()

    async def _ask(self) -> int:
        end = until(self._link.address.deadline)
        reason = "no leader"
        while anyio.current_time() < end:
            try:
                seq = await (self._marked() if self._copies > 1 else self._told())
            except (Silent, Refused) as error:
                reason = str(error)
            else:
                self._link.served()
                return seq
            await self._link.useless()
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable(f"it cannot be read at present: {reason}")

    async def _marked(self) -> int:
        """Store a mark; a majority has it, and no answer comes before."""
        said = {ROLLUP: "sub"}
        answer = await self._link.ask(self._mark, headers=said, within=left(ATTEMPT))
        try:
            seq = int(answered(answer.data)["seq"])
        except Refused as refused:
            if self._is_full(refused):
                return await self._told()
            raise
        self._refused_since = inf
        self._note(seq, quiet=seq == self.quiet.until + 1)
        return seq

    def _is_full(self, refused: Refused) -> bool:
        """Whether it is the log that is full, not the disk of one server that led it just now."""
        if refused.code not in FULL:
            return False
        now = anyio.current_time()
        self._refused_since = min(self._refused_since, now)
        return _LIMIT in str(refused) or now - self._refused_since > HEARD

    async def _told(self) -> int:
        """Ask who leads."""
        found = await self._link.api(f"STREAM.INFO.{self._link.stream}", within=_SOON)
        if not leads(found.get("cluster") or {}):
            raise Silent("its leader does not hear the other servers")
        seq = int(found["state"]["last_seq"])
        if seq < self.quiet.until:
            raise Silent("its leader does not know what a majority has")
        self._note(seq, quiet=seq == self.quiet.until)
        return seq

    def _note(self, seq: int, *, quiet: bool) -> None:
        self.quiet = Quiet(self.quiet.since if quiet else seq, seq)


def leads(found: Mapping[str, Any]) -> bool:
    """Whether who says so leads, and hears enough of the others to do so still.

    Without a leader a server that follows answers as well; what it never heard of it calls 0.
    """
    if not found.get("leader"):
        return False
    others = found.get("replicas") or []
    heard = [one for one in others if 0 < int(one.get("active", 0)) < HEARD * 1e9]
    return 1 + len(heard) > (1 + len(others)) / 2
