"""A recording that never stands in the way: what cannot be recorded is counted (S-9).

Above this module: `relay`. Below it: `gateway.recording`, the log. An editor's work must not stop
because a disk is full. What was lost is told in the log, as `log.gap`, as soon as the log takes
something again; what names a session is not lost, but written then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from eventlog import Entry, Event, EventLogError, EventStore, Observation, Recorder, SessionId
from gateway.recording import Job, Recording

RETRY: Final = 1.0
"""Seconds between two attempts to write to a log that could not be written."""

_NAMING: Final = frozenset({"session.opened", "session.alias"})
_MOST_KEPT: Final = 64

Tell = Callable[[str], None]
"""Says something to the person at the terminal."""


@dataclass(slots=True)
class _Owed:
    """What a session has not been told: its names, and how much is missing."""

    naming: list[Event] = field(default_factory=list)
    lost: int = 0
    reason: str = ""

    def add(self, events: Sequence[Event], reason: str) -> None:
        for event in events:
            if event.type in _NAMING and not self.lost and len(self.naming) < _MOST_KEPT:
                self.naming.append(event)
            else:
                self.lost += 1
        self.reason = reason

    def events(self) -> list[Event]:
        gap = {"lost": self.lost, "reason": self.reason}
        return [*self.naming, *([Event.of("log.gap", gap)] if self.lost else [])]


class Ledger(Recording):
    """Appends what it is given, if the log takes it."""

    def __init__(
        self,
        store: EventStore,
        recorder: Recorder,
        session_id: SessionId,
        tell: Tell,
        *,
        retry: float = RETRY,
    ) -> None:
        super().__init__(store, recorder, session_id)
        self._tell = tell
        self._retry = retry
        self._owed: dict[SessionId, _Owed] = {}
        self._failing: str | None = None
        self._not_before = 0.0

    @property
    def lost(self) -> int:
        """How many events stand in the log neither as they are nor as part of a gap."""
        return sum(owed.lost + len(owed.naming) for owed in self._owed.values())

    def note(self, session_id: SessionId, event: Event) -> None:
        """Record what is in no frame, in its place among them."""
        self._take(Job(lambda: Observation([Entry(session_id, event)])))

    async def flush(self) -> None:
        """Return when everything that was seen until now has been written, or counted."""
        await self._take(Job(Observation)).done.wait()

    def skip_of_client(self, size: int) -> None:
        """Record that a frame of the editor was too long to be read; it may hold a secret."""
        told = {"text": "", "size": size, "by": "client"}
        self.note(self._session_id, Event.of("agent.noise", told))

    async def settle(self) -> None:
        """Write what is owed, if that can be done now."""
        self._not_before = 0.0
        for session_id in tuple(self._owed):
            await self._append(session_id, [])

    async def _append(self, session_id: SessionId, entries: Sequence[Entry]) -> None:
        owed = self._owed.get(session_id)
        before = [Entry(session_id, event) for event in owed.events()] if owed else []
        if self._failing and anyio.current_time() < self._not_before:
            self._miss(session_id, entries, self._failing)
            return
        try:
            await super()._append(session_id, [*before, *entries])
        except EventLogError as error:
            self._not_before = anyio.current_time() + self._retry
            if not self._failing:
                self._tell(f"not recorded for now: {error}")
            self._failing = str(error)
            self._miss(session_id, entries, self._failing)
            return
        self._owed.pop(session_id, None)
        if self._failing:
            self._tell("recording goes on")
            self._failing = None

    def _miss(self, session_id: SessionId, entries: Sequence[Entry], reason: str) -> None:
        owed = self._owed.setdefault(session_id, _Owed())
        owed.add([entry.event for entry in entries], reason)
