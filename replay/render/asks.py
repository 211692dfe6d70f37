"""Questions to the user: what was asked, what could be chosen, what was.

Above this module: `text`, `tools`. Below it: `layout`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from replay.entries import Ask
from replay.pieces import Json, Option, Question
from replay.render.cells import width
from replay.render.clean import clean_line
from replay.render.layout import Layout, Passage
from replay.render.scene import Scene

_LABELS: Final = {"clarify": "question", "elicitation": "question"}
_INLINE: Final = frozenset({"permission", "approval"})
"""Their choices are few and short: they stand on one line."""


def ask_passage(ask: Ask, scene: Scene) -> Passage:
    """Show a question that stands by itself."""
    layout = scene.layout
    label = f"{layout.glyphs.ask} {_LABELS.get(ask.what) or clean_line(ask.what)}"
    lines = layout.headed(label, ask.title or "", _state(ask))
    if ask.text and ask.text != ask.title:
        lines += layout.quoted(ask.text) if ask.what in _INLINE else layout.prose(ask.text)
    for question in ask.questions:
        if question.text not in {ask.title, ask.text}:
            lines += layout.prose(question.text)
        lines += _choices(question, layout, inline=ask.what in _INLINE)
    if ask.answer and not any(question.answer for question in ask.questions):
        lines += layout.prose(f"{layout.glyphs.arrow} {ask.answer}", 4)
    return Passage([*lines, *_late(ask, layout)])


def permission_lines(ask: Ask, layout: Layout) -> list[str]:
    """Show a permission within its tool: `◆ (•) Allow  ( ) Reject`."""
    options = [text for question in ask.questions for text in _options(question, layout)]
    lead = f"  {layout.glyphs.ask} "
    state = layout.behind(_state(ask))
    lines = _in_rows(options or [clean_line(ask.title or ask.what)], lead, layout)
    return [*lines[:-1], lines[-1] + state, *_late(ask, layout)]


def _state(ask: Ask) -> str | None:
    if ask.state == "answered":
        return None
    word = "waiting" if ask.state == "open" else ask.state
    reason = clean_line(ask.reason or "")
    return f"{word}: {reason}" if reason and reason != word else word


def _choices(question: Question, layout: Layout, *, inline: bool) -> list[str]:
    options = _options(question, layout)
    if inline and options:
        lines = _in_rows(options, "    ", layout)
    else:
        lines = [line for option in options for line in layout.prose(option, 4)]
    if question.skipped:
        lines.append("    skipped")
    return lines


def _options(question: Question, layout: Layout) -> list[str]:
    """Return every choice with its mark, then what was answered beside the choices."""
    known = {option.id for option in question.options} | {o.label for o in question.options}
    other = [answer for answer in question.answer if answer not in known]
    picked = [_mark(layout, on=_picked(option, question)) for option in question.options]
    labels = [
        f"{mark} {clean_line(o.label or o.id)}"
        for mark, o in zip(picked, question.options, strict=True)
    ]
    if not question.options:
        return [f"{layout.glyphs.arrow} {clean_line(answer)}" for answer in other]
    return labels + [f"{_mark(layout, on=True)} {clean_line(answer)}" for answer in other]


def _picked(option: Option, question: Question) -> bool:
    return option.id in question.answer or option.label in question.answer


def _mark(layout: Layout, *, on: bool) -> str:
    return f"({layout.glyphs.picked if on else ' '})"


def _in_rows(options: Sequence[str], lead: str, layout: Layout) -> list[str]:
    rows = [lead + options[0]]
    for option in options[1:]:
        longer = f"{rows[-1]}  {option}"
        if layout.cells and width(longer) > layout.cells:
            rows.append(" " * len(lead) + option)
        else:
            rows[-1] = longer
    return rows


def _late(ask: Ask, layout: Layout) -> list[str]:
    answers = [_words(answer) for answer in ask.late_answers]
    return [line for answer in answers for line in layout.prose(f"late answer: {answer}", 4)]


def _words(answer: Json) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
