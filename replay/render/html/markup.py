"""HTML by construction: the one place where a string becomes markup.

Above this module: every module of this package. Below it: nothing.

`Html` is text that may stand in a page; only `text`, `element` and its two
tags make it. Names of elements and
attributes are ours, written in the code; everything else is escaped (R152).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NewType

Html = NewType("Html", str)

NOTHING: Final = Html("")
_VOID: Final = frozenset({"br", "hr", "input", "meta", "use"})
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"}
)


def text(words: str) -> Html:
    """Return *words* (clean) as they are to be read."""
    return Html(words.translate(_ESCAPES))


def element(name: str, /, *children: Html, **attributes: str | bool | None) -> Html:
    """Return an element; `class_` stands for class, `data_kind` for data-kind.

    An attribute is left out if its value is None or False, and has no value if that is True.
    """
    begin = opening(name, **attributes)
    return begin if name in _VOID else Html(f"{begin}{''.join(children)}{closing(name)}")


def opening(name: str, /, **attributes: str | bool | None) -> Html:
    """Return the tag that begins an element, whose children are written one by one."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{written}>")


def closing(name: str) -> Html:
    """Return the tag that ends it."""
    return Html(f"</{name}>")


def joined(parts: Iterable[Html], by: str = "") -> Html:
    """Return *parts* as one, with *by* (of ours) between them."""
    return Html(by.join(parts))
