"""Prose as people and models write it (Markdown), as HTML.

Above this module: `parts`. Below it: `inline`, `markup`.

Not all of CommonMark: what is read is fences, headings, lists, quotes, tables and paragraphs, a
line break being one. Whatever else somebody means by their signs stays as it was written: no
word is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from replay.render.cells import expand_tabs
from replay.render.html.inline import inline
from replay.render.html.markup import Html, element, joined, text

_FENCE: Final = re.compile(r"(\s*)(`{3,})([^`]*)\Z|(\s*)(~{3,})(.*)\Z")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*\Z")
_RULE: Final = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})\Z")
_ITEM: Final = re.compile(r"( *)([-*+]|[0-9]{1,9}[.)])( +|\Z)(?:\[([ xX])\] +)?")
_QUOTE: Final = re.compile(r" {0,3}> ?")
_ROW: Final = re.compile(r" {0,3}\|.*\|\Z")
_DASHES: Final = re.compile(r" {0,3}\|(?: *:?-+:? *\|)+\Z")
_DEEPEST: Final = 12
"""Levels of quotes and lists within each other; below that signs stay signs."""

_Found = tuple[Html, int]
"""A block, and the number of the line behind it."""


def prose(words: str, depth: int = 0) -> Html:
    """Return Markdown (clean) as HTML."""
    lines = [expand_tabs(line).rstrip() for line in words.strip("\n").split("\n")]
    made: list[Html] = []
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        block, at = _block(lines, at, depth)
        made.append(block)
    return joined(made, "\n")


def _block(lines: Sequence[str], at: int, depth: int) -> _Found:
    for block in _BLOCKS:
        if found := block(lines, at, depth):
            return found
    end = at + 1
    while end < len(lines) and lines[end] and not _interrupts(lines, end, depth):
        end += 1
    return element("p", inline("\n".join(line.strip() for line in lines[at:end]))), end


def _interrupts(lines: Sequence[str], at: int, depth: int) -> bool:
    line = lines[at]
    item = _ITEM.match(line)
    return bool(
        _FENCE.match(line)
        or _HEADING.match(line)
        or (depth < _DEEPEST and (_QUOTE.match(line) or (item and item[3])))
        or (_ROW.match(line) and at + 1 < len(lines) and _DASHES.match(lines[at + 1]))
    )


def _fence(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    del depth
    opens = _FENCE.match(lines[at])
    if opens is None:
        return None
    indent, fence, language = (
        (opens[1], opens[2], opens[3]) if opens[2] else (opens[4], opens[5], opens[6])
    )
    closes = re.compile(rf"\s*{re.escape(fence[0])}{{{len(fence)},}}")
    end = next((n for n in range(at + 1, len(lines)) if closes.fullmatch(lines[n])), len(lines))
    held = [line.removeprefix(indent) for line in lines[at + 1 : end]]
    return code_block("\n".join(held), language.strip()), end + 1


def code_block(words: str, language: str = "") -> Html:
    """Return code as a block, with the name of its language."""
    named = [element("span", text(language), class_="language")] if language else []
    code = element("pre", element("code", text(words)), tabindex="0")
    return element("div", *named, code, class_="code")


def _heading(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    del depth
    found = _HEADING.match(lines[at])
    if found is None:
        return None
    return element(f"h{min(6, len(found[1]) + 3)}", inline(found[2])), at + 1


def _rule(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    del depth
    return (element("hr"), at + 1) if _RULE.match(lines[at]) else None


def _quote(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    if depth >= _DEEPEST or not _QUOTE.match(lines[at]):
        return None
    end = at
    while end < len(lines) and _QUOTE.match(lines[end]):
        end += 1
    inside = "\n".join(_QUOTE.sub("", line, count=1) for line in lines[at:end])
    return element("blockquote", prose(inside, depth + 1)), end


def _list(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    first = _ITEM.match(lines[at])
    if first is None or depth >= _DEEPEST:
        return None
    numbered = first[2][0].isdigit()
    items: list[Html] = []
    while at < len(lines):
        item = _ITEM.match(lines[at])
        if item is None or len(item[1]) != len(first[1]) or item[2][0].isdigit() != numbered:
            break
        end = _end_of_item(lines, at, len(first[1]))
        items.append(_item(lines[at:end], item, depth))
        at = end
        while at + 1 < len(lines) and not lines[at] and _ITEM.match(lines[at + 1]):
            at += 1
    start = first[2][:-1] if numbered and first[2][:-1] != "1" else None
    return element("ol" if numbered else "ul", *items, start=start), at


def _end_of_item(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the line behind an item: what is indented further belongs to it, also after a blank."""
    end = at + 1
    while end < len(lines):
        line = lines[end] or (lines[end + 1] if end + 1 < len(lines) else "")
        if not line or len(line) - len(line.lstrip()) <= indent:
            break
        end += 1
    return end


def _item(lines: Sequence[str], item: re.Match[str], depth: int) -> Html:
    first = lines[0][item.end() :]
    rest = [line[min(item.end(), len(line) - len(line.lstrip())) :] for line in lines[1:]]
    box = [] if item[4] is None else [text("☐ " if item[4] == " " else "☑ ")]
    if not any(rest):
        return element("li", *box, inline(first))
    return element("li", *box, prose("\n".join([first, *rest]), depth + 1))


def _table(lines: Sequence[str], at: int, depth: int) -> _Found | None:
    del depth
    if at + 1 >= len(lines) or not _ROW.match(lines[at]) or not _DASHES.match(lines[at + 1]):
        return None
    end = at + 2
    while end < len(lines) and _ROW.match(lines[end]):
        end += 1
    head = element("thead", _cells(lines[at], "th"))
    body = element("tbody", *(_cells(line, "td") for line in lines[at + 2 : end]))
    return element("div", element("table", head, body), class_="table"), end


def _cells(line: str, name: str) -> Html:
    cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
    return element(
        "tr", *(element(name, inline(cell.strip().replace("\\|", "|"))) for cell in cells)
    )


_BLOCKS: Final[tuple[Callable[[Sequence[str], int, int], _Found | None], ...]] = (
    _fence,
    _heading,
    _rule,
    _quote,
    _list,
    _table,
)
