"""What a tool does in a word, and to what: the table of display verbs.

Above this module: every renderer. Below it: `entries`, the fold's `naming`. Texts come out as they went in: whoever
prints them cleans them. The table is render.md's; labels and icons are for HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from replay.entries import Tool
from replay.fold.naming import canonical
from replay.pieces import Json


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table. *quiet*: the result of a success is counted, not printed."""

    short: str
    label: str
    icon: str
    names: frozenset[str]
    quiet: bool = False


def _row(short: str, label: str, icon: str, names: str, *, quiet: bool = False) -> Verb:
    return Verb(short, label, icon, frozenset(names.split()), quiet)


VERBS: Final = (
    _row("read", "Read file", "file with text", "read readfile readtextfile view cat", quiet=True),
    _row("write", "Write file", "file with pen", "write writefile create"),
    _row(
        "edit",
        "Edit file",
        "file with pen",
        "edit multiedit patch strreplace applypatch notebookedit",
    ),
    _row(
        "run",
        "Terminal command",
        "terminal",
        "bash execute terminal shell runcommand runterminalcmd runshellcommand process",
    ),
    _row("grep", "Content search", "magnifier", "grep grepsearch", quiet=True),
    _row("glob", "File pattern match", "magnifier", "glob listdirectory", quiet=True),
    _row("search", "Search", "magnifier", "search searchfiles", quiet=True),
    _row("web", "Web search", "globe", "websearch", quiet=True),
    _row("fetch", "Fetch URL", "globe", "webfetch fetch webextract", quiet=True),
    _row("delegate", "Sub-agent task", "bot", "task delegate delegatetask spawnagent agent"),
    _row("todo", "Task list", "list", "todowrite writetodos todo todolist", quiet=True),
    _row(
        "ask",
        "Question to the user",
        "speech bubble",
        "askuserquestion question clarify mcp__conductor__askuserquestion",
    ),
    _row("plan?", "Plan approval", "list", "exitplanmode planexit"),
    _row("plan", "Plan mode", "list", "enterplanmode", quiet=True),
    _row("delete", "Delete", "bin", "delete"),
    _row("move", "Move", "arrow", "move"),
    _row("think", "Think", "bubble", "think"),
)
"""By canonical name. A kind of ACP (`execute`, `fetch`) finds its row by the same names."""

_BY_NAME: Final[Mapping[str, Verb]] = {name: verb for verb in VERBS for name in verb.names}
_SUBJECTS: Final = (
    "file_path",
    "path",
    "filename",
    "command",
    "pattern",
    "query",
    "url",
    "goal",
    "description",
)
_PATHS: Final = frozenset(_SUBJECTS[:3])
_PLACEHOLDERS: Final = frozenset({"tool call", "tool", "terminal"})


def known(tool: Tool) -> Verb | None:
    """Return the row of the table that *tool* belongs to, by its name, else by its kind."""
    return _by_name(tool.name) or _by_name(tool.tkind)


def verb_of(tool: Tool) -> str:
    """Return the display verb: the table's, else the kind, else the raw name, else nothing."""
    server, _ = _split(tool.name or "")
    if row := known(tool):
        return f"{server}/{row.short}" if server else row.short
    if tool.tkind not in {None, "", "other"}:
        return str(tool.tkind)
    if tool.name:
        return "/".join(part for part in _split(tool.name) if part)
    return ""


def server_of(tool: Tool) -> str:
    """Return the MCP server that *tool* belongs to, or nothing."""
    return _split(tool.name or "")[0]


def subject_of(tool: Tool, cwd: str | None) -> str:
    """Return what *tool* works on: from its input, else its title, else its first location."""
    found = _from_input(tool.input, cwd)
    if found is None and tool.title and tool.title.strip().lower() not in _PLACEHOLDERS:
        found = _from_title(tool.title, tool, cwd)
    if found is None and tool.locations:
        found = relative(tool.locations[0].path, cwd)
    return found or ""


def relative(path: str, cwd: str | None) -> str:
    """Return *path* as seen from *cwd* if it lies below it."""
    base = (cwd or "").rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in {"/", "\\"}:
        return path[len(base) + 1 :] or path
    return path


def _by_name(name: str | None) -> Verb | None:
    if not name:
        return None
    return _BY_NAME.get(name.lower()) or _BY_NAME.get(canonical(name))


def _split(name: str) -> tuple[str, str]:
    """Return the MCP server and the tool of `mcp__server__tool`; the server is empty otherwise."""
    match name.split("__", 2):
        case ["mcp", server, tool] if server and tool:
            return server, tool
    return "", name


def _from_input(given: Json, cwd: str | None) -> str | None:
    if not isinstance(given, Mapping):
        return None
    for key in _SUBJECTS:
        match given.get(key):
            case str(text) if text.strip():
                return relative(text, cwd) if key in _PATHS else text
            case [*words] if words and all(isinstance(word, str) for word in words):
                return " ".join(words)
    return None


def _from_title(title: str, tool: Tool, cwd: str | None) -> str | None:
    rest = _without_name(title, tool)
    verb = known(tool)
    if not rest or not cwd or (verb is not None and verb.short == "run"):
        return rest  # a command is shown as it was run
    return rest.replace(cwd.rstrip("/") + "/", "") or rest


def _without_name(title: str, tool: Tool) -> str | None:
    """Return *title* without the name if the verb tells it already: `terminal: ls` -> `ls`."""
    if not tool.name or (_by_name(tool.name) is None and verb_of(tool) != tool.name):
        return title
    found = re.match(rf"{re.escape(tool.name)}(?:\s*\([^()]*\))?\s*(:|\Z)", title, re.IGNORECASE)
    if found is None:
        return title
    return title[found.end() :].strip() or None
