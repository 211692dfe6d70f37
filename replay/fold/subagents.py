"""Sub-agents of Hermes: one entry each, whatever order its events come in.

Above this module: `fold`. Below it: `draft`, `shape`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import Subagent
from replay.fold import shape
from replay.fold.draft import Draft
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.step import Step

_ENDED: Final = frozenset({"completed", "failed", "error", "timeout", "interrupted"})


def _step(kind: str) -> Step:
    def step(draft: Draft, payload: Payload) -> None:
        known, more = _known(payload), _more(kind, payload)
        row = draft.subagents.get(_key(payload))
        if row is None:
            orphan = kind not in _BEGINNINGS
            row = draft.add(Subagent, key=_key(payload), orphan=orphan)
        draft.edit(row, **_merged(row, known, more))

    return step


_BEGINNINGS: Final = frozenset({"spawn_requested", "start"})


def _key(payload: Payload) -> str:
    name = shape.maybe_text(payload, "subagent_id")
    return name or f"{shape.integer(payload, 'task_index')} {shape.text(payload, 'goal')}"


def _known(payload: Payload) -> dict[str, Any]:
    return {
        "parent": shape.maybe_text(payload, "parent_id"),
        "depth": shape.maybe_integer(payload, "depth"),
        "goal": shape.maybe_text(payload, "goal"),
        "model": shape.maybe_text(payload, "model"),
        "summary": shape.maybe_text(payload, "summary"),
        "child_session": shape.maybe_text(payload, "child_session_id"),
        "status": shape.maybe_text(payload, "status"),
    }


def _more(kind: str, payload: Payload) -> tuple[str | None, str | None, int]:
    """Return a tool's line, a note, and how much was thought."""
    text = shape.maybe_text(payload, "text")
    if kind == "tool":
        words = [shape.maybe_text(payload, key) for key in ("tool_name", "tool_preview")]
        line = " ".join(word for word in (words[0], words[1] or text) if word)
        return line or None, None, 0
    if kind == "thinking":
        return None, None, len(text or "")
    return None, text if kind == "progress" else None, 0


def _merged(
    row: Row[Subagent], known: dict[str, Any], more: tuple[str | None, str | None, int]
) -> dict[str, Any]:
    before, (tool, note, thought) = row.entry, more
    changes = {key: value for key, value in known.items() if value is not None}
    if before.status in _ENDED:
        changes.pop("status", None)
    elif "status" not in changes and before.status == "queued" and (tool or note or thought):
        changes["status"] = "running"
    if tool:
        changes["tools"] = (*before.tools, tool)
    if note:
        changes["notes"] = (*before.notes, note)
    if thought:
        changes["thinking"] = before.thinking + thought
    return changes


STEPS: Final[Mapping[str, Step]] = {
    f"subagent.{kind}": _step(kind)
    for kind in ("spawn_requested", "start", "progress", "thinking", "tool", "complete")
}
