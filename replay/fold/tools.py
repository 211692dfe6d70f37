"""Tool calls: which occurrence a frame is about, and what it changes (fold.md, ACP rules).

Above this module: `acp`, `asks`, `hermes_tools`. Below it: `draft`, `lattice`, `naming`,
`contents`, `terminals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from replay.entries import Tool
from replay.fold import shape, terminals
from replay.fold.agents import facts_of
from replay.fold.contents import tool_content
from replay.fold.draft import Draft
from replay.fold.lattice import advanced, given_up, is_closed, is_working
from replay.fold.naming import better_kind, better_title, tool_name
from replay.fold.row import Row
from replay.fold.shape import Payload, as_items, as_text
from replay.fold.strings import shortened
from replay.fold.values import made
from replay.pieces import Json, Location


def tool_call(draft: Draft, update: Payload) -> None:
    """Create a tool, or patch the one that this id has in this turn."""
    tool_id = shape.name(update, "toolCallId")
    row = draft.tools.get(tool_id)
    changes = _changes(draft, update, row)
    if row is None or (is_closed(row.entry.status) and row.entry.turn != draft.turn_number):
        row = new_tool(draft, tool_id, changes)
    else:
        patch(draft, row, {**changes, "orphan": False, "permission_only": False})
    if "_meta" in update:
        _feed(draft, row, update)


def tool_call_update(draft: Draft, update: Payload) -> None:
    """Patch the last tool of this id; one that nobody announced is an orphan (R089)."""
    tool_id = shape.name(update, "toolCallId")
    row = draft.tools.get(tool_id)
    changes = _changes(draft, update, row)
    if row is None:
        row = new_tool(draft, tool_id, {**changes, "orphan": not draft.v2})
    else:
        if row.entry.permission_only and not facts_of(draft.info.agent).asks_under_own_id:
            changes["permission_only"] = False
        patch(draft, row, changes)
    if "_meta" in update:
        _feed(draft, row, update)


def tool_of_permission(draft: Draft, update: Payload) -> Row[Tool]:
    """Upsert the tool that a permission is asked for: neither its state nor its words are taken."""
    tool_id = shape.name(update, "toolCallId")
    row = draft.tools.get(tool_id)
    changes = _changes(draft, {**update, "status": None}, row)
    if facts_of(draft.info.agent).asks_under_own_id:
        changes.pop("name", None)  # its title is the question's
    shown = [piece for piece in changes.pop("content", ()) if piece.type != "content"]
    if shown and not (row and row.entry.content):
        changes["content"] = tuple(shown)
    if row is None or is_closed(row.entry.status):
        row = new_tool(draft, tool_id, {**changes, "permission_only": True})
    else:
        patch(draft, row, changes)
    set_ours(draft, row, "waiting")
    return row


def content_chunk(draft: Draft, update: Payload) -> None:
    """Append one item to a tool's content (v2)."""
    tool_id = shape.name(update, "toolCallId")
    piece = tool_content(shape.mapping(update, "content"))
    row = draft.tools.get(tool_id) or new_tool(draft, tool_id, {})
    draft.edit(row, content=(*row.entry.content, piece))


def new_tool(draft: Draft, tool_id: str, fields: dict[str, Any]) -> Row[Tool]:
    """Begin the next occurrence of *tool_id*; it inherits the kind."""
    draft.lively = True
    before = draft.tools.get(tool_id)
    if before is not None:
        fields["occ"] = before.entry.occ + 1
        fields["tkind"] = fields.get("tkind", before.entry.tkind)
    return draft.add(Tool, tool_id=tool_id, **fields)


def patch(draft: Draft, row: Row[Tool], changes: dict[str, Any]) -> None:
    """Change a tool; a `status` among *changes* is what its agent says."""
    said, status = changes.pop("status", None), row.entry.status
    if said is None or said == status:
        draft.write(row, changes)
    elif is_closed(status):
        if is_closed(said) and said not in row.entry.status_conflict:
            changes["status_conflict"] = (*row.entry.status_conflict, said)
        draft.write(row, changes)
    else:
        changes["status"] = advanced(status, said)
        draft.write(row, changes)
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


def _changes(draft: Draft, update: Payload, row: Row[Tool] | None) -> dict[str, Any]:
    """Return what *update* says, as fields of a tool. Nothing is written here (F-L8)."""
    tool = row.entry if row else None
    changes: dict[str, Any] = {}
    for member, value in update.items():
        if value is not None and (read := _MEMBERS.get(member)) is not None:
            read(changes, value, tool)
    if tool is None or tool.name is None:
        kind = changes.get("tkind", tool and tool.tkind)
        changes["name"] = tool_name(draft.info.agent, update, update.get("title"), kind)
    if draft.v2:
        changes |= {field: empty for key, field, empty in _CLEARED if update.get(key, 0) is None}
    return changes


Changes = dict[str, Any]
Read = Callable[[Changes, Any, Tool | None], None]
"""(changes, the member's value, the tool so far) -> None; writes to *changes* alone."""


def _title(changes: Changes, value: Any, tool: Tool | None) -> None:
    changes["title"] = better_title(tool.title if tool else None, as_text("title", value))


def _kind(changes: Changes, value: Any, tool: Tool | None) -> None:
    changes["tkind"] = better_kind(tool.tkind if tool else None, as_text("kind", value))


def _status(changes: Changes, value: Any, _tool: Tool | None) -> None:
    changes["status"] = as_text("status", value)


def _raw_input(changes: Changes, value: Any, _tool: Tool | None) -> None:
    if value not in ({}, [], ""):
        changes["input"] = shortened(value)


def _raw_output(changes: Changes, value: Any, _tool: Tool | None) -> None:
    changes["output"] = shortened(value)
    if type(value) is dict and type(code := value.get("exit_code")) is int:
        changes.setdefault("exit_code", code)


def _content(changes: Changes, value: Any, _tool: Tool | None) -> None:
    changes["content"] = tuple(map(tool_content, as_items("content", value)))


def _locations(changes: Changes, value: Any, _tool: Tool | None) -> None:
    changes["locations"] = tuple(
        made(
            Location,
            {"path": shape.text(place, "path"), "line": shape.maybe_integer(place, "line")},
        )
        for place in shape.objects({"locations": value}, "locations")
    )


def _meta(changes: Changes, value: Any, tool: Tool | None) -> None:
    meta = value if type(value) is dict else shape.mapping({"_meta": value}, "_meta")
    if terminals.speaks(meta):
        terminals.check_meta(meta)
        code = (meta.get("terminal_exit") or {}).get("exit_code")
        if code is not None:
            changes["exit_code"] = code
        meta = {key: item for key, item in meta.items() if key not in terminals.META}
    if meta:
        new = shortened(meta)
        changes["meta"] = merged(tool.meta, new) if tool and tool.meta else new
    claude = meta.get("claudeCode")
    for parent in (
        claude.get("parentToolUseId") if type(claude) is dict else None,
        meta.get("parentToolCallId"),
    ):
        if type(parent) is str:
            changes["parent"] = parent
            break


_MEMBERS: Final[Mapping[str, Read]] = {
    "title": _title,
    "kind": _kind,
    "status": _status,
    "rawInput": _raw_input,
    "rawOutput": _raw_output,
    "content": _content,
    "locations": _locations,
    "_meta": _meta,
}

_CLEARED: Final = (
    ("title", "title", None),
    ("rawInput", "input", None),
    ("rawOutput", "output", None),
    ("content", "content", ()),
    ("locations", "locations", ()),
)


def merged(old: Json, new: Json) -> Json:
    """Return *new* laid over *old*, object into object."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


def _feed(draft: Draft, row: Row[Tool], update: Payload) -> None:
    """Feed the terminals that stand in the frame's `_meta`."""
    meta = update["_meta"] or {}
    if not terminals.speaks(meta):
        return
    fed = terminals.feed_meta(draft, meta, row.entry.tool_id)
    if new := tuple(name for name in fed if name not in row.entry.terminals):
        draft.edit(row, terminals=(*row.entry.terminals, *new))
