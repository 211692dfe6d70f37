"""Looking at everything a log holds, to find what is damaged or missing (S-6).

Above this module: `reader`, `inspection`. Below it: `batch`, `sums`, the reading connection.

Every row of every table is compared with a checksum, a hash, or what it is derived from.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any, Final, NamedTuple

import aiosqlite

from eventlog.batch import RECORDED, Batch, Sealer
from eventlog.blobs import MARK, checked, referred
from eventlog.checksum import Checksum
from eventlog.event import SessionId, seq_of
from eventlog.sqlite import contents, keeping, sums
from eventlog.sqlite.damage import Damage

_AT_ONCE: Final = 64
_TREE: Final = re.compile(r"(?:On tree page|Tree) (\d+)")
ROOTS: Final = "select rootpage, type, name from sqlite_schema where rootpage > 0"
CHECK: Final = "pragma integrity_check"
"""What names, and what finds, damage of the structure."""
_BATCHES: Final = """
    select batch.first, batch.last, batch.ts, codec, crc, body,
        (select cast(next.first as integer) from batch as next
            where next.session = batch.session and next.first > batch.first
            order by next.first limit 1)
    from batch where session = ? and batch.first > ? order by batch.first limit ?
"""
_BASE: Final = "select seq, version, crc, body from base where session = ?"
_REFERRED: Final = """
    select ifnull(cast(hash as blob), x''), ifnull(cast(last as integer), 0)
    from blob_ref where session = ?
"""
_CHECKPOINTS: Final = """
    select seq, version, crc, body, ifnull(cast(kind as blob), x'') from checkpoint where session = ?
"""
_BLOBS: Final = (
    "select rowid, ifnull(cast(hash as blob), x''), ifnull(size = length(body), 0) from blob"
)
_BLOB: Final = "select ifnull(cast(body as blob), x'') from blob where rowid = ?"
_STRAY: Final = {
    f"select count(*) from {table} where session not in (select id from session)": what  # noqa: S608
    for table, what in (
        ("batch", "batches"),
        ("base", "bases"),
        ("alias", "names"),
        ("blob_ref", "references"),
        ("checkpoint", "kept states"),
    )
}


class _Session(NamedTuple):
    """A row of the list of sessions, and what its rows elsewhere add up to."""

    number: int
    key: bytes
    floor: int
    deleted: int
    own: bool
    names: int
    refs: int

    @property
    def id(self) -> SessionId:
        """What it is called, as far as it can be said."""
        return SessionId(self.key.decode("ascii", "backslashreplace"))


async def damages(
    database: aiosqlite.Connection, checksum: Checksum, only: SessionId | None
) -> AsyncGenerator[Damage, None]:
    """Yield every damage of the session *only*, or of all and of the database around them."""
    if only is None:
        async for damage in _of_database(database):
            yield damage
    names = dict(map(tuple, await database.execute_fetchall(sums.ALIASES)))
    refs = dict(map(tuple, await database.execute_fetchall(sums.REFS)))
    for row in await database.execute_fetchall(sums.SESSIONS):
        session = _Session(*row)
        if only is not None and session.key != only.encode():
            continue
        for damage in _of_row(session, names.get(session.number, 0), refs.get(session.number, 0)):
            yield damage
        async for damage in _of_session(database, Sealer(session.id, checksum), session):
            yield damage
    if only is None:
        async for damage in _of_blobs(database):
            yield damage


async def _of_database(database: aiosqlite.Connection) -> AsyncGenerator[Damage, None]:
    roots = await database.execute_fetchall(ROOTS)
    for damage in structural(roots, await database.execute_fetchall(CHECK)):
        yield damage
    for statement, what in (
        (sums.SCHEMA_INTACT, "the schema is not as it was made"),
        (sums.META_INTACT, "what the log says of itself (table meta) is damaged"),
    ):
        if [tuple(row) for row in await database.execute_fetchall(statement)] != [(1,)]:
            yield Damage(what)
    for statement, what in _STRAY.items():
        ((number,),) = await database.execute_fetchall(statement)
        if number:
            yield Damage(f"{number} {what} are of no session that is known")


def structural(roots: Iterable[Any], faults: Iterable[Any]) -> Iterator[Damage]:
    """Yield what SQLite says of its own structure, with tables and indexes by their names."""
    trees = {root: f"{type_} {name}" for root, type_, name in roots}
    for (fault,) in faults:
        for text in str(fault).splitlines():
            if text not in {"ok", "*** in database main ***"}:
                yield Damage(_TREE.sub(lambda found: _named(trees, found), text), structural=True)


def _named(trees: dict[int, str], found: re.Match[str]) -> str:
    number = int(found[1])
    return f"{trees[number]}, page {number}" if number in trees else f"page {number}"


def _of_row(session: _Session, names: int, refs: int) -> list[Damage]:
    return [
        Damage(why, session.id)
        for whole, why in (
            (session.own, "its row in the list (times, floor, title, opening) is damaged"),
            (session.names == names, "its names (table alias) are damaged"),
            (session.refs == refs, "what it refers to (table blob_ref) is damaged"),
        )
        if not whole
    ]


async def _of_session(
    database: aiosqlite.Connection, sealer: Sealer, session: _Session
) -> AsyncGenerator[Damage, None]:
    used: dict[str, int] = {}
    async for damage in _of_states(database, sealer, session):
        yield damage
    async for damage in _of_events(database, sealer, session, used):
        yield damage
    async for damage in _of_references(database, session, used):
        yield damage


async def _of_states(
    database: aiosqlite.Connection, sealer: Sealer, session: _Session
) -> AsyncGenerator[Damage, None]:
    """Look at what pruning left, and at what is kept to save time."""
    bases = list(await database.execute_fetchall(_BASE, (session.number,)))
    due = session.floor if not session.deleted else 0
    for row in bases:
        if row[0] != session.floor or not _intact(row, sealer, keeping.BASE):
            yield Damage("pruned, and their base is damaged", session.id, 1, session.floor)
    if due and not bases:
        yield Damage("pruned, and their base is missing", session.id, 1, session.floor)
    for *state, kind in await database.execute_fetchall(_CHECKPOINTS, (session.number,)):
        if not _intact(state, sealer, kind.decode("utf-8", "replace")):
            yield Damage("a kept state is damaged; no answer needs it", session.id)


def _intact(row: Any, sealer: Sealer, kind: str) -> bool:
    return keeping.intact(row, sealer.checksum, sealer.key, kind)


async def _of_events(
    database: aiosqlite.Connection, sealer: Sealer, session: _Session, used: dict[str, int]
) -> AsyncGenerator[Damage, None]:
    """Look at every batch; *used* becomes what they refer to, and which event does so last."""
    begun = due = session.floor
    where = session.number
    while rows := list(await database.execute_fetchall(_BATCHES, (where, begun, _AT_ONCE))):
        batches = [Batch.of(row[:6]) for row in rows]
        follows = [row[6] for row in rows]
        for run in sealer.runs(zip(batches, follows, strict=True), due):
            if run.lost and run.reason != RECORDED:
                yield Damage(run.reason, session.id, run.first, run.last)
            elif MARK in run.text:
                _note(run.text, used)
            due = run.last
        if follows[-1] is None and due < (first := batches[-1].first):
            yield Damage("damaged", session.id, first, first)  # or more: it does not say how many
        begun = batches[-1].first


def _note(text: bytes, used: dict[str, int]) -> None:
    for line in text.split(b"\n"):
        for ref in referred(line):
            used[ref] = seq_of(line)


async def _of_references(
    database: aiosqlite.Connection, session: _Session, used: dict[str, int]
) -> AsyncGenerator[Damage, None]:
    rows: Any = await database.execute_fetchall(_REFERRED, (session.number,))
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
            yield Damage(why, session.id, seq, seq)


async def _of_blobs(database: aiosqlite.Connection) -> AsyncGenerator[Damage, None]:
    """Look at every large string, whoever refers to it."""
    for row, hash_, sized in await database.execute_fetchall(_BLOBS):
        ref = f"sha256:{hash_.hex()}"
        rows: Any = await database.execute_fetchall(_BLOB, (row,))
        if not sized or any(checked(body, ref) is None for (body,) in rows):
            yield Damage(f"the large string {ref} is damaged")
