"""The right to write a session: who has it, and for how long. A second port beside `EventStore`.

Above this module: a gateway, which hosts the sessions that it holds and takes over those whose
owner has died. Below it: an adapter. In a log that one process alone can write, that process
holds everything (`Sole`).

A lease is no lock that the log looks at: it is fenced. Whoever acquires one moves the session's
end, so that what an earlier owner sends later is refused, however long it was paused (`Fenced`).
Leases are renewed together, by the log that is open; nobody calls for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

import anyio

from eventlog.event import SessionId, valid_session_id


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of *owner* to write a session; a later lease of it has a larger *revision*."""

    session_id: SessionId
    owner: str
    revision: int


class Leases(Protocol):
    """Who may write which session."""

    @property
    def owner(self) -> str:
        """What this process is called where others ask who holds a session."""
        ...

    @property
    def duration(self) -> float:
        """Seconds until a session is free whose owner was cut off or died; `inf` if it never is."""
        ...

    async def acquire(self, session_id: SessionId) -> Lease:
        """Return the right to write a session, which this process holds from now on.

        Whoever held it before cannot write any more, and what is read from now on holds all
        that was written. To acquire what is held already gives the same lease.

        Raises:
            InvalidSessionId: nothing was looked up.
            Fenced: another process holds it, and lives.
            LogUnavailable: it cannot be known who holds it.

        """
        ...

    async def release(self, session_id: SessionId) -> None:
        """Give the right back, so that another can have it at once; nothing if it is not held.

        Raises:
            LogUnavailable: it could not be told; the session is free after `duration`.

        """
        ...

    def holds(self, session_id: SessionId) -> bool:
        """Whether this process holds a session, by the clock: false as soon as it is in doubt.

        Appending to one that was held and is not any more raises `Fenced`.
        """
        ...

    async def lost(self, session_id: SessionId) -> None:
        """Return once this process does not hold a session (any more)."""
        ...

    async def find(self, session_id: SessionId) -> Lease | None:
        """Return the lease under which a session is written at present; None if it is free."""
        ...

    async def orphans(self) -> Sequence[SessionId]:
        """Return the sessions whose owner has died, or was cut off, before it gave them back."""
        ...


SOLE: Final = "this process"


class Sole:
    """All leases of a log that no other process can write."""

    owner: Final = SOLE
    duration: Final = inf

    async def acquire(self, session_id: SessionId) -> Lease:
        """Return the right to write a session."""
        await anyio.lowlevel.checkpoint()
        return Lease(valid_session_id(session_id), SOLE, 1)

    async def release(self, session_id: SessionId) -> None:
        """Give the right back, to nobody."""

    def holds(self, session_id: SessionId) -> bool:  # noqa: ARG002
        """Whether this process holds a session: always."""
        return True

    async def lost(self, session_id: SessionId) -> None:  # noqa: ARG002
        """Never return."""
        await anyio.sleep_forever()

    async def find(self, session_id: SessionId) -> Lease | None:
        """Return the lease of this process."""
        return await self.acquire(session_id)

    async def orphans(self) -> Sequence[SessionId]:
        """Return nothing: there is nobody else."""
        await anyio.lowlevel.checkpoint()
        return []
