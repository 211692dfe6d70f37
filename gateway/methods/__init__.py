"""The methods that clients may call, one table; their shapes are in `gateway.contracts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from gateway.methods import (
    contents,
    events,
    line,
    lookups,
    prompts,
    sessions,
    settings,
    settling,
)
from gateway.methods.call import Call, Gateway

Method = Callable[[Call, Any], Awaitable[Any]]
"""`(call, params) -> result`; params are the method's contract, read."""

METHODS: Final[Mapping[str, Method]] = {
    "approval.pending": settling.pending,
    "approval.received": settling.received,
    "approval.respond": settling.respond,
    "clarify.lock": settling.lock_answer,
    "client.capabilities": line.capabilities,
    "gateway.authenticate": line.authenticate,
    "gateway.ping": line.ping,
    "prompt.submit": prompts.submit,
    "session.activate": sessions.activate,
    "session.active_list": lookups.active_list,
    "session.blob": contents.blob,
    "session.branch": sessions.branch,
    "session.close": sessions.close,
    "session.configure": settings.configure,
    "session.create": sessions.create,
    "session.delete": sessions.delete,
    "session.events.since": events.since,
    "session.events.stats": lookups.stats,
    "session.events.subscribe": events.subscribe,
    "session.events.unsubscribe": events.unsubscribe,
    "session.history": lookups.history,
    "session.interrupt": sessions.interrupt,
    "session.list": sessions.list_,
    "session.most_recent": lookups.most_recent,
    "session.redirect": prompts.redirect,
    "session.resume": sessions.resume,
    "session.status": lookups.status,
    "session.steer": prompts.steer,
    "session.title": lookups.title,
    "session.transcript": events.transcript,
    "session.usage": lookups.usage,
}

__all__ = ["METHODS", "Call", "Gateway", "Method"]
