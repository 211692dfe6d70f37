"""What both directions of an ACP connection share: sessions, turns, calls without an answer.

Above this module: `client`, `agent`, which read and change it. Below it: `places`,
`turns`, `opened`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eventlog.event import Event
from eventlog.recorders.acp.opened import Agent
from eventlog.recorders.acp.places import Draft, Places
from eventlog.recorders.acp.turns import Prompt, Turns
from eventlog.recorders.frames import Answer, Call, Notification, key_of, members, text_of
from eventlog.recorders.recorder import Direction, Entry, Note, Slot, Unrecorded
from eventlog.recorders.withheld import WITHOUT_PARAMS, without_secrets

Recorded = list[Entry] | Unrecorded
"""What a frame gives; an empty list means that it is held."""

ROLE: Final[Mapping[Direction, str]] = {"in": "client", "out": "agent"}
"""Who sends a frame. `by` of `acp.call` and `acp.result` is who asked: the pair to the id."""


@dataclass(slots=True)
class Pending:
    """A call that has no answer yet."""

    call: Call
    foreign: str | None
    """The agent's id of the session that it is about."""
    note: Note = field(default_factory=Note)
    slot: Slot | None = None
    prompt: Prompt | None = None
    request: str | None = None
    """Its `srq-…` if it is a question to the user."""


@dataclass
class Line:
    """One connection's state."""

    source: Mapping[str, Any]
    opened: Mapping[str, Any]
    places: Places
    new_request_id: Callable[[], str]
    scope: str | None
    aliased: set[str]
    turns: Turns = field(default_factory=Turns)
    agent: Agent = field(default_factory=Agent)
    initialized: bool = False
    pending: dict[Direction, dict[bytes, Pending]] = field(
        default_factory=lambda: {"in": {}, "out": {}}
    )
    settled: dict[bytes, Pending] = field(default_factory=dict)
    """Questions that have been answered, by the agent's ids: another answer is late."""

    def put(
        self,
        foreign: str | None,
        event: Event,
        elsewhere: Event | None = None,
        slot: Slot | None = None,
    ) -> list[Entry]:
        """Return where *event* stands; *elsewhere* is its form for `@gateway`, if it differs."""
        return self.places.put(Draft(foreign, event, elsewhere or event, slot))

    def call(self, direction: Direction, pending: Pending) -> list[Entry]:
        """Return the `acp.call` that *pending* is."""
        pending.slot = Slot()
        event = call_event(direction, pending.call, pending.note)
        return self.put(pending.foreign, event, slot=pending.slot)

    def told(self, direction: Direction, told: Notification, note: Note) -> list[Entry]:
        """Return the `acp.notification` that *told* is."""
        foreign = text_of(told.params, "sessionId") or self._cancels(direction, told)
        return self.put(foreign, notification_event(direction, told, note))

    def about(self, direction: Direction, call: Call) -> str | None:
        """Return the session a call is about: its own, or that of the call it belongs to."""
        foreign = text_of(call.params, "sessionId")
        if foreign is None and direction == "out":
            asked = self.pending["in"].get(key_of(members(call.params).get("requestId")))
            return asked.foreign if asked else None
        return foreign

    def gone(self, payload: Mapping[str, Any]) -> list[Entry]:
        """Return what the end of the agent's process means; call ids start anew."""
        self.initialized = False
        self.turns.clear()
        self.pending = {"in": {}, "out": {}}
        self.settled.clear()
        return self.places.exited(Event.of("agent.exited", payload))

    def _cancels(self, direction: Direction, told: Notification) -> str | None:
        """Return the session of the sender's own call that a `$/cancel_request` is about."""
        if told.method != "$/cancel_request":
            return None
        own = self.pending[direction].get(key_of(members(told.params).get("requestId")))
        return own.foreign if own else None


def call_event(direction: Direction, call: Call, note: Note | None = None) -> Event:
    """Return the event of a call that has no type of its own."""
    own = {"id": call.id, "by": ROLE[direction], "method": call.method}
    payload: dict[str, Any] = {**(note.members if note else {}), **own}
    if call.method not in WITHOUT_PARAMS:
        payload["params"] = without_secrets(call.params) if direction == "in" else call.params
    return Event.of("acp.call", payload)


def result_event(direction: Direction, method: str | None, answer: Answer) -> Event:
    """Return the event of the answer to a call from *direction*."""
    asked = {"method": method} if method is not None else {}
    return Event.of(
        "acp.result", {"id": answer.id, "by": ROLE[direction], **asked, **answer.outcome}
    )


def notification_event(direction: Direction, told: Notification, note: Note | None = None) -> Event:
    """Return the event of a notification that has no type of its own."""
    own = {"by": ROLE[direction], "method": told.method, "params": told.params}
    return Event.of("acp.notification", {**(note.members if note else {}), **own})
