"""Cells of a terminal: how wide a text is, and how to cut one without cutting a character.

Above this module: `prose`, `layout`. Below it: wcwidth's tables. Texts are clean (`clean`) and
without tabs.

A character here is a grapheme: what a reader takes for one, be it a letter with its marks, a
flag, or a family of emoji joined together (R126).
"""

from __future__ import annotations

from collections.abc import Iterator

from wcwidth import iter_graphemes, wcswidth


def width(text: str) -> int:
    """Return how many cells *text* takes; ambiguous characters are narrow."""
    return len(text) if text.isascii() else max(0, wcswidth(text))


def graphemes(text: str) -> Iterator[str]:
    """Yield the characters of *text* as a reader counts them."""
    return iter(text) if text.isascii() else iter_graphemes(text)


def clip(text: str, cells: int, mark: str) -> str:
    """Return *text* if it fits *cells*, else as much of it as fits with *mark* behind it."""
    if _fits(text, cells):
        return text
    room = cells - width(mark)
    first = next(pieces(text, max(1, room)))
    return (first.rstrip() if width(first) <= room else "") + mark


def pieces(text: str, cells: int) -> Iterator[str]:
    """Cut *text* into pieces of at most *cells*; a wider single character stands alone."""
    if _fits(text, cells):
        yield text
        return
    if text.isascii():
        for start in range(0, len(text), cells):
            yield text[start : start + cells]
        return
    taken: list[str] = []
    total = 0
    for char in graphemes(text):
        wide = width(char)
        if taken and total + wide > cells:
            yield "".join(taken)
            taken, total = [], 0
        taken.append(char)
        total += wide
    yield "".join(taken)


def expand_tabs(text: str, size: int = 4) -> str:
    """Replace tabs by spaces up to the next multiple of *size* cells."""
    if "\t" not in text:
        return text
    first, *others = text.split("\t")
    for part in others:
        first += " " * (size - width(first) % size) + part
    return first


def _fits(text: str, cells: int) -> bool:
    return len(text) * 2 <= cells or width(text) <= cells
