"""What a client calls on a Hermes gateway, and what the gateway answers.

Above this module: `recorder`. Below it: `events`, `questions`, `methods`, `wire`.

Prompts and corrections are recorded when they are sent; all else when it is accepted, because
only the answer says whether anything has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eventlog.event import Event, SessionId
from eventlog.recorders.frames import Answer, Call, key_of, members, text_of, without
from eventlog.recorders.hermes import events, questions
from eventlog.recorders.hermes.methods import CALLS, OPENING, READS, SETTINGS, unrecorded
from eventlog.recorders.hermes.wire import Pending, Recorded, Wire, stored_id
from eventlog.recorders.recorder import Entry, Note, Slot, Unrecorded

CORRECTIONS: Final = frozenset({"session.steer", "session.redirect"})
SAID: Final = CORRECTIONS | {"prompt.submit"}


def asked(wire: Wire, call: Call, note: Note) -> Recorded:
    """Return what a client's call means."""
    pending = Pending(call.method, members(call.params), call.frame(), note)
    wire.pending[note.connection, key_of(call.id)] = pending
    if call.method in SAID and (session := wire.about(pending)):
        return [_said(wire, session, pending)]
    if call.method in OPENING:
        return Unrecorded.OPENING
    if _is_listed(pending) or (call.method in _ACCEPTED and call.method not in READS):
        return Unrecorded.PAIRED
    return unrecorded(call.method)


def answered(wire: Wire, answer: Answer, connection: str) -> Recorded:
    """Return what the gateway's answer means."""
    pending = wire.pending.pop((connection, key_of(answer.id)), None)
    if pending is None:
        return Unrecorded.REFUSED if answer.refused else Unrecorded.UNASKED
    if answer.refused:
        return _refused(wire, pending, answer)
    if accepted := _ACCEPTED.get(pending.method):
        return accepted(wire, pending, answer.result)
    if pending.method in OPENING:
        return _opened(wire, pending, answer.result)
    if _is_listed(pending):
        return [_client_call(wire, pending, answer.outcome)]
    return unrecorded(pending.method)


def _refused(wire: Wire, pending: Pending, answer: Answer) -> Recorded:
    if pending.method in SAID:
        return [_rejected(wire, pending, answer.outcome["error"])]
    if pending.method not in OPENING and _is_listed(pending):
        return [_client_call(wire, pending, answer.outcome)]
    return Unrecorded.REFUSED


# What a person says.


def _said(wire: Wire, session: SessionId, pending: Pending) -> Entry:
    pending.slot = Slot()
    if pending.method == "prompt.submit":
        wire.prompts[session].append(pending.slot)
        return wire.put(session, _submitted(pending), pending.slot)
    kind = pending.method.removeprefix("session.")
    told = {"kind": kind, "text": pending.params.get("text"), **pending.note.members}
    return wire.put(session, Event.of("prompt.corrected", told), pending.slot)


def _submitted(pending: Pending) -> Event:
    params = pending.params
    ref = text_of(params, "submission_ref")
    further = without(params, "session_id", "text", "content", "submission_ref")
    payload = {
        "content": _content(pending),
        **({"ref": ref} if ref else {}),
        **({"params": further} if further else {}),
        **pending.note.members,
    }
    return Event.of("prompt.submitted", payload)


def _content(pending: Pending) -> Any:
    """Return a prompt as content blocks; Hermes's own clients send text."""
    said = pending.params.get("content", pending.params.get("text"))
    match said:
        case str():
            return [{"type": "text", "text": said}]
        case dict():
            return [said]
    return said


def _prompt_taken(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    entries = []
    if pending.slot is None and (runtime := text_of(pending.params, "session_id")):
        entries = wire.attach(runtime, None, pending.frame)
        entries.append(_said(wire, wire.attached[runtime].session, pending))
    if result.get("status") == "rejected":
        return [*entries, _rejected(wire, pending, {"message": "rejected", "data": dict(result)})]
    if result.get("status") in {"steered", "redirected"} and pending.method == "prompt.submit":
        seq = pending.slot.seq if pending.slot else None
        return [*entries, wire.call(pending, {"result": result}, {"prompt": seq})]
    return entries or Unrecorded.ACCEPTED


def _rejected(wire: Wire, pending: Pending, error: Any) -> Entry:
    session = wire.about(pending)
    if session is None or pending.slot is None:
        told = {"content": _content(pending), "error": error, **pending.note.members}
        return wire.put(None, Event.of("prompt.rejected", told))
    prompts = wire.prompts[session]
    wire.prompts[session] = [slot for slot in prompts if slot is not pending.slot]
    told = {"prompt": pending.slot.seq, "error": error}
    return wire.put(session, Event.of("prompt.rejected", told))


# What becomes of a session.


def _opened(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    runtime = text_of(result, "session_id")
    if runtime is None:
        return Unrecorded.REFUSED
    entries: list[Entry] = []
    if runtime not in wire.attached:
        told = _told(wire, pending, result)
        entries = wire.attach(runtime, stored_id(result), pending.frame, told)
    return entries + questions.unseen(wire, result) or Unrecorded.READ


def _told(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call and its answer say of a session that they open."""
    params, info = pending.params, members(result.get("info"))
    parent = wire.session_of(
        text_of(params, "parent_session_id")
        or (text_of(params, "session_id") if "branch" in pending.method else None)
    )
    version = text_of(info, "version")
    told = {
        "agent": {"name": "hermes-agent", **({"version": version} if version else {})},
        "protocol": "hermes",
        "cwd": text_of(info, "cwd") or text_of(params, "cwd"),
        "method": pending.method,
        "title": text_of(params, "title") or text_of(result, "title"),
        "info": info,
        "params": without(params, "session_id", "parent_session_id", "cwd", "title", "cols"),
        "messages": result.get("messages"),
        "parent": {"session_id": parent} if parent else None,
    }
    return {**{name: item for name, item in told.items() if item}, **pending.note.members}


def _interrupted(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    if result.get("status") == "not_interrupted":
        return Unrecorded.REFUSED
    told = {"by": "client", **pending.note.members}
    return [wire.put(wire.about(pending), Event.of("turn.interrupted", told))]


def _closed(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    runtime = text_of(pending.params, "session_id") or ""
    attached = wire.attached.get(runtime)
    if attached is None or result.get("closed") is not True:
        return Unrecorded.REFUSED
    attached.closed = True
    told = {"reason": pending.method, "by": "client", **pending.note.members}
    return [wire.put(attached.session, Event.of("session.closed", told))]


def _undone(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    """Take a session back to before its last prompt, if that prompt stands in this log."""
    session, removed = wire.about(pending), result.get("removed")
    if not removed:
        return Unrecorded.REFUSED
    if session is None or not wire.prompts[session]:
        return [_client_call(wire, pending, {"result": result})]
    slot = wire.prompts[session].pop()
    to_seq = slot.seq - 1 if slot.seq else 0
    told = {"by": "client", "to_seq": to_seq, "removed": removed, **pending.note.members}
    return [wire.put(session, Event.of("session.rewound", told))]


# Calls that have no type of their own.


def _is_listed(pending: Pending) -> bool:
    match pending.method:
        case "session.title":
            return "title" in pending.params
        case "config.set":
            return text_of(pending.params, "session_id") is not None
    return pending.method in CALLS


def _client_call(wire: Wire, pending: Pending, outcome: Mapping[str, Any]) -> Entry:
    params = pending.params
    if pending.method == "config.set" and params.get("key") not in SETTINGS:
        params, outcome = without(params, "value"), _code_only(outcome)
    return wire.call(pending, outcome, params)


def _code_only(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome that quotes nothing."""
    code = members(outcome.get("error")).get("code")
    return {"error": {"code": code}} if "error" in outcome else {}


Accepted = Callable[[Wire, Pending, Mapping[str, Any]], Recorded]

_ACCEPTED: Final[Mapping[str, Accepted]] = {
    "prompt.submit": _prompt_taken,
    "session.steer": _prompt_taken,
    "session.redirect": _prompt_taken,
    "session.interrupt": _interrupted,
    "session.close": _closed,
    "session.undo": _undone,
    "session.events.since": events.caught_up,
    "approval.respond": questions.responded,
    "clarify.lock": questions.locked,
    "request.answer": questions.answered_by_call,
}
"""What an accepted call of each method means."""
