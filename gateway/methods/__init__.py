"""The methods that clients may call, one table; their shapes are in `gateway.contracts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from gateway.methods import events, line, prompts, sessions
from gateway.methods.call import Call, Gateway

Method = Callable[[Call, Any], Awaitable[Any]]
"""`(call, params) -> result`; params are the method's contract, read."""

METHODS: Final[Mapping[str, Method]] = {
    "client.capabilities": line.capabilities,
    "gateway.authenticate": line.authenticate,
    "gateway.ping": line.ping,
    "prompt.submit": prompts.submit,
    "session.activate": sessions.activate,
    "session.close": sessions.close,
    "session.create": sessions.create,
    "session.events.since": events.since,
    "session.events.subscribe": events.subscribe,
    "session.events.unsubscribe": events.unsubscribe,
    "session.interrupt": sessions.interrupt,
    "session.list": sessions.list_,
    "session.resume": sessions.resume,
    "session.transcript": events.transcript,
}

__all__ = ["METHODS", "Call", "Gateway", "Method"]
