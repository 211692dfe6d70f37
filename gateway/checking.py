"""Whether an answer answers the question: checked before an agent or anybody else gets it.

Above this module: `answers`. Below it: contracts.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from gateway.contracts import SERVER_REQUESTS
from gateway.errors import Code, RpcError
from gateway.state import OpenRequest


def check(request: OpenRequest, result: Any) -> None:
    """Raise unless *result* has the form of an answer, and picks what was offered (R077).

    Raises:
        RpcError: -32602. It never repeats the answer, which may be a secret.

    """
    contract = SERVER_REQUESTS.get(request.method)
    if contract is None or contract.result is None:
        return  # an agent's or an upstream's own: what it understands is not known here
    try:
        contract.result.model_validate(result)
    except ValidationError as refused:
        problem = refused.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(step) for step in problem["loc"])
        raise _malformed(request, path, problem["msg"]) from None
    match request.method, result:
        case "session/request_permission", {"outcome": {"optionId": option}}:
            options = request.params.get("options")
            offered = [item.get("optionId") for item in options or () if isinstance(item, dict)]
            if option not in offered:
                raise _malformed(request, "outcome.optionId", "no such option was offered")


def _malformed(request: OpenRequest, path: str, why: str) -> RpcError:
    told = f"No answer to {request.method}: {path}: {why}"
    return RpcError(Code.INVALID_PARAMS, told, {"path": path, "id": request.id})
