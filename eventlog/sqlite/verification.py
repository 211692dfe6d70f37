"""Looking at everything a log holds, to find what is damaged or missing (S-6).

Above this module: `reader`. Below it: `batch`, the reading connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

import aiosqlite

from eventlog.batch import Batch, Sealer
from eventlog.blobs import MARK, referred
from eventlog.checksum import Checksum
from eventlog.event import SessionId, seq_of
from eventlog.sqlite import contents, keeping

_AT_ONCE: Final = 64
_SESSIONS: Final = "select key, floor from session where ? is null or key = ? order by id"
_BATCHES: Final = """
    select batch.first, batch.last, batch.ts, codec, crc, body,
        (select next.first from batch as next where next.session = batch.session
            and next.first > batch.first order by next.first limit 1)
    from batch join session on session.id = batch.session
    where session.key = ? and batch.first > ? order by batch.first limit ?
"""
_BASE: Final = """
    select seq, version, crc, body from base join session on session.id = base.session
    where key = ?
"""
_REFERRED: Final = """
    select hash, last from blob_ref join session on session.id = blob_ref.session where key = ?
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
        sealer = Sealer(key, checksum)
        used: dict[str, int] = {}
        async for damage in _of_base(database, sealer, floor):
            yield damage
        async for damage in _of_events(database, sealer, floor, used):
            yield damage
        async for damage in _of_blobs(database, sealer.key, used):
            yield damage


async def _of_base(
    database: aiosqlite.Connection, sealer: Sealer, floor: int
) -> AsyncGenerator[Damage, None]:
    for row in await database.execute_fetchall(_BASE, (sealer.key,)):
        seq = row[0]
        if seq != floor or not keeping.intact(row, sealer.checksum, sealer.key, keeping.BASE):
            yield Damage("pruned, and their base is damaged", SessionId(sealer.key), 1, floor)


async def _of_events(
    database: aiosqlite.Connection, sealer: Sealer, floor: int, used: dict[str, int]
) -> AsyncGenerator[Damage, None]:
    """Look at every batch; *used* becomes what they refer to, and which event does so last."""
    begun, due = 0, floor
    while rows := list(await database.execute_fetchall(_BATCHES, (sealer.key, begun, _AT_ONCE))):
        for run in sealer.runs(((Batch(*row[:6]), row[6]) for row in rows), due):
            if run.lost:
                yield Damage(run.reason, SessionId(sealer.key), run.first, run.last)
            elif MARK in run.text:
                _note(run.text, used)
            due = run.last
        begun = rows[-1][0]


async def _of_blobs(
    database: aiosqlite.Connection, key: str, used: dict[str, int]
) -> AsyncGenerator[Damage, None]:
    rows: Any = await database.execute_fetchall(_REFERRED, (key,))
    known = {f"sha256:{bytes(hash_).hex()}": last for hash_, last in rows}
    waiting = dict(used)
    while waiting:
        ref, seq = waiting.popitem()
        why = None
        if (body := await contents.whole(database, ref)) is None:
            why = f"incomplete: {ref} is damaged or missing"
        elif known.pop(ref, 0) < seq:
            why = f"incomplete: {ref} is not noted as theirs"
        else:
            waiting |= {inner: seq for inner in referred(body) if inner in known}
        if why is not None:
            yield Damage(why, SessionId(key), seq, seq)


def _note(text: bytes, used: dict[str, int]) -> None:
    for line in text.split(b"\n"):
        for ref in referred(line):
            used[ref] = seq_of(line)
