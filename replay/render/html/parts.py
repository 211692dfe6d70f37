"""The parts of a card as HTML: words, outputs, diffs, choices, steps.

Above this module: `entry`. Below it: `prose`, `markup`, `cards`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replay.render.cards import (
    Change,
    Choices,
    Note,
    Output,
    Part,
    Permission,
    Quote,
    Steps,
    Words,
)
from replay.render.diffs import Diff
from replay.render.glyphs import UNICODE
from replay.render.html.markup import NOTHING, Html, element, joined, text
from replay.render.html.prose import prose

_LINES: Final = {"+": "added", "-": "removed", "@": "hunk", "\\": "hunk"}
_ROW: Final = 60
"""Characters of choices that stand in a row."""
_STEPS: Final = {"completed": "✓", "in_progress": "▸", "cancelled": "⊘", "pending": ""}


def shown(part: Part) -> Html:
    """Return a part of a card."""
    match part:
        case Quote(words):
            return element("pre", text(words), class_="output", tabindex="0")
        case Output():
            return element("pre", *_lines(part), class_="output", tabindex="0")
        case Change(diff, title):
            return _diff(diff, title)
        case Permission(id_, choices, state):
            return _permission(id_, choices, state)
    return _said(part)


def _said(part: Words | Note | Steps | Choices) -> Html:
    match part:
        case Words(words):
            return element("div", prose(words), class_="prose")
        case Note(words):
            return element("p", text(words), class_="note")
        case Steps(items):
            return element("ol", *(_step(status, words) for status, words in items), class_="steps")
        case Choices():
            return _choices(part)


def _lines(output: Output) -> Iterator[Html]:
    yield text("\n".join(output.before))
    if output.between:
        yield element("span", text(f"\n… {output.between} …\n"), class_="cut")
        yield text("\n".join(output.after))


def _diff(diff: Diff, title: str) -> Html:
    named = element("p", text(title), class_="path") if title else NOTHING
    lines = [
        element("span", text(f"{line}\n"), class_=_LINES.get(line[:1], "same"))
        for line in diff.lines
    ]
    return joined([named, element("pre", *lines, class_="diff", tabindex="0")])


def _step(status: str, words: str) -> Html:
    known = _STEPS.get(status)
    box = element("span", text(known or ""), class_="box", aria_hidden="true")
    told = [] if known is not None and status in {"pending", "completed"} else [_word(status)]
    return element("li", box, element("span", text(words)), *told, class_=f"step {_state(status)}")


def _word(status: str) -> Html:
    return element("span", text(status.replace("_", " ")), class_="facts")


def _state(status: str) -> str:
    """Return a class of ours for a status, which may be any string."""
    return status.replace("_", "-") if status in _STEPS else "other"


def _choices(choices: Choices) -> Html:
    asked = element("div", prose(choices.question), class_="prose") if choices.question else NOTHING
    if not choices.options:
        return asked
    name = "choices" if choices.offered else "choices free"
    if not choices.question and sum(len(label) for label, _ in choices.options) <= _ROW:
        name += " inline"
    return joined([asked, element("ul", *_options(choices), class_=name)])


def _options(choices: Choices) -> Iterator[Html]:
    for label, on in choices.options:
        mark = UNICODE.arrow
        if choices.offered:
            mark = f"({UNICODE.picked})" if on else "( )"
        sign = element("span", text(mark), class_="mark")
        yield element("li", sign, text(f" {label}"), class_="picked" if on else None)


def _permission(id_: str, choices: Choices, state: str | None) -> Html:
    lead = element("span", text(UNICODE.ask), class_="mark")
    told = [element("span", text(state), class_="facts")] if state else []
    name = "choices inline" if choices.offered else "choices inline free"
    return element(
        "div",
        lead,
        element("ul", *_options(choices), class_=name),
        *told,
        class_="permission",
        id=id_,
    )
