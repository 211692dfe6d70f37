"""Reading a log: pages of a session, and the list of sessions.

Above this module: `store`, the command line, replay. Below it: `extent`, `batch`, `schema`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

import aiosqlite
import anyio

from eventlog.batch import Sealer
from eventlog.blobs import Piece
from eventlog.checksum import ALGORITHMS, Checksum
from eventlog.errors import ForeignDatabase, LogUnavailable
from eventlog.event import START, Seq, SessionId, valid_session_id
from eventlog.page import Page
from eventlog.paging import cut, put_back
from eventlog.sqlite import catalogue, contents, files, keeping, pruning, schema, statistics
from eventlog.sqlite.damage import Damage
from eventlog.sqlite.extent import Rests, look
from eventlog.sqlite.faults import translated
from eventlog.sqlite.files import database
from eventlog.sqlite.incarnation import LAST
from eventlog.sqlite.mark import marked
from eventlog.sqlite.verification import damages
from eventlog.store import Checkpoint, Prunable, SessionRow

_POLL: Final = 0.05
"""Seconds between two looks at whether another process has committed (S-4)."""

_ENOUGH: Final = 2**62
"""Bytes, where there is no limit."""


class Opened(NamedTuple):
    """A database that has been opened for reading, and which log it is."""

    path: Path
    connection: aiosqlite.Connection
    epoch: str
    checksum: Checksum


class SqliteReader:
    """A log that is read beside the process that writes it, or after it."""

    def __init__(self, opened: Opened) -> None:
        self._path, self._reader, self._epoch, self._checksum = opened
        self._rests = Rests()

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncGenerator[Self, None]:
        """Open the log at *path* (its folder, or the database itself) for reading.

        Raises:
            LogUnavailable: there is none, or it cannot be read.
            LogBusy: it has an earlier schema, and another process writes it.
            ForeignDatabase: the file is not a log.
            NewerSchema: a later version of this program wrote it.

        """
        file = await anyio.to_thread.run_sync(database, path)
        with translated(file):
            older = await anyio.to_thread.run_sync(schema.is_older, file)
        if older:
            async with files.locked(file):
                with translated(file):
                    await anyio.to_thread.run_sync(schema.bring_up, file)
        async with schema.connection(file, schema.for_reading) as connection:
            yield cls(await identified(file, connection))

    @property
    def path(self) -> Path:
        """The database file."""
        return self._path

    @property
    def epoch(self) -> str:
        """Identity of this log's numbering."""
        return self._epoch

    async def read(
        self,
        session_id: SessionId,
        *,
        after: int = START,
        limit: int = 512,
        limit_bytes: int | None = None,
        by_reference: bool = False,
    ) -> Page:
        """Return at most *limit* events that follow *after*."""
        page = await self._page(session_id, after, limit, limit_bytes)
        return page if by_reference else await put_back(page, self._fetch, limit_bytes)

    async def _page(
        self, session_id: SessionId, after: int, limit: int, limit_bytes: int | None
    ) -> Page:
        room = _ENOUGH if limit_bytes is None else limit_bytes
        key = valid_session_id(session_id)
        rest = self._rests.pop((key, after), None)
        due, left = after + 1, max(room, 1)
        if rest is not None:
            due, left = rest.last + 1, room - len(rest.text) - 1
        count = limit if rest is None else after + limit - rest.last
        wanted = partial(look, key=key, due=due, limit=count, room=left)
        with translated(self._path):
            extent = await schema.on_connection(self._reader, wanted)
        if extent is None:
            return Page(self._epoch, START, START, Seq(after), b"")
        start = max(after, extent.floor)
        known = [rest] if rest is not None and extent.floor <= after else []
        behind = known[0].last if known else start
        found = Sealer(key, self._checksum).runs(extent.batches, behind)
        cursor, body, rest = cut(chain(known, found), start, limit, room)
        if rest is not None:
            self._rests.keep(key, rest)
        return Page(self._epoch, Seq(extent.floor), Seq(extent.head), Seq(cursor), body)

    async def read_blob(
        self, session_id: SessionId, ref: str, *, offset: int = 0, length: int | None = None
    ) -> Piece | None:
        """Return *length* bytes of a large string from *offset* on."""
        with translated(self._path):
            return await contents.piece(
                self._reader, valid_session_id(session_id), ref, offset, length
            )

    async def _fetch(self, ref: str) -> bytes | None:
        with translated(self._path):
            return await contents.whole(self._reader, ref)

    async def base(self, session_id: SessionId) -> Checkpoint | None:
        """Return what pruning left of what it removed."""
        with translated(self._path):
            return await keeping.base(self._reader, self._checksum, session_id)

    async def checkpoint(
        self, session_id: SessionId, kind: str, version: int, *, at: int | None = None
    ) -> Checkpoint | None:
        """Return the last state that was kept, at or before *at* and beyond the floor."""
        with translated(self._path):
            return await keeping.checkpoint(
                self._reader, self._checksum, session_id, (kind, version, at)
            )

    async def size(self) -> int:
        """Return the bytes of its files."""
        return await anyio.to_thread.run_sync(statistics.bytes_of, self._path)

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed."""
        waited = False
        while True:
            version = await self._version()  # before the head, or a commit in between is missed
            page = await self.read(session_id, after=after, limit=0)
            if page.head > after or (waited and 0 < after <= page.floor):
                return
            waited = True
            while version == await self._version():  # noqa: ASYNC110 - other processes set no event
                await anyio.sleep(_POLL)

    async def sessions(
        self, *, limit: int | None = None, every: bool = False
    ) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first."""
        with translated(self._path):
            return await catalogue.sessions(self._reader, limit, every=every)

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        with translated(self._path):
            return await catalogue.session(self._reader, session_id)

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of, the id first."""
        with translated(self._path):
            return await catalogue.resolve(self._reader, name)

    async def prunable(
        self, session_id: SessionId, *, to: int | None = None, before: int | None = None
    ) -> Prunable:
        """Return how far a session can be pruned; the time of a batch is its last event's."""
        with translated(self._path):
            return await pruning.prunable(self._reader, valid_session_id(session_id), to, before)

    async def figures(self) -> dict[str, int]:
        """Return how much there is of what: counts, and bytes."""
        with translated(self._path):
            return await statistics.figures(self._reader, self._path)

    async def verify(self, only: SessionId | None = None) -> AsyncGenerator[Damage, None]:
        """Read everything, or one session, and yield what is damaged or missing."""
        before = marked(self._path)  # first: the database never stays behind what it said
        if only is None and before is not None and before.epoch == self._epoch:
            with translated(self._path):
                ((last,),) = await self._reader.execute_fetchall(LAST)
            if last < before.batch:
                yield Damage(f"the last {before.batch - last} batches are missing")
        with translated(self._path):
            async for damage in damages(self._reader, self._checksum, only):
                yield damage

    async def _version(self) -> int:
        with translated(self._path):
            ((version,),) = await self._reader.execute_fetchall("pragma data_version")
        return int(version)


async def identified(path: Path, connection: aiosqlite.Connection) -> Opened:
    """Read which log it is that *connection* reads."""
    with translated(path):
        meta = dict(
            map(
                tuple,
                await connection.execute_fetchall(
                    "select key, value from meta where key is not 'room'"
                ),
            )
        )
    if (algorithm := meta.get("checksum")) is None:
        raise ForeignDatabase(str(path), "it does not say how its checksums are made")
    if algorithm not in ALGORITHMS:
        raise LogUnavailable(str(path), f"its checksums are {algorithm}, unknown here")
    return Opened(path, connection, str(meta.get("epoch", "")), Checksum(algorithm))
