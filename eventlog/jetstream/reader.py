"""Reading a log on servers: pages of a session, waiting for more, the list of sessions.

Above this module: `store`, through the ports of `eventlog.store`. Below it: the other modules.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Final, Self

import anyio
from nats.aio.msg import Msg

from eventlog.address import LogAddress, address
from eventlog.batch import Sealer
from eventlog.blobs import Piece
from eventlog.checksum import Checksum
from eventlog.event import START, Seq, SessionId
from eventlog.jetstream.catalogue import Sessions
from eventlog.jetstream.keeping import Keeping
from eventlog.jetstream.link import Link, Refused, Silent
from eventlog.jetstream.paging import Fetcher
from eventlog.jetstream.parts import Parts, connected
from eventlog.jetstream.pruning import reach, sized
from eventlog.jetstream.session import Session
from eventlog.jetstream.verification import Verification
from eventlog.page import Page
from eventlog.paging import cut_page, put_back
from eventlog.store import Checkpoint, Prunable, SessionRow

_ENOUGH: Final = 2**62
"""Bytes, where there is no limit."""

_UNSURE: Final = 2.0
"""Seconds until whoever waits looks again: news may be lost while a leader changes."""


class JetStreamReader:
    """A log on servers, which others write."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._link, self._looks, self._subjects = parts.link, parts.looks, parts.subjects
        self._checksum = Checksum(parts.found.checksum)
        self._epoch = parts.found.epoch
        self._fetcher = Fetcher(parts.link)
        self._keeping = Keeping(parts.link, parts.looks, parts.pieces, self._checksum)
        self._listed = Sessions(parts.looks, parts.scanner, parts.pieces, parts.subjects)
        self._listening: dict[SessionId, Any] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, where: str | LogAddress) -> AsyncGenerator[Self, None]:
        """Open the log at a URL for reading.

        Raises:
            LogUnavailable: there is none, or it cannot be read, or its settings lose events.
            ForeignDatabase: the stream of that name is no log.
            NewerSchema: a later version of this program wrote it.

        """
        place = address(where) if isinstance(where, str) else where
        async with connected(place, make=False) as parts:
            yield cls(parts)

    @property
    def address(self) -> LogAddress:
        """Where it is."""
        return self._link.address

    @property
    def link(self) -> Link:
        """The connection to the servers."""
        return self._link

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
        with self._link.in_time():
            page = await self._page(session_id, after, limit, limit_bytes)
            if by_reference:
                return page
            return await put_back(page, partial(self._whole, session_id), limit_bytes)

    async def _page(
        self, session_id: SessionId, after: int, limit: int, limit_bytes: int | None
    ) -> Page:
        session = await self._seen(self._looks.session(session_id))
        room = _ENOUGH if limit_bytes is None else max(limit_bytes, 1)
        while True:
            floor, head, start = session.floor, session.head, max(after, session.floor)
            cursor, body = start, b""
            if limit > 0 and start < head:
                lines = session.lines_after(start, limit, limit_bytes)
                if lines is not None:
                    cursor, body = start + len(lines), b"\n".join(lines)
                else:
                    sealer = Sealer(session.key, self._checksum)
                    runs = await self._fetcher.runs(session, sealer, start, room, limit)
                    if any(run.reason == "missing" for run in runs):
                        await self._looks.fresh(session)
                        if session.floor > floor:
                            continue  # they were pruned meanwhile
                    cursor, body = cut_page(runs, start, limit, room)
            return Page(self._epoch, Seq(floor), Seq(head), Seq(cursor), body)

    async def _seen(self, session: Session) -> Session:
        """See a session with all that was acknowledged before the call."""
        return await self._looks.fresh(session)

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed."""
        session = self._looks.session(session_id)
        await self._listen(session)
        waited = False
        while True:
            grown = session.growing()  # before the look, or a batch in between is missed
            with self._link.in_time():
                await self._seen(session)
            if session.head > after or (waited and 0 < after <= session.floor):
                return
            waited = True
            with anyio.move_on_after(_UNSURE):
                await grown.wait()

    async def _listen(self, session: Session) -> None:
        """Be told by the servers when a session grows."""
        if session.key in self._listening:
            return

        async def told(message: Msg) -> None:
            del message  # that it came is all that counts
            session.wake()

        self._listening[session.key] = None
        try:
            subject = self._subjects.news(session.key)
            self._listening[session.key] = await self._link.listen(subject, told)
        except Silent:
            del self._listening[session.key]  # who waits looks again before long

    async def size(self) -> int:
        """Return the bytes that a server counts for its copy of the stream."""
        with self._link.in_time():
            try:
                found = await self._link.api(f"STREAM.INFO.{self._link.stream}")
            except (Silent, Refused) as error:
                raise self._link.unavailable(f"it cannot be looked at: {error}") from None
        return int(found["state"]["bytes"])

    async def read_blob(
        self, session_id: SessionId, ref: str, *, offset: int = 0, length: int | None = None
    ) -> Piece | None:
        """Return *length* bytes of a large string from *offset* on."""
        with self._link.in_time():
            return await self._parts.contents.piece(session_id, ref, offset, length)

    async def _whole(self, session_id: SessionId, ref: str) -> bytes | None:
        due = self._looks.session(session_id).end_at
        return await self._parts.contents.whole(session_id, ref, due)

    async def base(self, session_id: SessionId) -> Checkpoint | None:
        """Return what pruning left of what it removed."""
        with self._link.in_time():
            return await self._keeping.base(await self._seen(self._looks.session(session_id)))

    async def checkpoint(
        self, session_id: SessionId, kind: str, version: int, *, at: int | None = None
    ) -> Checkpoint | None:
        """Return the last state that was kept, at or before *at* and beyond the floor."""
        with self._link.in_time():
            session = await self._looks.fresh(self._looks.session(session_id))
            return await self._keeping.checkpoint(session, kind, version, at)

    async def sessions(
        self, *, limit: int | None = None, every: bool = False
    ) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first."""
        return await self._listed.newest(limit, every=every)

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        with self._link.in_time():
            return await self._listed.one(await self._looks.fresh(self._looks.session(session_id)))

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of, the id first."""
        with self._link.in_time():
            return await self._listed.resolve(name)

    async def prunable(
        self, session_id: SessionId, *, to: int | None = None, before: int | None = None
    ) -> Prunable:
        """Return how far a session can be pruned; the time of a batch is its last event's."""
        session = await self._looks.fresh(self._looks.session(session_id))
        if not session.is_there:
            return Prunable(Seq(session.floor), 0, 0)
        batches = await sized(self._parts.scanner, self._subjects, session)
        return reach(batches, session.floor, to, before)

    async def verify(self, only: SessionId | None = None) -> AsyncGenerator[str, None]:
        """Read everything, or one session, and yield what is damaged or missing, in words."""
        rows = [] if only else await self.sessions(every=True)
        looking = Verification(self._parts, self._fetcher, self._keeping, self._checksum)
        for key in [only] if only else [row.id for row in rows]:
            async with aclosing(looking.damages(key)) as damages:
                async for damage in damages:
                    yield damage
