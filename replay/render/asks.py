"""Questions to the user: what was asked, what could be chosen, what was.

Above this module: `text`, `tools`. Below it: `layout`, `diffs`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from replay.entries import Ask, Tool
from replay.pieces import Json, Option, Question
from replay.render.cells import width
from replay.render.clean import clean_line
from replay.render.diffs import Diff, diffs_of, title_of
from replay.render.layout import Layout, Passage
from replay.render.outputs import Printout
from replay.render.prose import wrapped
from replay.render.scene import Scene

_LABELS: Final = {"clarify": "question", "elicitation": "question"}
_INLINE: Final = frozenset({"permission", "approval"})
"""Their choices are few and short: they stand on one line."""


def ask_passage(ask: Ask, scene: Scene) -> Passage:
    """Show a question that stands by itself."""
    layout = scene.layout
    label = f"{layout.glyphs.ask} {ask_label(ask)}"
    lines = layout.headed(label, ask.title or "", state_of(ask))
    if ask.text and ask.text != ask.title:
        lines += layout.quoted(ask.text) if ask.what in _INLINE else layout.prose(ask.text)
    diffs = asked_diffs(ask, scene)
    for diff in diffs:
        lines += layout.gutter(title_of(diff, diffs, clean_line(ask.title or "")))
        lines += layout.body(Printout(diff.lines), layout.kept_of_diff)
    for question in ask.questions:
        if question.text not in {ask.title, ask.text}:
            lines += layout.prose(question.text)
        lines += _choices(question, ask, layout)
    if ask.answer and not _told_by_question(ask):
        lines += layout.prose(f"{layout.glyphs.arrow} {ask.answer}", 4)
    return Passage([*lines, *_late(ask, layout)])


def permission_lines(ask: Ask, layout: Layout) -> list[str]:
    """Show a permission within its tool: `◆ (•) Allow  ( ) Reject`."""
    options = [text for question in ask.questions for text in _options(question, layout)]
    lead = f"  {layout.glyphs.ask} "
    state = layout.behind(state_of(ask))
    lines = _in_rows(options or [clean_line(ask.title or ask.what)], lead, layout)
    return [*lines[:-1], lines[-1] + state, *_late(ask, layout)]


def asked_diffs(ask: Ask, scene: Scene) -> list[Diff]:
    """Return what was to be approved, where the tool is known from its permission alone."""
    tool = scene.entries.get(ask.tool or "")
    if not isinstance(tool, Tool) or not tool.permission_only:
        return []
    return diffs_of(tool, scene.transcript.info.cwd)


def ask_label(ask: Ask) -> str:
    """Return what kind of question it is, in a word."""
    return _LABELS.get(ask.what) or clean_line(ask.what)


def is_inline(ask: Ask) -> bool:
    """Whether the choices stand on one line, and the text is a command."""
    return ask.what in _INLINE


def state_of(ask: Ask) -> str | None:
    """Return what became of a question that was not simply answered."""
    if ask.state == "answered":
        return None
    word = "waiting" if ask.state == "open" else ask.state
    reason = clean_line(ask.reason or "")
    return f"{word}: {reason}" if reason and reason != word else word


def _told_by_question(ask: Ask) -> bool:
    """Whether the answers stand at the questions, not in one text for all."""
    return any(question.answer for question in ask.questions)


def _choices(question: Question, ask: Ask, layout: Layout) -> list[str]:
    options = _options(question, layout)
    if ask.what in _INLINE and options:
        lines = _in_rows(options, "    ", layout)
    else:
        lines = [line for option in options for line in layout.prose(option, 4)]
    if question.skipped:
        lines.append("    skipped")
    elif not lines and ask.state == "answered" and _told_by_question(ask):
        lines.append(f"    {layout.glyphs.none}")
    return lines


def _options(question: Question, layout: Layout) -> list[str]:
    """Return every choice with its mark, then what was answered beside the choices."""
    if not question.options:
        return [f"{layout.glyphs.arrow} {answer}" for answer, _ in choices_of(question)]
    return [f"{_mark(layout, on=on)} {label}" for label, on in choices_of(question)]


def choices_of(question: Question) -> list[tuple[str, bool]]:
    """Return every choice, and whether it was made; then what was answered beside the choices."""
    known = {name for option in question.options for name in _names(option)}
    offered = [
        (clean_line(option.label or option.id), _picked(option, question.answer))
        for option in question.options
    ]
    return [
        *offered,
        *((clean_line(answer), True) for answer in question.answer if answer not in known),
    ]


def _picked(option: Option, answer: Sequence[str]) -> bool:
    return any(name in answer for name in _names(option))


def _names(option: Option) -> tuple[str, ...]:
    """Return what an answer may call *option*; Hermes marks its first choice on the wire alone."""
    return option.id, option.label, option.label.removesuffix(" (Recommended)")


def _mark(layout: Layout, *, on: bool) -> str:
    return f"({layout.glyphs.picked if on else ' '})"


def _in_rows(options: Sequence[str], lead: str, layout: Layout) -> list[str]:
    """Put choices on lines, as many as fit; one that is too long for a line is wrapped."""
    rows: list[str] = []
    room = max(1, layout.cells - len(lead)) if layout.cells else None
    open_row = False
    for option in options:
        longer = f"{rows[-1]}  {option}" if rows else ""
        if open_row and (not layout.cells or width(longer) <= layout.cells):
            rows[-1] = longer
        else:
            lines = wrapped(option, room)
            rows += [" " * len(lead) + line for line in lines]
            open_row = len(lines) == 1
    return [lead + rows[0][len(lead) :], *rows[1:]]


def _late(ask: Ask, layout: Layout) -> list[str]:
    return [line for text in late_answers(ask, layout) for line in layout.prose(text, 4)]


def late_answers(ask: Ask, layout: Layout) -> list[str]:
    """Return what was answered once it was too late (as it came)."""
    answers = [", ".join(_words(answer, layout)) for answer in ask.late_answers]
    return [f"late answer: {answer}" for answer in answers]


def _words(answer: Json, layout: Layout) -> list[str]:
    """Return what an answer says: the strings in it, whatever they are wrapped in."""
    match answer:
        case str():
            return [answer]
        case {"outcome": {"optionId": str(option)}}:
            return [option]
        case dict():
            return [word for item in answer.values() for word in _words(item, layout)]
        case list():
            return [word for item in answer for word in _words(item, layout)]
        case None:
            return [layout.glyphs.none]
    return [json.dumps(answer)]
