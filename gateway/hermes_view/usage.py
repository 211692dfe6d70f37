"""What was used, in Hermes's members.

Above this module: `turns`, `updates`, `history`. Below it: `scene`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gateway.hermes_view.scene import Json, Scene

_COUNTED: Final = ("input", "output", "reasoning", "prompt", "completion", "total", "calls")


def of_update(scene: Scene, update: Json) -> Json:
    """Take a `usage_update`; return the session's usage."""
    scene.usage = {**scene.usage, **context_of(update)}
    return whole(scene.usage)


def of_turn(scene: Scene, result: Any) -> Json:
    """Add what a turn used, as its agent says; return the session's usage."""
    used = tokens_of(result)
    sums = {key: scene.usage.get(key, 0) + count for key, count in used.items()}
    scene.usage = {**scene.usage, **sums}
    return whole(scene.usage)


def whole(known: Mapping[str, Any]) -> Json:
    """Return *known* with every member that Hermes always has."""
    return {"model": "", **dict.fromkeys(_COUNTED, 0), **known}


def tokens_of(result: Any) -> dict[str, int]:
    """Return the tokens of a turn that its answer names, in the two ways there are."""
    match result:
        case {"usage": dict(usage)}:
            read = _count(usage, "inputTokens"), _count(usage, "outputTokens")
            thought = _count(usage, "thoughtTokens")
        case {"_meta": {"quota": {"token_count": dict(usage)}}}:
            read = _count(usage, "input_tokens"), _count(usage, "output_tokens")
            thought = 0
        case _:
            return {}
    total = _count(usage, "totalTokens") or sum(read) + thought
    words = {"input": read[0], "output": read[1], "prompt": read[0], "completion": read[1]}
    return {**words, "reasoning": thought, "total": total, "calls": 1}


def context_of(update: Mapping[str, Any]) -> Json:
    """Return how full the context is, and what the session has cost."""
    found: Json = {}
    used, size = _count(update, "used"), _count(update, "size")
    if used:
        found["context_used"] = used
    if size:
        found |= {"context_max": size, "context_percent": min(100, round(100 * used / size))}
    match update.get("cost"):
        case {"amount": int(amount) | float(amount), "currency": "USD"}:
            found["cost_usd"] = float(amount)
    return found


def _count(members: Mapping[str, Any], key: str) -> int:
    value = members.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
