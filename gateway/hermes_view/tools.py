"""Tools: a `tool.start` when one is announced, a `tool.complete` when it has ended.

Above this module: `updates`, `questions`. Below it: `scene`; `replay` knows what tools are called.

Most last updates name nothing, so name, title and kind come from what was said before. A tool
that was never announced still gets its end: a Hermes client makes its row then. One that its
agent leaves open is closed by the end of its turn, as every row of a Hermes client is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import unified_diff
from typing import Any, Final

from gateway.hermes_view.scene import Json, Scene, Told, ToolSeen
from replay import better_kind, better_title, tool_name

OVER: Final = frozenset({"completed", "failed", "cancelled"})
"""What ends a tool."""

DIFF_LIMIT: Final = 1 << 16
"""Characters of a text up to which its change is told as a diff; the file itself is not."""


def call(scene: Scene, update: Json, ts: int) -> Told | None:
    """Announce a tool; one that has ended already is told at once."""
    tool_id = update.get("toolCallId")
    if not isinstance(tool_id, str):
        return None
    known = scene.tools.get(tool_id)
    if known is None or known.ended:
        known = ToolSeen(tool_id, ts, kind=known.kind if known else None)
    tool = scene.tools[tool_id] = learned(scene, known, update)
    if update.get("status") in OVER:
        return _completed(scene, tool, update, ts)
    return None if tool.started else _started(scene, tool)


def update(scene: Scene, update: Json, ts: int) -> Told | None:
    """Learn of a tool; tell only its end, and only once."""
    tool_id = update.get("toolCallId")
    if not isinstance(tool_id, str):
        return None
    known = scene.tools.get(tool_id) or ToolSeen(tool_id, ts)
    if known.ended:
        return None
    tool = scene.tools[tool_id] = learned(scene, known, update)
    return _completed(scene, tool, update, ts) if update.get("status") in OVER else None


def content_chunk(scene: Scene, update: Json, _: int) -> None:
    """Take one more piece of a tool's content (ACP 2)."""
    tool = scene.tools.get(str(update.get("toolCallId")))
    if tool and "content" in update:
        scene.tools[tool.id] = replace(tool, content=(*tool.content, update["content"]))


def asked_about(scene: Scene, call: Any, ts: int) -> None:
    """Learn of a tool from the question whether it may run: some agents tell it nowhere else."""
    match call:
        case {"toolCallId": str(tool_id)}:
            known = scene.tools.get(tool_id)
            if known is None or known.ended:
                known = ToolSeen(tool_id, ts)
            kept = {key: value for key, value in call.items() if key not in ("content", "status")}
            scene.tools[tool_id] = learned(scene, known, kept)


def learned(scene: Scene, tool: ToolSeen, update: Mapping[str, Any]) -> ToolSeen:
    """Return *tool* with what an update says of it."""
    title, kind = _text(update, "title"), _text(update, "kind")
    known = better_kind(tool.kind, kind)
    content = update.get("content")
    return replace(
        tool,
        title=better_title(tool.title, title),
        kind=known,
        name=tool.name or tool_name(scene.agent, dict(update), title, known),
        input=update.get("rawInput") or tool.input,
        output=tool.output if update.get("rawOutput") is None else update["rawOutput"],
        content=tuple(content) if isinstance(content, list) else tool.content,
        streamed=(*tool.streamed, *_streamed(update.get("_meta"))),
    )


def _started(scene: Scene, tool: ToolSeen) -> Told:
    scene.said.clear()
    scene.tools[tool.id] = replace(tool, started=True)
    return "tool.start", {**named(tool), **_context(tool)}


def _completed(scene: Scene, tool: ToolSeen, update: Json, ts: int) -> Told:
    if not tool.started:
        scene.said.clear()
    # What it held is told here for the last time; its kind stays for a call of the same id.
    scene.tools[tool.id] = ToolSeen(tool.id, tool.began, kind=tool.kind, ended=True)
    failed = update["status"] == "failed"
    return "tool.complete", {
        **named(tool),
        "duration_s": max(0, ts - tool.began) / 1e6,
        "result": _result(tool, failed=failed),
        **_texts(tool),
    }


def named(tool: ToolSeen) -> Json:
    """Return the members that name a tool, and what it was given."""
    args = {"args": tool.input} if isinstance(tool.input, dict) else {}
    return {"tool_id": tool.id, "name": tool.name or tool.kind or tool.title or "tool", **args}


def _context(tool: ToolSeen) -> Json:
    return {"context": tool.title} if tool.title else {}


def _result(tool: ToolSeen, *, failed: bool) -> Any:
    output = tool.output
    if failed and not (isinstance(output, dict) and output.get("error")):
        return {"error": _words(tool) or "failed", **(output if isinstance(output, dict) else {})}
    return {"output": _words(tool)} if output is None else output


def _texts(tool: ToolSeen) -> Json:
    words, diff = _words(tool), _diff(tool.content)
    found = {"result_text": words, "inline_diff": diff, "summary": tool.title}
    return {key: text for key, text in found.items() if text}


def _words(tool: ToolSeen) -> str:
    pieces = [
        item["content"]["text"]
        for item in tool.content
        if isinstance(item, dict)
        and isinstance(item.get("content"), dict)
        and isinstance(item["content"].get("text"), str)
    ]
    if not pieces and isinstance(tool.output, str):
        return tool.output
    return "\n".join(pieces) or "".join(tool.streamed)


def _diff(content: tuple[Any, ...]) -> str:
    """Return the changes that a tool made, as unified diffs."""
    changes: list[str] = []
    for item in content:
        match item:
            case {"type": "diff", "path": str(path), "newText": str(new)}:
                old = item.get("oldText")
                old = old if isinstance(old, str) else ""
                if max(len(old), len(new)) <= DIFF_LIMIT:
                    pair = old.splitlines(), new.splitlines()
                    changes += unified_diff(*pair, f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join(changes)


def _streamed(meta: Any) -> tuple[str, ...]:
    match meta:
        case {"terminal_output": {"data": str(text)}}:
            return (text,)
        case {"terminal_output_delta": {"data": str(text)}}:
            return (text,)
    return ()


def _text(members: Mapping[str, Any], key: str) -> str | None:
    value = members.get(key)
    return value if isinstance(value, str) else None
