"""What is never recorded (design §1, rule 7; P-33).

Above this module: the recorders. Below it: nothing of ours. Names stay, values go, so that a
reader sees that something was given without seeing what.
"""

from __future__ import annotations

from typing import Any, Final

WITHOUT_PARAMS: Final = frozenset({"authenticate", "providers/set"})
"""ACP calls whose params are credentials."""

_SECRET_MEMBERS: Final = frozenset({"env", "headers"})


def without_secrets(params: Any) -> Any:
    """Return *params* with only the names left of every MCP server's `env` and `headers`."""
    match params:
        case dict():
            return {
                name: _server(item) if name == "mcpServers" else without_secrets(item)
                for name, item in params.items()
            }
        case list():
            return [without_secrets(item) for item in params]
    return params


def _server(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: _names(item) if name in _SECRET_MEMBERS else _server(item)
                for name, item in value.items()
            }
        case list():
            return [_server(item) for item in value]
    return value


def _names(value: Any) -> list[dict[str, str]]:
    """Return the names of variables or headers, written as ACP does or as an object."""
    match value:
        case dict():
            return [{"name": name} for name in value]
        case list():
            return [{"name": item["name"]} for item in value if _named(item)]
    return []


def _named(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)
