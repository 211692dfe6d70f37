"""The port to a log: append, read, wait. Everything else is built from these three.

Above this module: `subscribe`, the gateway, replay. Below it: one adapter per technology, each
of which passes `eventlog.conformance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eventlog.event import START, Envelope, Event, Seq, SessionId, Span, parse


@dataclass(frozen=True, slots=True)
class Page:
    """A run of consecutive events of one session, and the extent of the log it was cut from."""

    epoch: str
    """Identity of the numbering; a cursor is only good within its epoch (P-18)."""
    floor: Seq
    """Events up to and including this one have been pruned."""
    head: Seq
    """The last recorded event; 0 when the session is unknown."""
    next: Seq
    """The cursor to read on with: the last event of this page, or where the reader stood."""
    body: bytes
    """The log's lines, with a newline between two of them."""

    @property
    def lines(self) -> list[bytes]:
        """One item an event."""
        return self.body.split(b"\n") if self.body else []

    def envelopes(self) -> list[Envelope]:
        """Return the events, parsed."""
        return [parse(text) for text in self.lines]

    def continues(self, after: int) -> bool:
        """Whether a reader who stopped at *after* has missed nothing."""
        return self.floor <= after <= self.head


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What a list of sessions shows, known without reading any event. Times in µs."""

    id: SessionId
    created: int
    updated: int
    floor: Seq
    head: Seq
    title: str | None
    opened: Mapping[str, Any]
    """The payload of the session's first `session.opened`, or empty."""


class EventSource(Protocol):
    """A log that can be read."""

    @property
    def epoch(self) -> str:
        """Identity of this log's numbering."""
        ...

    async def read(
        self,
        session_id: SessionId,
        *,
        after: int = START,
        limit: int = 512,
        limit_bytes: int | None = None,
    ) -> Page:
        """Return at most *limit* events that follow *after*, fewer if *limit_bytes* are full.

        There is at least one event in the page if there is one to read. Every event in it is
        durable. An unknown session gives an empty page with head 0.
        """
        ...

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*. It may also return for nothing."""
        ...


class EventStore(EventSource, Protocol):
    """A log that can be written."""

    async def append(
        self,
        session_id: SessionId,
        events: Sequence[Event],
        *,
        expected: int | None = None,
        at: Sequence[int] | None = None,
    ) -> Span:
        """Record *events* in order, all or none, and return once they are durable.

        *at* holds each event's `ts` (µs since the Unix epoch) if it happened earlier, as an
        import's did; without it all get the present time. Cancelled before its turn came, an
        append leaves nothing behind; later, it is recorded although nobody learns where.

        Raises:
            InvalidSessionId: nothing was looked up.
            WrongExpectedVersion: the session's head is not *expected*.
            LogUnavailable: nothing was recorded, or nothing that the log will vouch for.
            ValueError: *at* does not hold one possible time an event.

        """
        ...


class Catalogue(Protocol):
    """What sessions there are. A second, small port beside the log."""

    async def sessions(self, *, limit: int | None = None) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first; never what is none (`is_session`)."""
        ...

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        ...

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of, the id first (P-22)."""
        ...


class LogReader(EventSource, Catalogue, Protocol):
    """A whole log that is only read: what `hermes-replay` runs on."""


class Log(EventStore, Catalogue, Protocol):
    """A whole log: what `hermes-gateway serve` runs on."""

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions that grew since the log was last settled, never `@gateway`.

        After an orderly end there are none; after a crash these are the only ones in which
        something may still be open (P-40).
        """
        ...

    async def settle(self) -> None:
        """Note durably that nothing is open in what has been recorded up to now."""
        ...


def check_times(events: Sequence[Event], at: Sequence[int]) -> None:
    """Raise ValueError unless *at* holds one possible `ts` an event."""
    if len(at) != len(events):
        raise ValueError(f"{len(at)} times for {len(events)} events")
    if bad := next((ts for ts in at if not 0 <= ts < 2**63), None):
        raise ValueError(f"{bad} is no time in µs since the Unix epoch")
