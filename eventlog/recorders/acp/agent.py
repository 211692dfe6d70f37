"""What an ACP agent tells and asks, and what the client answers.

Above this module: `recorder`. Below it: `line`.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog.event import Event
from eventlog.recorders.acp.line import (
    Line,
    Pending,
    Recorded,
    notification_event,
    result_event,
)
from eventlog.recorders.acp.places import Draft
from eventlog.recorders.frames import Answer, Call, Notification, key_of, members, text_of, without
from eventlog.recorders.recorder import Entry, Note

QUESTIONS: Final = frozenset({"session/request_permission", "elicitation/create"})
"""Calls that a person answers."""

_OWN: Final = ("sessionId", "update")


def updated(line: Line, told: Notification) -> Recorded:
    """Return what a `session/update` means."""
    foreign = text_of(told.params, "sessionId")
    update = members(told.params).get("update")
    verbatim = notification_event("out", told)
    if not isinstance(update, dict):
        return line.put(foreign, verbatim)
    event = Event.of("acp.session_update", {"update": update, **without(told.params, *_OWN)})
    return line.places.put_update(
        Draft(foreign, event, verbatim), text_of(update, "sessionUpdate") or ""
    )


def asks(line: Line, call: Call) -> Recorded:
    """Return what an agent's call means."""
    key = key_of(call.id)
    again = line.pending["out"].pop(key, None)
    ended = _cancelled(line, again, "the agent used its id again") if again else []
    pending = line.pending["out"][key] = Pending(call, line.about("out", call))
    line.settled.pop(key, None)
    if call.method not in QUESTIONS:
        return ended + line.call("out", pending)
    pending.request = line.new_request_id()
    opened = {"id": pending.request, "method": call.method, "params": call.params}
    return ended + line.put(pending.foreign, Event.of("request.opened", opened))


def answered(line: Line, answer: Answer, note: Note) -> Recorded:
    """Return what a client's answer means; only the first one of a call is more than late."""
    key = key_of(answer.id)
    pending = line.pending["out"].pop(key, None)
    if pending is None:
        return _late(line, line.settled.get(key), answer, note)
    if pending.request is None:
        return line.put(pending.foreign, result_event("out", pending.call.method, answer))
    line.settled[key] = pending
    if note.cancelled is not None:
        return _cancelled(line, pending, note.cancelled)
    told = {**answer.outcome, "by": "client", **note.members}
    return line.put(pending.foreign, Event.of("request.answered", {**_named(pending), **told}))


def _cancelled(line: Line, pending: Pending, reason: str) -> list[Entry]:
    if pending.request is None:
        return []
    event = Event.of("request.cancel", {**_named(pending), "reason": reason})
    return line.put(pending.foreign, event)


def _late(line: Line, settled: Pending | None, answer: Answer, note: Note) -> Recorded:
    if settled is None:
        return [
            Entry(line.places.home, Event.of("request.late", {"id": answer.id, **note.members}))
        ]
    value = answer.outcome.get("result", answer.outcome.get("error"))
    late = {"id": settled.request, "value": value, **note.members}
    return line.put(settled.foreign, Event.of("request.late", late))


def _named(pending: Pending) -> dict[str, Any]:
    return {"id": pending.request, "method": pending.call.method}
