"""Diffs: made from an old and a new text, or read from a patch that an agent has made.

Above this module: `tools`, `asks`. Below it: `entries`, `verbs`, `clean`. Lines come out clean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Final

from replay.entries import Tool
from replay.pieces import Excerpt, ToolContent
from replay.render.cells import expand_tabs
from replay.render.clean import clean, clean_line
from replay.render.figures import grouped
from replay.render.verbs import relative

CONTEXT: Final = 2
"""Unchanged lines around a change (fold.md, "diffs")."""

_FILE_HEAD: Final = re.compile(r"a/.* → b/|--- |\+\+\+ |diff --git |index [0-9a-f]+\.\.")


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed in one file."""

    path: str | None
    lines: Sequence[str]
    added: int = 0
    removed: int = 0
    new: bool = False
    """The file was not there before."""


def diffs_of(tool: Tool, cwd: str | None) -> list[Diff]:
    """Return what *tool* changed, or is to change, a diff a file."""
    found = [_diff(item, cwd) for item in tool.content if item.type == "diff"]
    if not found and tool.inline_diff:
        found = [from_patch(tool.inline_diff)]
    return found


def title_of(diff: Diff, diffs: list[Diff], subject: str) -> list[str]:
    """Return the path of *diff* unless it goes without saying beside *subject* (R106)."""
    path = clean_line(diff.path or "")
    return [path] if path and (len(diffs) > 1 or path not in subject) else []


def _diff(item: ToolContent, cwd: str | None) -> Diff:
    path = relative(item.path, cwd) if item.path else None
    if item.text is not None:  # ACP 2 sends the patch itself
        return replace(from_patch(item.text.text), path=path)
    return from_texts(path, item.old, item.new)


def from_texts(path: str | None, old: Excerpt | None, new: Excerpt | None) -> Diff:
    """Compare two texts; *old* is None for a new file, *new* for one that is gone."""
    if _was_cut(old) or _was_cut(new):
        return Diff(path, [f"too large to compare: {_size(old)} → {_size(new)} bytes"])
    before, after = _lines(old), _lines(new)
    lines = list(unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]
    if not lines and old and new and old.text != new.text:
        lines = ["only the end of the last line differs"]
    return _counted(path, lines, new=old is None)


def from_patch(text: str) -> Diff:
    """Read a patch as it was made elsewhere; its file header goes if it speaks of one file only."""
    lines = clean(text).strip("\n").split("\n")
    heads = [at for at, line in enumerate(lines) if _FILE_HEAD.match(line)]
    hunks = [at for at, line in enumerate(lines) if line.startswith("@@")]
    files = sum(
        1 for at in heads if not _FILE_HEAD.match(lines[at + 1] if at + 1 < len(lines) else "")
    )
    if hunks:
        lines = lines[heads[0] if files > 1 and heads else hunks[0] :]
    return _counted(None, lines, new="@@ -0,0 " in text)


def _counted(path: str | None, lines: Sequence[str], *, new: bool) -> Diff:
    shown = [line[:1] + expand_tabs(clean(line[1:])) for line in lines]
    changes = [line for line in lines if not _FILE_HEAD.match(line)]
    return Diff(
        path,
        [line.rstrip() for line in shown],
        added=sum(line.startswith("+") for line in changes),
        removed=sum(line.startswith("-") for line in changes),
        new=new,
    )


def _lines(text: Excerpt | None) -> list[str]:
    return text.text.removesuffix("\n").split("\n") if text and text.text else []


def _was_cut(text: Excerpt | None) -> bool:
    return text is not None and text.size is not None


def _size(text: Excerpt | None) -> str:
    if text is None:
        return "0"
    return grouped(text.size or len(text.text.encode("utf-8", "surrogatepass")))
