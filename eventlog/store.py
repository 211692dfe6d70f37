"""The port to a log: append, read, wait. Everything else is built from these three.

Small ports beside it: the list of sessions, states of a fold that are kept, and what is removed.

Above this module: `subscribe`, the gateway, replay. Below it: one adapter per technology, each
of which passes `eventlog.conformance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from eventlog.blobs import Piece
from eventlog.event import START, Event, Seq, SessionId, Span
from eventlog.lease import Leases
from eventlog.page import Page

KEPT: Final = 2
"""States of a kind that are kept for a session; the last but one serves those who look back."""


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


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A fold of a session's first *seq* events, as its maker wrote it: bytes to the log.

    *body* is the JSON text of an object; *version* is the maker's.
    """

    seq: Seq
    version: int
    body: bytes


class Prunable(NamedTuple):
    """What a prune would remove of a session: all up to *seq*; *size* in stored bytes."""

    seq: Seq
    events: int
    size: int


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
        by_reference: bool = False,
    ) -> Page:
        """Return at most *limit* events that follow *after*, fewer if *limit_bytes* are full.

        There is at least one event in the page if there is one to read. Every event in it is
        durable. An unknown session gives an empty page with head 0. With *by_reference* the
        lines are as they are stored; else large strings are put back (P-34), and what is then
        too much for one page comes in the next.
        """
        ...

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return once the session's head lies beyond *after*, or all up to there is removed.

        It may also return for nothing.
        """
        ...


class Contents(Protocol):
    """Large strings, by reference (P-34)."""

    async def read_blob(
        self, session_id: SessionId, ref: str, *, offset: int = 0, length: int | None = None
    ) -> Piece | None:
        """Return *length* bytes of a large string from *offset* on, or all that follows (P-34).

        None if the session refers to no such thing. A whole one has been checked against its
        hash; one that does not fit it any more is None, too.
        """
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
            Fenced: another process writes the session, as only logs of several writers have it.
            LogUnavailable: nothing was recorded, or nothing that the log will vouch for.
            ValueError: *at* does not hold one possible time an event.

        """
        ...


class Catalogue(Protocol):
    """What sessions there are. A second, small port beside the log."""

    async def sessions(
        self, *, limit: int | None = None, every: bool = False
    ) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first.

        What is none (`is_session`) is only among them if *every* row is asked for.
        """
        ...

    async def session(self, session_id: SessionId) -> SessionRow | None:
        """Return one session's row."""
        ...

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return every session that *name* is the id or an alias of, the id first (P-22)."""
        ...


class Checkpoints(Protocol):
    """States of folds, so that opening a session does not depend on its length (S-14)."""

    async def base(self, session_id: SessionId) -> Checkpoint | None:
        """Return what pruning left of what it removed: the fold at the floor. It is no cache."""
        ...

    async def checkpoint(
        self, session_id: SessionId, kind: str, version: int, *, at: int | None = None
    ) -> Checkpoint | None:
        """Return the last one that was kept, at or before *at* and beyond the floor."""
        ...


class Prunables(Protocol):
    """What could be removed from a log (S-10)."""

    async def prunable(
        self, session_id: SessionId, *, to: int | None = None, before: int | None = None
    ) -> Prunable:
        """Return how far a session can be pruned: up to *to*, and no event of *before* (µs) or after.

        A batch stays if any part of it has to. Where there is nothing, *seq* is the floor.
        """
        ...


class LogReader(EventSource, Contents, Catalogue, Checkpoints, Prunables, Protocol):
    """A whole log that is only read: what `hermes-replay` runs on."""


class Retention(Prunables, Protocol):
    """Removing from a log, and what has to stay in its place (S-10)."""

    async def prune(self, session_id: SessionId, base: Checkpoint) -> None:
        """Remove a session's events up to *base*, which stays in their place.

        Raises:
            ValueError: *base* is not where a batch ends, as `prunable` says.

        """
        ...

    async def delete(self, session_id: SessionId) -> bool:
        """Remove everything of a session; return whether there was anything.

        Its id stays, so that its numbering continues and no number is used twice (P-20a).
        """
        ...

    async def compact(self, *, before: int) -> None:
        """Store sessions whose last event is older than *before* (µs) as small as can be (S-11).

        Nothing that is read changes.
        """
        ...


class Condition(Protocol):
    """Whether a log can record at present, and a way to hear when that turns (S-9)."""

    @property
    def degraded(self) -> str | None:
        """Why nothing can be recorded at present; None if it can, as far as is known."""
        ...

    async def turned(self, known: str | None) -> str | None:
        """Return `degraded` once it is not *known* any more."""
        ...

    async def probe(self) -> None:
        """Find out whether the log can record again, when nobody else does."""
        ...


class Log(EventStore, Contents, Catalogue, Checkpoints, Retention, Condition, Protocol):
    """A whole log: what `hermes-gateway serve` runs on."""

    @property
    def leases(self) -> Leases:
        """Who may write which session, where several processes write one log."""
        ...

    async def keep(self, session_id: SessionId, kind: str, state: Checkpoint) -> None:
        """Keep a fold's state; older ones of its kind may go, but for one (S-14)."""
        ...

    async def forget(self) -> None:
        """Remove every kept state; no answer changes by it."""
        ...

    async def size(self) -> int:
        """Return the bytes that the log takes where it is stored, one copy of it."""
        ...

    async def begin(self, session_id: SessionId, base: Checkpoint, row: SessionRow) -> None:
        """Let a session that is not known yet begin behind *base*, as *row* says (import).

        Raises:
            WrongExpectedVersion: it is known.

        """
        ...

    async def skip(self, session_id: SessionId, gap: Event, *, at: int) -> None:
        """Record that events are lost: *gap* stands in the place of all of them, for good.

        Its payload says which (`first`, `last`); *at* is its `ts`. It raises what `append` does,
        WrongExpectedVersion where these are not the next ones, ValueError where it does not say.
        """
        ...

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions that grew since the log was last settled, never `@gateway`.

        After an orderly end there are none; after a crash these are the only ones in which
        something may still be open (P-40).
        """
        ...

    async def settle(self) -> None:
        """Note durably that nothing is open in what has been recorded up to now."""
        ...
