"""Prose wrapped at spaces; what is laid out already (fences, tables, drawings) left alone.

Above this module: whatever shows text that people or models wrote. Below it: `cells`.

Markdown is kept as written: only line breaks are added. A list item's further lines hang under
its text. Long words are never cut. Writing without spaces (Chinese, Japanese) breaks between
characters, but not before a closing nor after an opening mark (render.md 5; R126).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from replay.render.cells import expand_tabs, graphemes, width

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_LAID_OUT: Final = re.compile(r" *[|\u2500-\u257f]")
_HANG: Final = re.compile(r" *(?:(?:[-*+•]|[0-9]{1,9}[.)])(?: +\[[ xX]\])? +|> ?)?")
_WORDS: Final = re.compile(r"( *)([^ ]+)")
_NOT_FIRST: Final = frozenset(
    "、。，．・：；？！）」』】〕〉》’”!?,.:;)]}ー…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
_NOT_LAST: Final = frozenset("（「『【〔〈《‘“([{")


def wrapped(text: str, cells: int | None) -> list[str]:
    """Return the lines of *text* (clean), each at most *cells* wide where that is possible."""
    lines: list[str] = []
    fence: str | None = None
    for raw in text.strip("\n").split("\n"):
        line = expand_tabs(raw).rstrip()
        mark = _FENCE.match(line)
        laid_out = fence is not None or mark is not None or _LAID_OUT.match(line) is not None
        fence = _within(fence, line, mark)
        lines += [line] if laid_out or cells is None else _folded(line, cells)
    return lines


def _within(fence: str | None, line: str, mark: re.Match[str] | None) -> str | None:
    """Return the fence that the line after *line* is in."""
    if fence is None:
        return mark[1] if mark else None
    closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
    return None if closes else fence


def _folded(line: str, cells: int) -> Iterator[str]:
    if width(line) <= cells:
        yield line
        return
    found = _HANG.match(line)
    lead = found[0] if found else ""
    hang = " " * (width(lead) if width(lead) * 2 <= cells else 0)
    current, filled = lead, False
    for gap, atom in _atoms(line[len(lead) :]):
        longer = current + (gap if filled else "") + atom
        if filled and width(longer) > cells:
            yield current
            longer = hang + atom
        current, filled = longer, True
    yield current


def _atoms(text: str) -> Iterator[tuple[str, str]]:
    """Yield (spaces before it, unbreakable run) for the whole of *text*."""
    for gap, word in _WORDS.findall(text):
        if word.isascii():
            yield gap, word
            continue
        first, *others = _runs(word)
        yield gap, first
        for run in others:
            yield "", run


def _runs(word: str) -> Iterator[str]:
    run, before = "", ""
    for char in graphemes(word):
        wide = width(char) == 2 or width(before) == 2
        if run and wide and char not in _NOT_FIRST and before not in _NOT_LAST:
            yield run
            run = ""
        run += char
        before = char
    yield run
