"""Which session an event of an ACP connection belongs to (protocol §8, P-36).

Above this module: `recorder`. Below it: `replay`, `recorder`.

A sessionId has no place in the log until an answer names it. What arrives for it while a call
that may name it is unanswered is held, and recorded in arrival order behind the
`session.opened`; what belongs to no session goes to `@gateway`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from eventlog.event import GATEWAY, Event, SessionId
from eventlog.recorders.acp.replay import CONVERSATION, Replay
from eventlog.recorders.frames import Call
from eventlog.recorders.recorder import Entry, NameSession, Slot, Unrecorded

MAX_HELD: Final = 4 * 1024 * 1024
"""Bytes of payloads held for sessions that no answer has named yet."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event, where it should stand, and what it is if that session never comes to be."""

    foreign: str | None
    event: Event
    elsewhere: Event | None
    """For `@gateway`, where ids must be told; None: nothing needs to be said there."""
    slot: Slot | None = None
    replayed: bool = False
    """It tells history, if a replay is on when it gets its place."""


@dataclass(frozen=True, slots=True)
class Opening:
    """An unanswered call whose answer names a session: *target*, or any if that is None."""

    call: Call
    target: str | None


@dataclass
class Places:
    """The sessions of one ACP connection, by the ids that the agent gives them."""

    name_session: NameSession
    has_history: Callable[[SessionId], bool]
    named: dict[str, SessionId]
    home: SessionId = GATEWAY
    """Where events stand that belong to no session; a line that serves one has no other place."""
    live: dict[SessionId, None] = field(default_factory=dict)
    """Sessions that this process has had a part in and that were not closed, oldest first."""
    _seen: set[SessionId] = field(default_factory=set)
    _openings: dict[bytes, Opening] = field(default_factory=dict)
    _held: list[Draft] = field(default_factory=list)
    _held_bytes: int = 0
    _spilled: Counter[str] = field(default_factory=Counter)
    _replays: dict[str, Replay] = field(default_factory=dict)

    def put(self, draft: Draft) -> list[Entry]:
        """Return where *draft* stands: in its session, with `@gateway`, or nowhere yet."""
        if session := self.named.get(draft.foreign or ""):
            return [self._entry(session, draft.event, draft.slot)]
        if draft.foreign is None or not self._awaited(draft.foreign):
            return self._elsewhere([draft])
        self._held.append(draft)
        self._held_bytes += len(draft.event.payload)
        return self._overflow(draft.foreign) if self._held_bytes > MAX_HELD else []

    def put_update(self, draft: Draft, kind: str) -> list[Entry] | Unrecorded:
        """Return where a session update stands, unless it is history that the log holds."""
        if kind not in CONVERSATION:
            return self.put(draft)
        replay = self._replays.get(draft.foreign or "")
        if replay and replay.drops:
            replay.drop(draft.event)
            return Unrecorded.REPLAYED
        return self.put(
            Draft(draft.foreign, draft.event, draft.elsewhere, draft.slot, replayed=True)
        )

    def awaits(self, foreign: str | None) -> bool:
        """Whether *foreign* has a place, or an unanswered call may give it one."""
        return foreign is not None and (foreign in self.named or self._awaited(foreign))

    def expect(self, key: bytes, opening: Opening) -> None:
        """Hold what arrives for the session that *opening* may name."""
        self._openings[key] = opening

    def settle(self, key: bytes) -> list[Entry]:
        """Return what was held for an opening's session and can no longer get one."""
        self._openings.pop(key, None)
        gone = [draft for draft in self._held if not self._awaited(draft.foreign or "")]
        self._keep([draft for draft in self._held if self._awaited(draft.foreign or "")])
        return self._elsewhere(gone)

    def name(
        self,
        foreign: str,
        call: Call,
        opened: Sequence[Event] = (),
        replay: Replay | None = None,
    ) -> list[Entry]:
        """Return *opened*, then everything held for the session that *call* gives a place.

        *replay* begins between the two: a fork's history comes before it has a name.
        """
        session = self.named.get(foreign)
        if session is None:
            session = self.name_session(foreign, call.frame())
            if held := self._replays.get(foreign):
                held.drops = self._known(session) and not held.keeps
            self.named[foreign] = session
        events = [*opened, *self._gap(foreign)]
        if replay:
            replay.drops = self._known(session) and not replay.keeps
            self._replays[foreign] = replay
            events.append(replay.started())
        entries = [self._entry(session, event) for event in events]
        return entries + self._release(foreign, session)

    def also(self, foreign: str, other: str) -> None:
        """Let *other* be a second name of the session called *foreign*."""
        self.named[other] = self.named[foreign]

    def begin(self, foreign: str, replay: Replay) -> list[Entry]:
        """Begin *replay*; return the end of the one that was on."""
        over = self.replay_over(foreign)
        if session := self.named.get(foreign):
            replay.drops = self._known(session) and not replay.keeps
        self._replays[foreign] = replay
        return over

    def mark(self, foreign: str | None, event: Event) -> list[Entry]:
        """Return where an event stands that says nothing outside its session."""
        return self.put(Draft(foreign, event, None))

    def replay_over(self, foreign: str | None) -> list[Entry]:
        """End the session's replay, if there is one."""
        replay = self._replays.pop(foreign or "", None)
        return self.mark(foreign, replay.finished()) if replay else []

    def closed(self, foreign: str | None) -> None:
        """Take note that the agent has closed a session: its exit is no matter there."""
        if session := self.named.get(foreign or ""):
            self.live.pop(session, None)

    def forget(self, foreign: str) -> None:
        """Let what still comes for a session stand with `@gateway`: its end is in its log."""
        self.closed(foreign)
        self.named.pop(foreign, None)
        self._replays.pop(foreign, None)

    def remaining(self) -> list[Entry]:
        """Return the ends of all replays, and what was held for sessions that never came."""
        over = [entry for foreign in list(self._replays) for entry in self.replay_over(foreign)]
        self._openings.clear()
        lost = self._elsewhere(self._held)
        self._keep([])
        return over + lost

    def exited(self, event: Event) -> list[Entry]:
        """Return what remains, and the end of every live session's process."""
        remaining = self.remaining()
        ends = [Entry(session, event) for session in self.live] or [Entry(self.home, event)]
        self.live.clear()
        return remaining + ends

    def _awaited(self, foreign: str) -> bool:
        return any(opening.target in (None, foreign) for opening in self._openings.values())

    def _known(self, session: SessionId) -> bool:
        return session in self._seen or self.has_history(session)

    def _entry(self, session: SessionId, event: Event, slot: Slot | None = None) -> Entry:
        self._seen.add(session)
        self.live[session] = None
        return Entry(session, event, slot)

    def _release(self, foreign: str, session: SessionId) -> list[Entry]:
        mine = [draft for draft in self._held if draft.foreign == foreign]
        self._keep([draft for draft in self._held if draft.foreign != foreign])
        replay = self._replays.get(foreign)
        entries: list[Entry] = []
        for draft in mine:
            if draft.replayed and replay and replay.drops:
                replay.drop(draft.event)
            else:
                entries.append(self._entry(session, draft.event, draft.slot))
        return entries

    def _overflow(self, foreign: str) -> list[Entry]:
        """Give up waiting: a session that a call names has its place now, others have none."""
        for opening in self._openings.values():
            if opening.target == foreign:
                return self.name(foreign, opening.call)
        held = self._held
        self._keep([])
        self._spilled.update(draft.foreign for draft in held if draft.foreign)
        return self._elsewhere(held)

    def _gap(self, foreign: str) -> list[Event]:
        lost = self._spilled.pop(foreign, 0)
        reason = f"more than {MAX_HELD} bytes came before the session was named: see {self.home}"
        return [Event.of("log.gap", {"lost": lost, "reason": reason})] if lost else []

    def _keep(self, drafts: list[Draft]) -> None:
        self._held = drafts
        self._held_bytes = sum(len(draft.event.payload) for draft in drafts)

    def _elsewhere(self, drafts: Sequence[Draft]) -> list[Entry]:
        return [
            Entry(self.home, draft.elsewhere, draft.slot)
            for draft in drafts
            if draft.elsewhere is not None
        ]
