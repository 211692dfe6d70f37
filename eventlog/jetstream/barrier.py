"""How far the stream goes now: what makes reading see everything that was acknowledged before.

Above this module: `reader`. Below it: `link`.

Any server may answer a read, also one that lags behind or was cut off. So a reader first learns
from the stream's leader where the stream ends, and takes no answer that is older. A leader counts
only while it has heard from a majority within a time in which the others elect no new one: one
that was paused or cut off does not. Readers who come while one question is under way share the
next.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

import anyio

from eventlog.jetstream.link import Link, Refused, Silent

HEARD: Final = 2.5
"""Seconds; servers elect a new leader when they have heard nothing for at least four."""

_ATTEMPT: Final = 1.0
"""Seconds that an answer may take: less than an old leader sleeps that others replace."""

_AGAIN: Final = 0.1
"""Seconds between two questions while there is no leader."""


class _Round:
    """One question, and all who wait for its answer."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.seq: int | None = None
        self.error: Exception | None = None


class Barrier:
    """Asks how far the stream goes."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._turn = anyio.Lock(fast_acquire=True)
        self._coming: _Round | None = None

    async def current(self) -> int:
        """Return the stream's last number, at or after the call.

        Raises:
            LogUnavailable: no leader has been found within the deadline.

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
        end = monotonic() + self._link.address.deadline
        reason = "no leader"
        while (left := end - monotonic()) > 0:
            try:
                within = min(left, _ATTEMPT)
                found = await self._link.api(f"STREAM.INFO.{self._link.stream}", within=within)
            except (Silent, Refused) as error:
                reason = str(error)
            else:
                if leads(found.get("cluster") or {}):
                    self._link.served()
                    return int(found["state"]["last_seq"])
                reason = "its leader does not hear the other servers"
            await self._link.useless()
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable(f"it cannot be read at present: {reason}")


def leads(found: Mapping[str, Any]) -> bool:
    """Whether who says so leads, and hears enough of the others to do so still.

    Without a leader a server that follows answers as well; what it never heard of it calls 0.
    """
    if not found.get("leader"):
        return False
    others = found.get("replicas") or []
    heard = [one for one in others if 0 < int(one.get("active", 0)) < HEARD * 1e9]
    return 1 + len(heard) > (1 + len(others)) / 2
