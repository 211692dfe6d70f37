"""The reference adapter: a dict of lists. Quick to read, the oracle for the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from time import time_ns
from uuid import uuid4

import anyio

from eventlog import blobs
from eventlog.arguments import check_gap, check_times
from eventlog.errors import WrongExpectedVersion
from eventlog.event import (
    GATEWAY,
    START,
    Event,
    Seq,
    SessionId,
    Span,
    is_session,
    line,
    seq_of,
    valid_session_id,
)
from eventlog.lease import Sole
from eventlog.listing import Listing, listing
from eventlog.page import Page
from eventlog.paging import put_back, within
from eventlog.store import KEPT, Checkpoint, Prunable, SessionRow
from eventlog.stream import Stream


class MemoryStore:
    """Keeps sessions for as long as the process lives. *clock* gives nanoseconds."""

    def __init__(self, *, clock: Callable[[], int] = time_ns) -> None:
        self.leases = Sole()
        """Nobody else writes here."""
        self._clock = clock
        self._epoch = uuid4().hex
        self._streams: defaultdict[SessionId, Stream] = defaultdict(Stream)
        self._aliases: defaultdict[str, list[SessionId]] = defaultdict(list)
        self._blobs: dict[str, bytes] = {}
        self._batches = 0
        self._settled = 0

    @property
    def epoch(self) -> str:
        """Identity of this log's numbering."""
        return self._epoch

    async def append(
        self,
        session_id: SessionId,
        events: Sequence[Event],
        *,
        expected: int | None = None,
        at: Sequence[int] | None = None,
    ) -> Span:
        """Record *events* in order, all or none."""
        if at is not None:
            check_times(events, at)
        stored, taken = await blobs.cut_all(list(events))
        stream = self._streams[valid_session_id(session_id)]
        head = stream.head
        if expected is not None and expected != head:
            raise WrongExpectedVersion(session_id, expected, head)
        if events:
            self._extend(session_id, stream, stored, at)
        for index, blob in taken:
            self._blobs[blob.ref] = blob.body
            stream.refs[blob.ref] = head + 1 + index
        await anyio.lowlevel.checkpoint()
        return Span(Seq(head + 1), Seq(head + len(events)))

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
        await anyio.lowlevel.checkpoint()
        stream = self._streams.get(valid_session_id(session_id)) or Stream()
        start = max(after, stream.floor)
        taken: Sequence[bytes] = stream.after(start, limit)
        if limit_bytes is not None:
            taken = within(taken, limit_bytes)
        page = Page(
            epoch=self._epoch,
            floor=Seq(stream.floor),
            head=Seq(stream.head),
            next=seq_of(taken[-1]) if taken else Seq(start),
            body=b"\n".join(taken),
        )
        return page if by_reference else await put_back(page, self._fetch, limit_bytes)

    async def read_blob(
        self, session_id: SessionId, ref: str, *, offset: int = 0, length: int | None = None
    ) -> blobs.Piece | None:
        """Return *length* bytes of a large string from *offset* on."""
        await anyio.lowlevel.checkpoint()
        known = self._streams.get(valid_session_id(session_id))
        if known is None or ref not in known.refs:
            return None
        body = self._blobs[ref]
        return blobs.Piece(len(body), body[offset : None if length is None else offset + length])

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed."""
        stream = self._streams[valid_session_id(session_id)]
        while stream.head <= after:
            await stream.grown.wait()
            if 0 < after <= stream.floor:
                return

    @property
    def degraded(self) -> str | None:
        """Memory can always be written, or this process ends."""
        return None

    async def size(self) -> int:
        """Return 0: it is stored nowhere."""
        return 0

    async def turned(self, known: str | None) -> str | None:
        """Return once the condition is not *known* any more."""
        if known is None:
            await anyio.sleep_forever()
        return None

    async def probe(self) -> None:
        """Find nothing out: there is nothing to be found."""

    async def sessions(
        self, *, limit: int | None = None, every: bool = False
    ) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first."""
        listed = (item for item in self._streams.items() if every or is_session(item[0]))
        newest = sorted(listed, key=lambda item: -item[1].order)
        return [stream.row(key) for key, stream in newest if stream.known][:limit]

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        known = session_id in self._streams and self._streams[session_id].known
        return self._streams[session_id].row(session_id) if known else None

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of."""
        key = SessionId(name)
        own = [key] if key in self._streams and self._streams[key].known else []
        return [*own, *(other for other in self._aliases.get(name, []) if other != name)]

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions that grew since the log was last settled."""
        await anyio.lowlevel.checkpoint()
        known = [key for key, stream in self._streams.items() if stream.order > self._settled]
        return sorted(key for key in known if key != GATEWAY)

    async def settle(self) -> None:
        """Note that nothing is open in what has been recorded up to now."""
        await anyio.lowlevel.checkpoint()
        self._settled = self._batches

    async def base(self, session_id: SessionId) -> Checkpoint | None:
        """Return what pruning left of what it removed."""
        await anyio.lowlevel.checkpoint()
        known = self._streams.get(session_id)
        return known.base if known else None

    async def checkpoint(
        self, session_id: SessionId, kind: str, version: int, *, at: int | None = None
    ) -> Checkpoint | None:
        """Return the last state that was kept, at or before *at* and beyond the floor."""
        await anyio.lowlevel.checkpoint()
        known = self._streams.get(session_id) or Stream()
        found = known.kept.get((kind, version), [])
        return next((one for one in reversed(found) if at is None or one.seq <= at), None)

    async def keep(self, session_id: SessionId, kind: str, state: Checkpoint) -> None:
        """Keep a fold's state."""
        await anyio.lowlevel.checkpoint()
        stream = self._streams[valid_session_id(session_id)]
        if stream.floor < state.seq <= stream.head:
            found = stream.kept.setdefault((kind, state.version), [])
            later = {one.seq: one for one in [*found, state]}
            found[:] = sorted(later.values(), key=lambda one: one.seq)[-KEPT:]

    async def forget(self) -> None:
        """Remove every kept state."""
        await anyio.lowlevel.checkpoint()
        for stream in self._streams.values():
            stream.kept.clear()

    async def begin(self, session_id: SessionId, base: Checkpoint, row: SessionRow) -> None:
        """Let a session that is not known yet begin behind *base*."""
        await anyio.lowlevel.checkpoint()
        stream = self._streams[valid_session_id(session_id)]
        if stream.head:
            raise WrongExpectedVersion(session_id, START, stream.head)
        self._batches += 1
        stream.floor, stream.base, stream.order = base.seq, base, self._batches
        stream.created, stream.updated = row.created, row.updated
        stream.title, stream.opened = row.title, row.opened

    async def skip(self, session_id: SessionId, gap: Event, *, at: int) -> None:
        """Record that events are lost: *gap* stands in the place of all of them, for good."""
        await anyio.lowlevel.checkpoint()
        first, last = check_gap(gap, at)
        stream = self._streams[valid_session_id(session_id)]
        if stream.head != first - 1:
            raise WrongExpectedVersion(session_id, first - 1, stream.head)
        self._grow(stream, [b""] * (last - first) + [line(last, at, gap)], [at])

    async def prunable(
        self, session_id: SessionId, *, to: int | None = None, before: int | None = None
    ) -> Prunable:
        """Return how far a session can be pruned; every event is a batch here."""
        await anyio.lowlevel.checkpoint()
        stream = self._streams.get(valid_session_id(session_id)) or Stream()
        lines = stream.before(stream.head if to is None else to, before)
        return Prunable(Seq(stream.floor + len(lines)), len(lines), sum(map(len, lines)))

    async def prune(self, session_id: SessionId, base: Checkpoint) -> None:
        """Remove a session's events up to *base*, which stays in their place."""
        await anyio.lowlevel.checkpoint()
        stream = self._streams[valid_session_id(session_id)]
        if base.seq > stream.head:
            raise ValueError(f"{base.seq} is beyond the head, {stream.head}")
        if base.seq <= stream.floor:
            return
        stream.lines = stream.lines[base.seq - stream.floor :]
        stream.floor, stream.base = base.seq, base
        stream.kept = {
            key: [one for one in found if one.seq > base.seq] for key, found in stream.kept.items()
        }
        stream.refs = {ref: last for ref, last in stream.refs.items() if last > base.seq}
        self._collect()

    async def delete(self, session_id: SessionId) -> bool:
        """Remove everything of a session but where its numbering stands."""
        await anyio.lowlevel.checkpoint()
        known = self._streams.get(valid_session_id(session_id))
        if known is None or not known.known:
            return False
        known.clear()
        known.wake()
        for found in self._aliases.values():
            if session_id in found:
                found.remove(session_id)
        self._collect()
        return True

    async def compact(self, *, before: int) -> None:
        """Do nothing: memory holds no batches."""

    def _collect(self) -> None:
        """Remove what nothing refers to any more."""
        alive = {ref for stream in self._streams.values() for ref in stream.refs}
        self._blobs = {ref: body for ref, body in self._blobs.items() if ref in alive}

    async def _fetch(self, ref: str) -> bytes | None:
        return self._blobs.get(ref)

    def _extend(
        self,
        session_id: SessionId,
        stream: Stream,
        events: Sequence[Event],
        at: Sequence[int] | None,
    ) -> None:
        times = at or [self._clock() // 1000] * len(events)
        numbers = range(stream.head + 1, stream.head + 1 + len(events))
        self._grow(stream, list(map(line, numbers, times, events)), times)
        if found := listing(events):
            self._list(session_id, stream, found)

    def _grow(self, stream: Stream, lines: Sequence[bytes], times: Sequence[int]) -> None:
        stream.created = stream.created if stream.head else times[0]
        stream.updated = times[-1]
        stream.lines += lines
        self._batches += 1
        stream.order = self._batches
        stream.wake()

    def _list(self, session_id: SessionId, stream: Stream, found: Listing) -> None:
        if found.title is not None:
            stream.title = found.title or None
        stream.opened = stream.opened or found.opened or {}
        for _, alias in found.aliases:
            if session_id not in self._aliases[alias]:
                self._aliases[alias].append(session_id)
