"""What stands within a line of Markdown: code, strong, emphasis, links.

Above this module: `prose`. Below it: `markup`.

A link is shown, not made: its address stands behind its text, to be read before it is followed.
A page has no way out (R152).
"""

from __future__ import annotations

import re
from typing import Final

from replay.render.html.markup import Html, element, joined, text

_SPAN: Final = 2000
"""Characters that a span may hold; bounds the search for its end."""

_TOKEN: Final = re.compile(
    r"(?P<escape>\\(?P<char>[!-/:-@\[-`{-~]))"
    rf"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]{{1,{_SPAN}}}?)(?<!`)(?P=ticks)(?!`)"
    rf"|\*\*(?=\S)(?P<strong>[^\n]{{1,{_SPAN}}}?)(?<=\S)\*\*"
    rf"|(?<![\w*])\*(?=[^\s*])(?P<em>[^*\n]{{1,{_SPAN}}}?)(?<=\S)\*(?![\w*])"
    rf"|(?<!\w)_(?=[^\s_])(?P<under>[^_\n]{{1,{_SPAN}}}?)(?<=\S)_(?!\w)"
    rf"|~~(?=\S)(?P<gone>[^\n]{{1,{_SPAN}}}?)(?<=\S)~~"
    rf"|!?\[(?P<label>[^\[\]\n]{{0,{_SPAN}}})\]\((?P<target>[^\s()]{{0,{_SPAN}}})(?:[ ]+\"[^\"\n]*\")?\)"
)
_ELEMENTS: Final = {"strong": "strong", "em": "em", "under": "em", "gone": "del"}


def inline(words: str) -> Html:
    """Return a line, or several, of Markdown (clean) as HTML."""
    made: list[Html] = []
    at = 0
    for found in _TOKEN.finditer(words):
        made += [text(words[at : found.start()]), _token(found)]
        at = found.end()
    return joined([*made, text(words[at:])])


def _token(found: re.Match[str]) -> Html:
    if found["escape"]:
        return text(found["char"])
    if found["ticks"]:
        code = found["code"]
        stripped = (
            code[1:-1] if code.startswith(" ") and code.endswith(" ") and code.strip() else code
        )
        return element("code", text(stripped))
    for group, name in _ELEMENTS.items():
        if found[group]:
            return element(name, inline(found[group]))
    label, target = found["label"], found["target"]
    if not target or label == target:
        return inline(label)
    address = element("span", text(f" ({target})"), class_="address")
    return joined([element("span", inline(label), class_="link"), address])
