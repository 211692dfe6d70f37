"""Members of an ACP call's params, read one by one: each is right, or named in the error.

Above this module: `files`, `terminals`. Below it: `errors`.
"""

from __future__ import annotations

from typing import Any, Final

from gateway.errors import Code, RpcError

RESOURCE_NOT_FOUND: Final = -32002
"""ACP's code."""


def text(params: dict[str, Any], name: str) -> str:
    """Return a string that has to be there."""
    value = params.get(name)
    if not isinstance(value, str):
        raise wrong(name, "must be a string")
    return value


def count(params: dict[str, Any], name: str) -> int | None:
    """Return an integer of at least 0; None if it is absent or null."""
    value = params.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong(name, "must be an integer of at least 0")
    return value


def wrong(name: str, why: str, **told: Any) -> RpcError:
    """Return the error of a member that is not as it has to be."""
    return RpcError(Code.INVALID_PARAMS, f"{name} {why}", {"path": name, **told})


def not_found(uri: str) -> RpcError:
    """Return the error of what is not there, in the words of ACP's own libraries."""
    return RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {uri}", {"uri": uri})
