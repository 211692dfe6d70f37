"""What all connections to one Hermes gateway share: its process, sessions, open questions.

Above this module: `events`, `questions`, `calls`. Below it: `seen`, `recorder`.

A gateway knows a session by two ids: the runtime id, which its process gives when it attaches a
session, and the stored id, which lasts. The stored id is the durable one (P-22).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eventlog.event import GATEWAY, Event, SessionId
from eventlog.recorders.frames import members, text_of
from eventlog.recorders.hermes.seen import Seen
from eventlog.recorders.recorder import Entry, NameSession, Note, Slot, Unrecorded

Recorded = list[Entry] | Unrecorded
"""What a frame gives."""

NO_EPOCH: Final = "00000000"
"""Stands in `origin` for the process of a gateway whose start was not seen."""


@dataclass
class Attached:
    """A session as the gateway's present process knows it."""

    session: SessionId
    seen: Seen = field(default_factory=Seen)
    closed: bool = False


@dataclass(slots=True)
class Question:
    """A server request that has been seen."""

    id: str
    method: str
    params: Mapping[str, Any]
    session: SessionId | None
    open: bool = True
    locked: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Pending:
    """A client's call that has no answer yet."""

    method: str
    params: Mapping[str, Any]
    frame: Mapping[str, Any]
    note: Note
    slot: Slot | None = None


@dataclass
class Wire:
    """One gateway's state."""

    name_session: NameSession
    source: Mapping[str, Any]
    opened: Mapping[str, Any]
    scope: str
    has_history: Callable[[SessionId], bool]
    stored: dict[str, SessionId]
    """The durable ids of stored ids."""
    epoch: str = ""
    attached: dict[str, Attached] = field(default_factory=dict)
    """By runtime id; they last as long as the gateway's process."""
    pending: dict[tuple[str, bytes], Pending] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    prompts: defaultdict[SessionId, list[Slot]] = field(default_factory=lambda: defaultdict(list))
    aliased: set[tuple[str, str]] = field(default_factory=set)
    recorded: set[SessionId] = field(default_factory=set)

    def session_of(self, id_: str | None) -> SessionId | None:
        """Return the session that the gateway knows by *id_*, a runtime or a stored id."""
        if id_ is None:
            return None
        attached = self.attached.get(id_)
        return attached.session if attached else self.stored.get(id_)

    def put(self, session: SessionId | None, event: Event, slot: Slot | None = None) -> Entry:
        """Return *event* in its session, or with `@gateway`."""
        if session is not None:
            self.recorded.add(session)
        return Entry(session or GATEWAY, event, slot)

    def attach(
        self,
        runtime: str,
        stored: str | None,
        call: Mapping[str, Any] | None = None,
        told: Mapping[str, Any] | None = None,
    ) -> list[Entry]:
        """Give the session called *runtime* a place; *told* goes into its `session.opened`."""
        name = stored or runtime
        session = self.stored.get(name) or self.name_session(name, call or {})
        known = session in self.recorded or self.has_history(session)
        self.attached[runtime] = Attached(session)
        opened = {"source": self.source, **self.opened, **(told or {})}
        if known:  # what the gateway tells of the past stands in this log
            opened.pop("messages", None)
        entries = [self.put(session, Event.of("session.opened", opened))]
        entries += self._alias(session, runtime, f"{self.scope}/{self.epoch8}")
        return entries + (self.learn(session, stored) if stored else [])

    def go_on(self, epoch: str, runtime: str, attached: Attached) -> None:
        """Take up a session of the process that has *epoch*; the log holds it already."""
        self.epoch = epoch
        self.attached[runtime] = attached
        self.recorded.add(attached.session)
        self.aliased.add((f"{self.scope}/{self.epoch8}", runtime))

    def learn(self, session: SessionId, stored: str) -> list[Entry]:
        """Take note of a session's stored id."""
        self.stored.setdefault(stored, session)
        return self._alias(session, stored, self.scope)

    def _alias(self, session: SessionId, id_: str, scope: str) -> list[Entry]:
        if id_ == session or (scope, id_) in self.aliased:
            return []
        self.aliased.add((scope, id_))
        return [self.put(session, Event.of("session.alias", {"scope": scope, "id": id_}))]

    def call(
        self, pending: Pending, outcome: Mapping[str, Any], params: Mapping[str, Any] | None = None
    ) -> Entry:
        """Return the `client.call` that *pending* is; *params* are what may be told of it."""
        asked = pending.params if params is None else params
        told = {"method": pending.method, "params": asked, **outcome, **pending.note.members}
        return self.put(self.about(pending), Event.of("client.call", told))

    def about(self, pending: Pending) -> SessionId | None:
        """Return the session that a call is about."""
        for name in ("session_id", "session_key"):
            if session := self.session_of(text_of(pending.params, name)):
                return session
        return None

    @property
    def epoch8(self) -> str:
        """The beginning of the process's epoch."""
        return self.epoch[:8] or NO_EPOCH

    def epoch_is(self, epoch: str | None) -> list[Entry]:
        """Take note of the process's epoch; another one is a new process (protocol §8)."""
        if not epoch or epoch == self.epoch:
            return []
        first = not self.epoch
        gone = [] if first else self.gone({"reason": "a new process of the gateway began"})
        self.epoch = epoch
        return gone

    def gone(self, payload: Mapping[str, Any]) -> list[Entry]:
        """Return what the end of the gateway's process means for the sessions it had."""
        event = Event.of("agent.exited", payload)
        had = dict.fromkeys(item.session for item in self.attached.values() if not item.closed)
        entries = [Entry(session, event) for session in had]
        self.epoch = ""
        self.attached.clear()
        self.pending.clear()
        self.questions.clear()
        return entries or [Entry(GATEWAY, event)]


def stored_id(answer: Mapping[str, Any]) -> str | None:
    """Return the stored id in an answer that names a session: versions call it differently."""
    names = ("stored_session_id", "session_key", "resumed")
    info = members(answer.get("info"))
    found = [text_of(answer, name) for name in names]
    return next((id_ for id_ in [*found, text_of(info, "stored_session_id")] if id_), None)
