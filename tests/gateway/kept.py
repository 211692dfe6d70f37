"""Every frame that a gateway sends in a test is held against its contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from eventlog.vocabulary import VOCABULARY
from gateway.contracts import (
    COMMON_ERRORS,
    CONTRACTS,
    NOTIFICATIONS,
    SERVER_REQUESTS,
    GatewayReady,
)
from gateway.errors import Code
from gateway.jsonrpc import Failure, Frame, Notification, Reply, Request

HERMES: Final = json.loads(
    (Path(__file__).parent / "contracts" / "hermes.json").read_text(encoding="utf-8")
)

LATER: Final = {"message.start": {"input", "inputs", "inputs_complete"}}
"""Members that Hermes has gained since the version that its shapes are taken from."""

KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
    "any": object,
}


def check_hermes_event(type_: str, payload: dict[str, Any]) -> None:
    """Raise if a payload is not what Hermes's own contract says of this event."""
    shape = HERMES["events"][type_]
    known = shape["keys"]
    assert set(shape["required"]) <= set(payload), f"{type_} lacks a member"
    for key, value in payload.items():
        if key in known:
            kinds = known[key]
            assert any(isinstance(value, KINDS[kind]) for kind in kinds), f"{type_}.{key}: {kinds}"
        else:
            assert shape["open"] or key in LATER.get(type_, ()), f"{type_}.{key} is not known"


def check_told(frame: Frame) -> None:
    """Raise if what a client was told or asked is not what was promised."""
    match frame:
        case Notification(method, dict(params)):
            NOTIFICATIONS[method].params.model_validate(params)
            if model := VOCABULARY.get(params.get("type", "")):
                model.model_validate(params["payload"])
            if params.get("type") == "gateway.ready":
                GatewayReady.model_validate(params["payload"])
        case Request(_, method, params):
            SERVER_REQUESTS[method].params.model_validate(params)


def check_answer(method: str, answer: Reply | Failure) -> None:
    """Raise if an answer to *method* is not what was promised, or refused as was not."""
    contract = CONTRACTS.get(method)
    match answer:
        case Failure(_, error):
            known = contract.errors | COMMON_ERRORS if contract else {Code.METHOD_NOT_FOUND}
            assert error.code in known, f"{method} does not promise {error}"
        case Reply(_, result):
            assert contract, f"{method} has no contract"
            assert contract.result, f"{method} has no result"
            contract.result.model_validate(result)
