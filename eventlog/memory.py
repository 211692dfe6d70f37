"""The reference adapter: a dict of lists. Quick to read, the oracle for the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from typing import Any
from uuid import uuid4

import anyio

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
    valid_session_id,
)
from eventlog.listing import Listing, listing
from eventlog.store import Page, SessionRow, check_times


@dataclass
class _Stream:
    lines: list[bytes] = field(default_factory=list)
    grown: anyio.Event = field(default_factory=anyio.Event)
    created: int = 0
    updated: int = 0
    order: int = 0
    title: str | None = None
    opened: Mapping[str, Any] = field(default_factory=dict)


class MemoryStore:
    """Keeps sessions for as long as the process lives. *clock* gives nanoseconds."""

    def __init__(self, *, clock: Callable[[], int] = time_ns) -> None:
        self._clock = clock
        self._epoch = uuid4().hex
        self._streams: defaultdict[SessionId, _Stream] = defaultdict(_Stream)
        self._aliases: defaultdict[str, list[SessionId]] = defaultdict(list)
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
        stream = self._streams[valid_session_id(session_id)]
        head = len(stream.lines)
        if expected is not None and expected != head:
            raise WrongExpectedVersion(session_id, expected, head)
        if events:
            self._extend(session_id, stream, events, at)
        await anyio.lowlevel.checkpoint()
        return Span(Seq(head + 1), Seq(head + len(events)))

    async def read(
        self,
        session_id: SessionId,
        *,
        after: int = START,
        limit: int = 512,
        limit_bytes: int | None = None,
    ) -> Page:
        """Return at most *limit* events that follow *after*."""
        await anyio.lowlevel.checkpoint()
        known = self._streams.get(valid_session_id(session_id))
        lines = known.lines if known else []
        taken: Sequence[bytes] = lines[after : after + limit]
        if limit_bytes is not None:
            taken = within(taken, limit_bytes)
        return Page(
            epoch=self._epoch,
            floor=START,
            head=Seq(len(lines)),
            next=Seq(after + len(taken)),
            body=b"\n".join(taken),
        )

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*."""
        stream = self._streams[valid_session_id(session_id)]
        while len(stream.lines) <= after:
            await stream.grown.wait()

    async def sessions(self, *, limit: int | None = None) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first."""
        known = [key for key, stream in self._streams.items() if stream.lines and is_session(key)]
        known.sort(key=lambda key: -self._streams[key].order)
        return [self._row(key) for key in known[:limit]]

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        known = session_id in self._streams and self._streams[session_id].lines
        return self._row(session_id) if known else None

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of."""
        key = SessionId(name)
        own = [key] if key in self._streams and self._streams[key].lines else []
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

    def _extend(
        self,
        session_id: SessionId,
        stream: _Stream,
        events: Sequence[Event],
        at: Sequence[int] | None,
    ) -> None:
        times = at or [self._clock() // 1000] * len(events)
        head = len(stream.lines)
        stream.lines += map(line, range(head + 1, head + 1 + len(events)), times, events)
        stream.created = stream.created if head else times[0]
        stream.updated = times[-1]
        self._batches += 1
        stream.order = self._batches
        if found := listing(events):
            self._list(session_id, stream, found)
        stream.grown.set()
        stream.grown = anyio.Event()

    def _list(self, session_id: SessionId, stream: _Stream, found: Listing) -> None:
        if found.title is not None:
            stream.title = found.title or None
        stream.opened = stream.opened or found.opened or {}
        for _, alias in found.aliases:
            if session_id not in self._aliases[alias]:
                self._aliases[alias].append(session_id)

    def _row(self, key: SessionId) -> SessionRow:
        stream = self._streams[key]
        return SessionRow(
            id=key,
            created=stream.created,
            updated=stream.updated,
            floor=START,
            head=Seq(len(stream.lines)),
            title=stream.title,
            opened=stream.opened,
        )


def within(lines: Sequence[bytes], limit_bytes: int) -> Sequence[bytes]:
    """Return the first of *lines* that fit *limit_bytes* together, and at least one."""
    total = 0
    for index, text in enumerate(lines):
        total += len(text) + 1
        if total > limit_bytes and index:
            return lines[:index]
    return lines
