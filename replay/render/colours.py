"""Colours: a line of the text with its sign, its gutter and its changes painted.

Above this module: `text`, `asciicast`. Below it: `layout`. Paint adds escape sequences of ours
and changes nothing else: without them the line is the same.
"""

from __future__ import annotations

from typing import Final

from replay.entries import Ask, Tool
from replay.render.glyphs import Glyphs
from replay.render.layout import Passage

_COLOURS: Final = {
    "you": "1;34",
    "agent": "1;36",
    "thought": "2",
    "ok": "32",
    "failed": "31",
    "stopped": "33",
    "open": "33",
    "plan": "36",
    "ask": "33",
    "notice": "33",
    "error": "1;31",
    "interrupt": "33",
    "session": "2",
    "gap": "33",
    "rule": "2",
}


def coloured(line: str, passage: Passage, glyphs: Glyphs) -> str:
    """Return a line of *passage* with its sign in colour, and with the colours of a diff."""
    signs = {getattr(glyphs, name): colour for name, colour in _COLOURS.items()}
    if line[:2] == glyphs.rule * 2:
        return f"\x1b[1m{line}\x1b[0m"
    if line[:1] in signs:
        return f"\x1b[{signs[line[:1]]}m{line[:1]}\x1b[0m{line[1:]}"
    gutter = f"  {glyphs.gutter} "
    if not line.startswith(gutter):
        return line
    change = {"+": "32", "-": "31"}.get(line[4:5]) if _has_diff(passage) else None
    rest = f"\x1b[{change}m{line[4:]}\x1b[0m" if change else line[4:]
    return f"\x1b[2m{gutter}\x1b[0m{rest}"


def _has_diff(passage: Passage) -> bool:
    match passage.of:
        case Tool(inline_diff=diff, content=content):
            return bool(diff) or any(item.type == "diff" for item in content)
        case Ask(what="permission"):
            return True
    return False
