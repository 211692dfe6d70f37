"""The drawings: one symbol a kind of work, 16 by 16, in lines of the colour of the text.

Above this module: `page`, `entry`. Below it: `markup`. They are our own; the names are those of
the table of display verbs (render.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from replay.render.html.markup import Html, element

_SHEET: Final = "M4 1.8h5.2L12.5 5v9.2H4z M9 1.8V5h3.5"

_DRAWINGS: Final[Mapping[str, str]] = {
    "file with text": f"{_SHEET} M6 7.8h4.5 M6 10h4.5 M6 12.1h2.6",
    "file with pen": "M9 1.8H3.5v12.4H7 M9 1.8L12 5v1.4 M9 1.8V5h3 M8.6 13.9l.5-2.2 4-4 1.6 1.7-4 4z",
    "terminal": "M1.8 3h12.4v10H1.8z M4.2 6l2 2-2 2 M8 10.3h3.6",
    "magnifier": "M6.9 2.4a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z M10.2 10.2l3.8 3.8",
    "globe": "M8 1.9a6.1 6.1 0 1 1 0 12.2a6.1 6.1 0 1 1 0-12.2z M2 8h12 M8 1.9c-3.4 3.6-3.4 8.6 0 12.2"
    " M8 1.9c3.4 3.6 3.4 8.6 0 12.2",
    "bot": "M3 5.5h10v7.7H3z M8 5.5V2.6 M6.8 2.4h2.4 M5.8 8.2v1.4 M10.2 8.2v1.4 M1.4 8v2.6 M14.6 8v2.6",
    "list": "M2.4 4h.8 M5.6 4h8 M2.4 8h.8 M5.6 8h8 M2.4 12h.8 M5.6 12h8",
    "speech bubble": "M2 2.8h12v8.4H7.4L4.2 14v-2.8H2z M6.4 5.7c.2-1.6 3.3-1.5 3.2.2 0 1.1-1.6 1.1-1.6 2.2 M8 9.4v.3",
    "bin": "M2.6 4.2h10.8 M6 4V2.2h4V4 M4 4.4l.7 9.4h6.6l.7-9.4 M6.8 6.8v4.6 M9.2 6.8v4.6",
    "arrow": "M2.2 8h11 M9.4 4.2L13.4 8l-4 3.8",
    "bubble": "M6.8 2.2h2.6c5 0 5.6 7 .4 7.4H6.6C1 9.4 1.8 2.4 6.8 2.2z M5.4 11.9h.9 M3.4 14h.3",
    "circle": "M8 3.4a4.6 4.6 0 1 1 0 9.2a4.6 4.6 0 1 1 0-9.2z",
    "person": "M8 2.2a2.9 2.9 0 1 1 0 5.8a2.9 2.9 0 1 1 0-5.8z M2.6 14c.6-5 10.2-5 10.8 0",
    "agent": "M8 1.6l1.7 4.7L14.4 8l-4.7 1.7L8 14.4 6.3 9.7 1.6 8l4.7-1.7z",
    "bell": "M3 11.6h10 M4.2 11.4V7c.2-5 7.4-5 7.6 0v4.4 M7 13.8h2",
    "cross": "M8 1.9a6.1 6.1 0 1 1 0 12.2a6.1 6.1 0 1 1 0-12.2z M8 4.8v3.9 M8 10.9v.3",
    "session": "M2 8c2-4.5 4-4.5 6 0s4 4.5 6 0",
    "stop": "M4 4h8v8H4z",
    "gap": "M2 8h3.4 M10.6 8H14 M7 4.2L6 11.8 M10 4.2L9 11.8",
}


def sprite() -> Html:
    """Return all drawings, to be put into a page once, unseen."""
    symbols = [
        element("symbol", element("path", d=drawing), id=_name(icon), viewBox="0 0 16 16")
        for icon, drawing in _DRAWINGS.items()
    ]
    return element("svg", *symbols, class_="sprite", aria_hidden="true")


def drawn(icon: str) -> Html:
    """Return a drawing; it says nothing that the label beside it does not."""
    return element("svg", element("use", href=f"#{_name(icon)}"), class_="icon", aria_hidden="true")


def _name(icon: str) -> str:
    return f"icon-{icon.replace(' ', '-')}"
