"""A plot of what was measured, as SVG: bars, or curves where something grows.

Above this module: the command line. Below it: `harness`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, log10

from bench.harness import Contender

_ROW = 18
_LEFT = 330
_WIDE = 420
_PANEL = 380
_GAP = 90
_ACROSS = 2


def bars(title: str, contenders: Sequence[Contender]) -> str:
    """Return a plot with one group of bars for each figure: to the median, a line to both ends."""
    figures = dict.fromkeys(figure for one in contenders for figure in one.figures)
    parts, y = [_text(8, 20, title, "bold")], 44
    for figure in figures:
        parts.append(_text(8, y, figure, "bold"))
        y += _ROW
        measured = [one for one in contenders if figure in one.figures]
        most = max(max(one.figures[figure]) for one in measured) or 1
        for one in measured:
            parts += _bar(one, figure, y, most)
            y += _ROW
        y += _ROW // 2
    return _svg(_LEFT + _WIDE + 110, y, parts)


def curves(title: str, contenders: Sequence[Contender]) -> str:
    """Return a plot with a curve for each figure: medians against size, both as powers of ten."""
    parts, at = [_text(8, 20, title, "bold")], 0
    for curve in dict.fromkeys(one.curve for one in contenders if one.curve):
        points = [one for one in contenders if one.curve == curve]
        for figure in dict.fromkeys(figure for one in points for figure in one.figures):
            x, y = 30 + at % _ACROSS * (_PANEL + _GAP), 60 + at // _ACROSS * (_PANEL // 2 + 60)
            parts += _curve(
                f"{figure}, by {curve}", x, y, [(one.size, one.median(figure)) for one in points]
            )
            at += 1
    rows = -(-at // _ACROSS)
    return _svg(_ACROSS * (_PANEL + _GAP) + 30, 60 + rows * (_PANEL // 2 + 60), parts)


def _curve(title: str, x: int, y: int, points: Sequence[tuple[int, float]]) -> Iterator[str]:
    """Yield a panel whose corner is at *x*, *y*; its height is three powers of ten at least."""
    low = floor(log10(min(value for _, value in points)))
    decades = max(3, floor(log10(max(value for _, value in points))) + 1 - low)
    first, last = log10(points[0][0]), log10(points[-1][0])
    wide, high = _PANEL / max(last - first, 1), _PANEL / 2 / decades
    yield _text(x, y - 8, title, "bold")
    yield f'<rect x="{x}" y="{y}" width="{_PANEL}" height="{_PANEL // 2}" fill="none" stroke="#ccc"/>'
    for decade in range(1, decades):
        yield f'<path d="M{x} {y + decade * high:.1f}h{_PANEL}" stroke="#eee"/>'
    places = [
        (x + (log10(size) - first) * wide, y + (decades - log10(value) + low) * high, size, value)
        for size, value in points
    ]
    line = "L".join(f"{across:.1f} {down:.1f}" for across, down, *_ in places)
    yield f'<path d="M{line}" fill="none" stroke="#3b7dd8" stroke-width="2"/>'
    for across, down, size, value in places:
        yield f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="#3b7dd8"/>'
        yield _text(across - 8, down - 6, f"{value:,.{0 if value > 100 else 2}f}")
        yield _text(across - 8, y + _PANEL // 2 + 14, f"{size:,}")


def _svg(wide: int, high: int, parts: Sequence[str]) -> str:
    size = f'width="{wide}" height="{high}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        f'<rect {size} fill="white"/>{"".join(parts)}</svg>\n'
    )


def _bar(one: Contender, figure: str, y: int, most: float) -> list[str]:
    found = one.figures[figure]
    middle = one.median(figure)
    low, high, end = (value / most * _WIDE for value in (min(found), max(found), middle))
    ours = "#3b7dd8" if "ours" in one.name else "#b8b8b8"
    return [
        _text(8, y, one.name),
        f'<rect x="{_LEFT}" y="{y - 11}" width="{end:.1f}" height="13" fill="{ours}"/>',
        f'<path d="M{_LEFT + low:.1f} {y - 5}H{_LEFT + high:.1f}" stroke="black"/>',
        _text(_LEFT + max(end, high) + 6, y, f"{middle:,.{0 if middle > 100 else 2}f}"),
    ]


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}">{escape(text)}</text>'
