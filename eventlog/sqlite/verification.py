"""Looking at everything a log holds, to find what is damaged or missing (S-6).

Above this module: `reader`. Below it: `batch`, the reading connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

import aiosqlite

from eventlog.event import SessionId
from eventlog.sqlite.batch import Batch, Sealer
from eventlog.sqlite.checksum import Checksum

_AT_ONCE: Final = 64
_SESSIONS: Final = "select key, floor from session where ? is null or key = ? order by id"
_BATCHES: Final = """
    select batch.first, batch.last, batch.ts, codec, crc, body,
        (select next.first from batch as next where next.session = batch.session
            and next.first > batch.first order by next.first limit 1)
    from batch join session on session.id = batch.session
    where session.key = ? and batch.first > ? order by batch.first limit ?
"""


@dataclass(frozen=True, slots=True)
class Damage:
    """Events of a session that are lost; or, with no session, a fault of the whole database."""

    reason: str
    session_id: SessionId | None = None
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if self.session_id is None:
            return self.reason
        return f"{self.session_id}: events {self.first} to {self.last} are {self.reason}"


async def damages(
    database: aiosqlite.Connection, checksum: Checksum, only: SessionId | None
) -> AsyncGenerator[Damage, None]:
    """Yield every damage of the session *only*, or of all and of the database around them."""
    if only is None:
        for (fault,) in await database.execute_fetchall("pragma integrity_check"):
            if fault != "ok":
                yield Damage(str(fault))
    for key, floor in await database.execute_fetchall(_SESSIONS, (only, only)):
        async for damage in _of_session(database, Sealer(key, checksum), floor):
            yield damage


async def _of_session(
    database: aiosqlite.Connection, sealer: Sealer, floor: int
) -> AsyncGenerator[Damage, None]:
    begun, due = 0, floor
    while rows := list(await database.execute_fetchall(_BATCHES, (sealer.key, begun, _AT_ONCE))):
        for run in sealer.runs(((Batch(*row[:6]), row[6]) for row in rows), due):
            if run.lost:
                yield Damage(run.reason, SessionId(sealer.key), run.first, run.last)
            due = run.last
        begun = rows[-1][0]
