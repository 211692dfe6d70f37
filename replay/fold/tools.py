"""Tool calls: which occurrence a frame is about, and what it changes (fold.md, ACP rules).

Above this module: `acp`, `asks`, `hermes_tools`. Below it: `draft`, `lattice`, `naming`,
`contents`, `terminals`.
"""

from __future__ import annotations

from typing import Any

from replay.entries import Tool
from replay.fold import shape, terminals
from replay.fold.agents import facts_of
from replay.fold.contents import tool_content
from replay.fold.draft import Draft
from replay.fold.lattice import advanced, given_up, is_closed, is_working
from replay.fold.naming import better_kind, better_title, tool_name
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.strings import shortened
from replay.pieces import Json, Location


def tool_call(draft: Draft, update: Payload) -> None:
    """Create a tool, or patch the one that this id has in this turn."""
    tool_id = shape.name(update, "toolCallId")
    changes = _changes(draft, update, draft.tools.get(tool_id))
    row = _created(draft, tool_id)
    if row is None:
        row = new_tool(draft, tool_id)
    patch(draft, row, {**changes, "orphan": False, "permission_only": False})
    _speak(draft, row, update)


def tool_call_update(draft: Draft, update: Payload) -> None:
    """Patch the last tool of this id; one that nobody announced is an orphan (R089)."""
    tool_id = shape.name(update, "toolCallId")
    row = draft.tools.get(tool_id)
    changes = _changes(draft, update, row)
    if row is None:
        row = new_tool(draft, tool_id, orphan=not draft.info.speaks_v2)
    if not facts_of(draft.info.agent).asks_under_own_id:
        changes["permission_only"] = False
    patch(draft, row, changes)
    _speak(draft, row, update)


def tool_of_permission(draft: Draft, update: Payload) -> Row[Tool]:
    """Upsert the tool that a permission is asked for: neither its state nor its words are taken."""
    tool_id = shape.name(update, "toolCallId")
    row = draft.tools.get(tool_id)
    changes = _changes(draft, {**update, "status": None}, row)
    if facts_of(draft.info.agent).asks_under_own_id:
        changes.pop("name", None)  # its title is the question's
    shown = [piece for piece in changes.pop("content", ()) if piece.type != "content"]
    if row is None or is_closed(row.entry.status):
        row = new_tool(draft, tool_id, permission_only=True)
    if shown and not row.entry.content:
        changes["content"] = tuple(shown)
    patch(draft, row, changes)
    set_ours(draft, row, "waiting")
    return row


def content_chunk(draft: Draft, update: Payload) -> None:
    """Append one item to a tool's content (v2)."""
    tool_id = shape.name(update, "toolCallId")
    piece = tool_content(shape.mapping(update, "content"))
    row = draft.tools.get(tool_id) or new_tool(draft, tool_id)
    draft.edit(row, content=(*row.entry.content, piece))


def new_tool(draft: Draft, tool_id: str, **fields: Any) -> Row[Tool]:
    """Begin the next occurrence of *tool_id*; it inherits the kind."""
    before = draft.tools.get(tool_id)
    draft.lively = True
    return draft.add(
        Tool,
        tool_id=tool_id,
        occ=before.entry.occ + 1 if before else 1,
        tkind=before.entry.tkind if before else None,
        **fields,
    )


def patch(draft: Draft, row: Row[Tool], changes: dict[str, Any]) -> None:
    """Change a tool; a `status` among *changes* is what its agent says."""
    if (said := changes.pop("status", None)) is not None:
        changes |= _status_changes(row.entry, said)
    draft.edit(row, **changes)
    _keep_working(draft, row)


def set_ours(draft: Draft, row: Row[Tool], status: str) -> None:
    """Say a status of our own of a tool."""
    draft.edit(row, status=given_up(row.entry.status, status))
    _keep_working(draft, row)


def set_rejected(draft: Draft, row: Row[Tool]) -> None:
    """Say that the user has refused a tool: final, unless it has ended already."""
    if is_working(row.entry.status):
        draft.edit(row, status="rejected")
        _keep_working(draft, row)


def _keep_working(draft: Draft, row: Row[Tool]) -> None:
    if is_working(row.entry.status):
        draft.working[row.place] = row
    else:
        draft.working.pop(row.place, None)


def _status_changes(tool: Tool, said: str) -> dict[str, Any]:
    if is_closed(tool.status):
        if not is_closed(said) or said == tool.status or said in tool.status_conflict:
            return {}
        return {"status_conflict": (*tool.status_conflict, said)}
    return {"status": advanced(tool.status, said)}


def _created(draft: Draft, tool_id: str) -> Row[Tool] | None:
    row = draft.tools.get(tool_id)
    if row and is_closed(row.entry.status) and row.entry.turn != draft.turn_number:
        return None
    return row


def _changes(draft: Draft, update: Payload, row: Row[Tool] | None) -> dict[str, Any]:
    """Return what *update* says, as fields of a tool. Nothing is written here (F-L8)."""
    tool = row.entry if row else None
    title = shape.maybe_text(update, "title")
    kind = better_kind(tool.tkind if tool else None, shape.maybe_text(update, "kind"))
    meta = shape.maybe_mapping(update, "_meta") or {}
    terminals.check_meta(meta)
    changes: dict[str, Any] = {
        "title": better_title(tool.title if tool else None, title),
        "tkind": kind,
        "status": shape.maybe_text(update, "status"),
    }
    if tool is None or tool.name is None:
        changes["name"] = tool_name(draft.info.agent, update, title, kind)
    if (value := update.get("rawInput")) not in (None, {}, [], ""):
        changes["input"] = shortened(value)
    if (value := update.get("rawOutput")) is not None:
        changes["output"] = shortened(value)
        changes |= _exit_code(value)
    if (pieces := shape.maybe_items(update, "content")) is not None:
        changes["content"] = tuple(tool_content(piece) for piece in pieces)
    if update.get("locations") is not None:
        changes["locations"] = _locations(update)
    changes |= _of_meta(meta, tool)
    if draft.info.speaks_v2:
        changes |= {field: empty for key, field, empty in _CLEARED if update.get(key, 0) is None}
    return changes


_CLEARED = (
    ("title", "title", None),
    ("rawInput", "input", None),
    ("rawOutput", "output", None),
    ("content", "content", ()),
    ("locations", "locations", ()),
)


def _locations(update: Payload) -> tuple[Location, ...]:
    return tuple(
        Location(path=shape.text(place, "path"), line=shape.maybe_integer(place, "line"))
        for place in shape.objects(update, "locations")
    )


def _exit_code(output: Json) -> dict[str, Any]:
    match output:
        case {"exit_code": int(code)} if not isinstance(code, bool):
            return {"exit_code": code}
    return {}


def _of_meta(meta: Payload, tool: Tool | None) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    kept = {key: value for key, value in meta.items() if key not in terminals.META}
    if kept:
        changes["meta"] = merged(tool.meta if tool else {}, shortened(kept))
    match meta:
        case {"claudeCode": {"parentToolUseId": str(parent)}} | {"parentToolCallId": str(parent)}:
            changes["parent"] = parent
    match meta:
        case {"terminal_exit": {"exit_code": int(code)}} if not isinstance(code, bool):
            changes["exit_code"] = code
    return changes


def merged(old: Json, new: Json) -> Json:
    """Return *new* laid over *old*, object into object."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


def _speak(draft: Draft, row: Row[Tool], update: Payload) -> None:
    """Feed the terminals that stand in the frame's `_meta`."""
    meta = update.get("_meta")
    if not meta:
        return
    fed = terminals.feed_meta(draft, meta, row.entry.tool_id)
    if new := tuple(name for name in fed if name not in row.entry.terminals):
        draft.edit(row, terminals=(*row.entry.terminals, *new))
