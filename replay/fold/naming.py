"""A tool's name, kind and title: which frame says them, and which saying stays.

Above this module: `tools`, `asks`, the renderers (through the package). Below it: `agents`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from replay.fold.agents import facts_of

_PLACEHOLDERS: Final = frozenset({"tool call", "tool", "terminal"})
_MCP: Final = re.compile(r"mcp__(.+?)__(.+)\Z", re.DOTALL)
_NO_WORD: Final = re.compile(r"[\W_]+")


def tool_name(
    agent: str | None, update: dict[str, Any], title: str | None, kind: str | None
) -> str | None:
    """Return the name that a frame of *agent* gives its tool, or None."""
    meta = update.get("_meta")
    if isinstance(meta, dict):
        claude = meta.get("claudeCode")
        if isinstance(claude, dict) and isinstance(named := claude.get("toolName"), str) and named:
            return named
    if isinstance(named := update.get("name"), str) and named:
        return named
    if isinstance(meta, dict):
        for key in ("toolName", "tool_name"):
            if isinstance(named := meta.get(key), str) and named:
                return named
    return facts_of(agent).tool_name(title, kind)


def better_title(old: str | None, new: str | None) -> str | None:
    """Return the title to keep: the last one, unless it says nothing."""
    if not new or (old and new.lower() in _PLACEHOLDERS):
        return old
    return new


def better_kind(old: str | None, new: str | None) -> str | None:
    """Return the kind to keep: the last one, unless it is `other` after a real one."""
    return old if new is None or (new == "other" and old is not None) else new


def canonical(name: str) -> str:
    """Return *name* as tables have it: `mcp__server__Ask_User` is `askuser`."""
    bare = found[2] if (found := _MCP.match(name)) else name
    return _NO_WORD.sub("", bare).lower()


def is_question_tool(agent: str | None, name: str | None) -> bool:
    """Tell whether a tool of that name asks the user something."""
    return name is not None and canonical(name) in facts_of(agent).question_tools


def is_plan_approval(agent: str | None, name: str | None) -> bool:
    """Tell whether a tool of that name asks to leave plan mode."""
    return name is not None and canonical(name) in facts_of(agent).plan_tools
