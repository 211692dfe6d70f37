"""Every frame that a gateway sends in a test is held against its contract."""

from __future__ import annotations

from gateway.contracts import (
    COMMON_ERRORS,
    CONTRACTS,
    NOTIFICATIONS,
    SERVER_REQUESTS,
    GatewayReady,
)
from gateway.errors import Code
from gateway.jsonrpc import Failure, Frame, Notification, Reply, Request


def check_told(frame: Frame) -> None:
    """Raise if what a client was told or asked is not what was promised."""
    match frame:
        case Notification(method, dict(params)):
            NOTIFICATIONS[method].params.model_validate(params)
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
