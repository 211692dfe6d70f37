"""Events of a Hermes gateway: verbatim, each once, however often and on however many sockets.

Above this module: `recorder`, `calls`. Below it: `wire`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog.event import Event
from eventlog.recorders.frames import members, text_of, without
from eventlog.recorders.hermes import questions
from eventlog.recorders.hermes.wire import Attached, Pending, Recorded, Wire
from eventlog.recorders.recorder import Entry, Unrecorded

_PLACES: Final = ("type", "payload", "session_id", "seq", "ts", "origin")
"""Members of an event that the log's line has itself."""

_EPOCHS: Final = ("replay_epoch", "authority_epoch")
"""Members that say which process numbered it: `origin` does."""


def observed(wire: Wire, params: Any) -> Recorded | None:
    """Return what an event means; None if it is no event at all."""
    type_ = text_of(params, "type")
    if type_ is None:
        return None
    if type_ != "gateway.ready":
        return _event(wire, type_, members(params))
    gone = wire.epoch_is(text_of(members(params).get("payload"), "replay_epoch"))
    return [*gone, wire.put(None, _verbatim(type_, params, None))]


def caught_up(wire: Wire, pending: Pending, answer: Mapping[str, Any]) -> Recorded:
    """Return what an answer of `session.events.since` means: its events count as live (P-39)."""
    entries = wire.epoch_is(text_of(answer, "epoch"))
    told = answer.get("events")
    events = [item for item in (told if isinstance(told, list) else []) if text_of(item, "type")]
    if answer.get("truncated") is True:
        entries += _gap(wire, text_of(pending.params, "session_id"), events, answer)
    for params in events:
        recorded = observed(wire, params)
        entries += recorded if isinstance(recorded, list) else []
    entries += questions.unseen(wire, answer)
    return entries or (Unrecorded.COPY if events else Unrecorded.READ)


def _event(wire: Wire, type_: str, params: Mapping[str, Any]) -> Recorded:
    runtime = text_of(params, "session_id")
    if runtime is None:
        return [wire.put(None, _verbatim(type_, params, None))]
    payload = members(params.get("payload"))
    stored = text_of(payload, "stored_session_id") if type_ == "session.info" else None
    entries = [] if runtime in wire.attached else wire.attach(runtime, stored)
    attached = wire.attached[runtime]
    seq = _number(params.get("seq"))
    if seq is not None and not attached.seen.take(seq):
        return Unrecorded.COPY
    if stored:
        entries += wire.learn(attached.session, stored)
    if type_ == "request.cancel":
        questions.cancelled(wire, payload)
    origin = f"{wire.epoch8}.{runtime}:{seq}" if seq is not None else None
    return [*entries, wire.put(attached.session, _verbatim(type_, params, origin))]


def _verbatim(type_: str, params: Mapping[str, Any], origin: str | None) -> Event:
    payload = params.get("payload")
    if payload is not None and not isinstance(payload, dict):
        payload = {"value": payload}
    rest = without(params, *_PLACES, *_EPOCHS)
    return Event.of(type_, payload, members=rest, origin=origin)


def _gap(
    wire: Wire, runtime: str | None, events: list[Any], answer: Mapping[str, Any]
) -> list[Entry]:
    """Say how many events the gateway no longer had, if this log lacks any of them."""
    attached = wire.attached.get(runtime or "")
    latest = _number(answer.get("latest_seq")) or 0
    first = min((_number(params.get("seq")) or latest + 1 for params in events), default=latest + 1)
    entries = []
    if runtime and attached is None and events:
        entries = wire.attach(runtime, None)
        attached = wire.attached[runtime]
    return entries + (_lost(wire, attached, first) if attached else [])


def _lost(wire: Wire, attached: Attached, first: int) -> list[Entry]:
    lost = attached.seen.give_up(first)
    reason = "the gateway no longer had them"
    event = Event.of("log.gap", {"lost": lost, "reason": reason})
    return [wire.put(attached.session, event)] if lost else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
