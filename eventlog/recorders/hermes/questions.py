"""Server requests of a Hermes gateway: asked, declined, locked, answered, late (P-27 to P-33).

Above this module: `recorder`, `calls`, `events`. Below it: `wire`, `methods`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog.event import Event
from eventlog.recorders.frames import Answer, Call, key_of, members, text_of
from eventlog.recorders.hermes.methods import is_secret
from eventlog.recorders.hermes.wire import Pending, Question, Recorded, Wire
from eventlog.recorders.recorder import Entry, Note, Unrecorded

CANNOT_SHOW: Final = frozenset({-32601, 4404})
"""Error codes that mean: this client cannot show the question, another may (P-29)."""


def asked(wire: Wire, call: Call) -> Recorded:
    """Return what a server request means; each is sent to every window, and re-sent."""
    name = name_of(call.id)
    if name in wire.questions:
        return Unrecorded.COPY
    params = members(call.params)
    runtime = text_of(params, "session_id")
    entries: list[Entry] = []
    session = wire.session_of(runtime)
    if runtime and session is None:
        entries = wire.attach(runtime, None)
        session = wire.attached[runtime].session
    wire.questions[name] = Question(name, call.method, params, session)
    opened = {"id": name, "method": call.method, "params": call.params or {}}
    return [*entries, wire.put(session, Event.of("request.opened", opened))]


def unseen(wire: Wire, answer: Mapping[str, Any]) -> list[Entry]:
    """Return the questions in an answer's `open_requests` that no frame has brought."""
    told = answer.get("open_requests")
    entries: list[Entry] = []
    for item in told if isinstance(told, list) else []:
        match item:
            case {"id": id_, "method": str(method)} if id_ is not None:
                recorded = asked(wire, Call(id_, method, item.get("params")))
                entries += recorded if isinstance(recorded, list) else []
    return entries


def cancelled(wire: Wire, payload: Mapping[str, Any]) -> None:
    """Take note that the gateway has withdrawn a question, or that it is settled."""
    if question := wire.questions.get(text_of(payload, "id") or ""):
        question.open = False


def answered(wire: Wire, answer: Answer, note: Note) -> Recorded:
    """Return what a client's response frame means."""
    name = name_of(answer.id)
    question = wire.questions.get(name)
    if question is None:
        return [wire.put(None, Event.of("request.late", {"id": name, **note.members}))]
    code = members(answer.outcome.get("error")).get("code")
    if not question.open:
        return [_late(wire, question, answer.outcome, note)]
    if isinstance(code, int) and code in CANNOT_SHOW:
        told = {"id": name, "code": code, **note.members}
        return [wire.put(question.session, Event.of("request.declined", told))]
    return [_settle(wire, question, answer.outcome, note)]


def answered_by_call(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    """Return what an accepted `request.answer` means."""
    name = name_of(pending.params.get("id"))
    question = wire.questions.get(name)
    if question is None:
        return [wire.put(None, Event.of("request.late", {"id": name, **pending.note.members}))]
    outcome = {"result": pending.params.get("result")}
    if result.get("status") == "expired" or not question.open:
        return [_late(wire, question, outcome, pending.note)]
    return [_settle(wire, question, outcome, pending.note)]


def responded(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    """Return what an accepted `approval.respond` means: only then is it recorded (P-31)."""
    if not result.get("resolved"):
        return Unrecorded.REFUSED
    outcome = {"result": {k: v for k, v in pending.params.items() if k in {"choice", "all"}}}
    chosen = [_settle(wire, item, outcome, pending.note) for item in _meant(wire, pending)]
    return chosen or [wire.call(pending, {"result": result})]  # it was asked before we listened


def locked(wire: Wire, pending: Pending, result: Mapping[str, Any]) -> Recorded:
    """Return what an accepted `clarify.lock` means; the last one is the answer (P-30)."""
    question = wire.questions.get(text_of(pending.params, "request_id") or "")
    if result.get("status") != "ok":
        return Unrecorded.REFUSED
    if question is None:
        return [wire.call(pending, {"result": result})]
    name, answer = str(pending.params.get("question_id")), pending.params.get("answer")
    question.locked[name] = answer
    if result.get("remaining") == []:
        outcome = {"result": {"answers": dict(question.locked)}}
        return [_settle(wire, question, outcome, pending.note)]
    told = {"id": question.id, "question_id": name, "answer": answer, **pending.note.members}
    return [wire.put(question.session, Event.of("request.locked", told))]


def name_of(id_: Any) -> str:
    """Return a question's id as text."""
    return id_ if isinstance(id_, str) else key_of(id_).decode()


def _meant(wire: Wire, pending: Pending) -> list[Question]:
    """Return the approvals that an `approval.respond` answers, oldest first."""
    session = wire.session_of(text_of(pending.params, "session_id"))
    waiting = [
        item
        for item in wire.questions.values()
        if item.open and item.method == "approval" and item.session == session
    ]
    if pending.params.get("all") is True:
        return waiting
    request = pending.params.get("request_id")
    named = [item for item in waiting if item.params.get("request_id") == request]
    return (named or waiting)[:1]


def _settle(wire: Wire, question: Question, outcome: Mapping[str, Any], note: Note) -> Entry:
    question.open = False
    told = {"id": question.id, "method": question.method, **_told(question, outcome)}
    event = Event.of("request.answered", {**told, "by": "client", **note.members})
    return wire.put(question.session, event)


def _told(question: Question, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return as much of an answer as may be recorded (P-33)."""
    return {"redacted": True} if is_secret(question.method) else outcome


def _late(wire: Wire, question: Question, outcome: Mapping[str, Any], note: Note) -> Entry:
    value = outcome.get("result", outcome.get("error"))
    kept = {} if is_secret(question.method) else {"value": value}
    event = Event.of("request.late", {"id": question.id, **kept, **note.members})
    return wire.put(question.session, event)
