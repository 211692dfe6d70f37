"""What a client asks of an ACP agent, and what the agent answers.

Above this module: `recorder`. Below it: `line`.
"""

from __future__ import annotations

from typing import Final

from eventlog.event import Event
from eventlog.recorders.acp.line import (
    Line,
    Pending,
    Recorded,
    call_event,
    notification_event,
    result_event,
)
from eventlog.recorders.acp.opened import session_opened
from eventlog.recorders.acp.places import Opening
from eventlog.recorders.acp.replay import Replay
from eventlog.recorders.acp.turns import Prompt, started
from eventlog.recorders.frames import (
    Answer,
    Call,
    Notification,
    key_of,
    members,
    text_of,
    without,
)
from eventlog.recorders.recorder import Entry, Note, Slot, Unrecorded

OPENING: Final = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
LOADING: Final = frozenset({"session/load", "session/resume"})
CLOSING: Final = frozenset({"session/close", "session/delete"})
READS: Final = frozenset({"session/list", "providers/list"})
"""Calls that change nothing and tell nothing of a session's course."""


def asks(line: Line, call: Call, note: Note) -> Recorded:
    """Return what a client's call means."""
    again = line.initialized and call.method == "initialize"
    gone = line.gone({"reason": "a new process began on this connection"}) if again else []
    pending = Pending(call, line.about("in", call), note)
    line.pending["in"][key_of(call.id)] = pending
    if call.method == "initialize":
        line.initialized = True
        return gone or Unrecorded.CAPABILITIES
    if call.method == "session/prompt" and line.places.awaits(pending.foreign):
        return _prompted(line, pending)
    if call.method in OPENING:
        return _open(line, pending)
    if call.method in CLOSING:
        return line.places.replay_over(pending.foreign) + line.call("in", pending)
    return Unrecorded.READ if call.method in READS else line.call("in", pending)


def interrupts(line: Line, told: Notification, note: Note) -> Recorded:
    """Return what `session/cancel` means."""
    foreign = text_of(told.params, "sessionId")
    if not line.places.awaits(foreign):
        return line.told("in", told, note)
    why = {"by": "client", **without(told.params, "sessionId")}
    event = Event.of("turn.interrupted", {**why, **note.members})
    return line.put(foreign, event, notification_event("in", told, note))


def answered(line: Line, answer: Answer) -> Recorded:
    """Return what an agent's answer means."""
    pending = line.pending["in"].pop(key_of(answer.id), None)
    if pending is None:
        return [Entry(line.places.home, result_event("in", None, answer))]
    method = pending.call.method
    if method == "initialize" and not answer.refused:
        line.agent.introduced(answer)
        return Unrecorded.CAPABILITIES
    if pending.prompt:
        return _prompt_finished(line, pending, pending.prompt, answer)
    if method in OPENING:
        return _opened_or_not(line, pending, answer)
    if method in READS:
        return Unrecorded.READ
    entries = line.put(pending.foreign, result_event("in", method, answer))
    if method in CLOSING and not answer.refused:
        line.places.closed(pending.foreign)
    return entries


def _prompted(line: Line, pending: Pending) -> Recorded:
    foreign, note = pending.foreign or "", pending.note
    over = line.places.replay_over(foreign)
    if note.prompt:
        pending.prompt = line.turns.submit(foreign, note.prompt, started=True)
        begun = line.put(foreign, started(note.prompt)) if note.waited else []
        return over + begun or Unrecorded.RECORDED
    queued = line.turns.running(foreign)
    slot = Slot()
    pending.prompt = line.turns.submit(foreign, slot, started=not queued)
    params = members(pending.call.params)
    payload = {
        "content": params.get("prompt"),
        **without(params, "sessionId", "prompt"),
        **note.members,
        **({"queued": True} if queued else {}),
    }
    event = Event.of("prompt.submitted", payload)
    return over + line.put(foreign, event, call_event("in", pending.call), slot)


def _prompt_finished(line: Line, pending: Pending, prompt: Prompt, answer: Answer) -> Recorded:
    foreign = pending.foreign or ""
    finished = Event.of("prompt.finished", {"prompt": prompt.slot.seq, **answer.outcome})
    elsewhere = result_event("in", pending.call.method, answer)
    entries = line.put(foreign, finished, elsewhere)
    following = line.turns.finish(foreign, prompt)
    return entries + (line.put(foreign, started(following)) if following else [])


def _open(line: Line, pending: Pending) -> Recorded:
    """Take a call whose answer names a session; what comes for it before that is held."""
    call, foreign = pending.call, pending.foreign
    target = foreign if call.method in LOADING else None
    line.places.expect(key_of(call.id), Opening(call, target))
    if call.method == "session/new":
        return Unrecorded.OPENING
    if target is None:
        return line.call("in", pending)
    replay = Replay(call.method, keeps=line.turns.running(target))
    begun = line.places.begin(target, replay)
    return line.call("in", pending) + begun + line.places.mark(target, replay.started())


def _opened_or_not(line: Line, pending: Pending, answer: Answer) -> Recorded:
    call, key = pending.call, key_of(answer.id)
    given = text_of(answer.result, "sessionId")
    foreign = pending.foreign if call.method in LOADING else given
    if answer.refused or foreign is None:
        return _not_opened(line, pending, answer)
    entries = _named(line, pending, answer, foreign)
    if given and given != foreign:
        line.places.also(foreign, given)
    if call.method != "session/new":
        entries += line.put(pending.foreign, result_event("in", call.method, answer))
    return entries + line.places.settle(key)


def _not_opened(line: Line, pending: Pending, answer: Answer) -> Recorded:
    """Keep a call that opened nothing, with its answer."""
    call = pending.call
    asked = line.put(None, call_event("in", call)) if call.method == "session/new" else []
    result = line.put(pending.foreign, result_event("in", call.method, answer))
    over = line.places.replay_over(pending.foreign) if call.method in LOADING else []
    return asked + result + over + line.places.settle(key_of(answer.id))


def _named(line: Line, pending: Pending, answer: Answer, foreign: str) -> list[Entry]:
    call = pending.call
    forked = call.method == "session/fork"
    told = {"source": line.source, **line.opened, **pending.note.members}
    if forked:
        told |= _parent(line, pending)
    opened = session_opened(line.agent, call, answer, told)
    ids = dict.fromkeys((foreign, text_of(answer.result, "sessionId") or foreign))
    aliases = [_alias(line, id_) for id_ in ids if id_ not in line.aliased]
    line.aliased.update(ids)
    replay = Replay(call.method) if forked else None
    return line.places.name(foreign, call, [opened, *aliases], replay)


def _alias(line: Line, foreign: str) -> Event:
    scope = line.scope or f"acp:{line.source.get('name') or line.agent.name or 'agent'}"
    return Event.of("session.alias", {"scope": scope, "id": foreign})


def _parent(line: Line, pending: Pending) -> dict[str, object]:
    session = line.places.named.get(pending.foreign or "")
    if session is None or pending.slot is None:
        return {}
    return {"parent": {"session_id": session, "seq": pending.slot.seq}}
