"""Hermes's tools: they start once and complete once, and their result tells how it went.

Above this module: `fold`. Below it: `tools`, `plans`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import Tool
from replay.fold import plans, shape
from replay.fold.draft import Draft
from replay.fold.lattice import is_closed
from replay.fold.notes import unknown
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.step import Step
from replay.fold.strings import shortened
from replay.fold.tools import new_tool, patch
from replay.pieces import Json


def start(draft: Draft, payload: Payload) -> None:
    """Begin a tool; the id of a closed one begins its next occurrence."""
    tool_id = shape.name(payload, "tool_id")
    changes = {
        **_common(payload),
        "title": shape.maybe_text(payload, "context") or shape.maybe_text(payload, "preview"),
        "status": "in_progress",
        "orphan": False,
    }
    row = draft.tools.get(tool_id)
    if row is None or is_closed(row.entry.status):
        new_tool(draft, tool_id, changes)
    else:
        patch(draft, row, changes)


def complete(draft: Draft, payload: Payload) -> None:
    """End a tool; an end that nobody began, or a second one that differs, stands for itself."""
    tool_id = shape.name(payload, "tool_id")
    changes = {**_common(payload), **_ended(payload)}
    plan = plans.read_todos(payload) if payload.get("todos") is not None else None
    row = draft.tools.get(tool_id)
    if row is None or _is_another(row.entry, changes["output"]):
        new_tool(draft, tool_id, {**changes, "orphan": True})
    elif is_closed(row.entry.status):
        patch(draft, row, _filling(row.entry, changes))
    else:
        patch(draft, row, changes)
    if plan is not None:
        plans.set_plan(draft, plans.DEFAULT, *plan)


def _is_another(tool: Tool, output: Json) -> bool:
    """Tell whether *output* is that of another call than the closed *tool*'s."""
    if not is_closed(tool.status) or output is None or tool.output is None:
        return False
    return bool(output != tool.output)


def _filling(tool: Tool, changes: dict[str, Any]) -> dict[str, Any]:
    """Return those of *changes* that the closed *tool* does not know yet."""
    late = ("output", "inline_diff", "summary", "duration_s", "error", "exit_code")
    return {key: changes[key] for key in late if changes.get(key) and not getattr(tool, key)}


def _common(payload: Payload) -> dict[str, Any]:
    labels = tuple(
        text for label in shape.objects(payload, "labels") if (text := shape.text(label, "text"))
    )
    name = shape.maybe_text(payload, "name")
    changes: dict[str, Any] = {"name": labels[0] if labels else name}
    if labels:
        changes["labels"] = labels
    if args := shape.maybe_mapping(payload, "args"):
        changes["input"] = shortened(args)
    return {key: value for key, value in changes.items() if value is not None}


def _ended(payload: Payload) -> dict[str, Any]:
    result = payload.get("result")
    told = result if result is not None else shape.maybe_text(payload, "result_text")
    failure = _failure(result)
    code = result.get("exit_code") if isinstance(result, dict) else None
    diff = shape.maybe_text(payload, "inline_diff")
    return {
        "status": "completed" if failure is None else "failed",
        "output": shortened(told),
        "error": failure or None,
        "exit_code": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "duration_s": shape.maybe_number(payload, "duration_s"),
        "summary": shape.maybe_text(payload, "summary"),
        "inline_diff": shortened(diff),
    }


def _failure(result: Json) -> str | None:
    """Return why a result is one of failure: "" if it does not say, None if it is not."""
    match result:
        case {"error": str(words)} if words:
            return words
        case {"error": error} if error:
            return ""
        case {"success": False}:
            return ""
        case {"exit_code": int(code)} if code != 0:
            return ""
    return None


def output_risk(draft: Draft, payload: Payload) -> None:
    """Note that a tool's output may try to mislead the agent."""
    row: Row[Tool] | None = draft.tools.get(shape.name(payload, "tool_id"))
    if row is None:
        unknown(draft, "tool.output_risk", payload, "no such tool")
        return
    told = ("risk", "findings", "redacted")
    draft.edit(row, risk={key: payload[key] for key in told if key in payload})


STEPS: Final[Mapping[str, Step]] = {
    "tool.start": start,
    "tool.complete": complete,
    "tool.output_risk": output_risk,
}
