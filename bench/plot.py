"""A plot of what was measured, as SVG: a bar for each median, a line from lowest to highest.

Above this module: the command line. Below it: `harness`.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.harness import Contender

_ROW = 18
_LEFT = 330
_WIDE = 420


def bars(title: str, contenders: Sequence[Contender]) -> str:
    """Return a plot with one group of bars for each figure."""
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
    size = f'width="{_LEFT + _WIDE + 110}" height="{y}"'
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
