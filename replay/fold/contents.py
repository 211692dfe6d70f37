"""What a tool shows: text, diffs, terminals, blocks; long strings are cut (P-34, fold.md).

Above this module: `tools`. Below it: `blocks`, `strings`, `pieces`.
"""

from __future__ import annotations

from typing import Any

from replay.fold import shape
from replay.fold.blocks import as_json, text_or_block
from replay.fold.shape import Misshapen, Payload
from replay.fold.strings import excerpt
from replay.fold.values import made
from replay.pieces import Block, Excerpt, ToolContent


def tool_content(piece: Any) -> ToolContent:
    """Return one item of a tool call's `content`."""
    if type(piece) is dict and piece.get("type") == "content":
        part = text_or_block(piece.get("content"))
        if isinstance(part, str):
            return made(ToolContent, {"type": "content", "text": excerpt(part)})
        return ToolContent(type="content", block=part)
    match piece:
        case {"type": "diff", "path": str(path), "newText": str(new)}:
            old = shape.maybe_text(piece, "oldText")
            changed = {"path": path, "old": _maybe(old), "new": excerpt(new)}
            return made(ToolContent, {"type": "diff", **changed})
        case {"type": "diff", "changes": list()}:
            return _changed_files(piece)
        case {"type": "terminal", "terminalId": str(terminal)}:
            return made(ToolContent, {"type": "terminal", "terminal": terminal})
        case {"type": "diff" | "terminal" as kind}:
            raise Misshapen(f"a tool's content of type {kind} lacks what it needs")
        case {"type": str(kind)}:
            return ToolContent(type=kind, block=Block(type=kind, text=as_json(piece)))
    raise Misshapen("an item of a tool's content is no object with a type")


def _changed_files(piece: Payload) -> ToolContent:
    """Return a v2 diff: its patch as it is, or else the list of changes."""
    patch = shape.maybe_text(piece, "patch")
    changed = shape.objects(piece, "changes")
    paths = [path for change in changed if isinstance(path := change.get("path"), str)]
    return ToolContent(
        type="diff",
        path=paths[0] if paths else None,
        text=excerpt(as_json(changed) if patch is None else patch),
    )


def _maybe(text: str | None) -> Excerpt | None:
    return None if text is None else excerpt(text)
