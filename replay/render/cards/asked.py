"""Cards of questions to the user.

Above this module: `kinds`, `work`. Below it: `asks`, which knows states and choices.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay.entries import Ask
from replay.pieces import Question
from replay.render.asks import ask_label, asked_diffs, choices_of, is_inline, late_answers, state_of
from replay.render.cards.card import Card, Change, Choices, Note, Part, Quote, Words
from replay.render.clean import clean, clean_line
from replay.render.diffs import title_of
from replay.render.scene import Scene


def ask_card(ask: Ask, scene: Scene) -> Card:
    """Return the card of a question that stands by itself."""
    label = ask_label(ask)
    return Card(
        entry=ask,
        sign="ask",
        label=label[:1].upper() + label[1:],
        icon="speech bubble",
        subject=clean_line(ask.title or ""),
        facts=(state_of(ask),),
        parts=tuple(_parts(ask, scene)),
    )


def choices_in(ask: Ask) -> Choices:
    """Return all choices of an ask as one: a permission has one question."""
    options = [choice for question in ask.questions for choice in choices_of(question)]
    return Choices("", options or [(clean_line(ask.title or ask.what), False)], bool(options))


def late_notes(ask: Ask, scene: Scene) -> Iterator[Part]:
    """Yield what was answered too late."""
    for answer in late_answers(ask, scene.layout):
        yield Note(clean_line(answer))


def _parts(ask: Ask, scene: Scene) -> Iterator[Part]:
    if ask.text and ask.text != ask.title and clean(ask.text).strip():
        yield (Quote if is_inline(ask) else Words)(clean(ask.text).strip("\n"))
    diffs = asked_diffs(ask, scene)
    for diff in diffs:
        yield Change(diff, "".join(title_of(diff, diffs, clean_line(ask.title or ""))))
    for question in ask.questions:
        yield from _choices(question, ask)
    if ask.answer and not any(question.answer for question in ask.questions):
        yield Choices("", [(clean_line(ask.answer), True)], offered=False)
    yield from late_notes(ask, scene)


def _choices(question: Question, ask: Ask) -> Iterator[Part]:
    text = "" if question.text in {ask.title, ask.text} else clean(question.text).strip("\n")
    options = choices_of(question)
    if text or options:
        yield Choices(text, options, bool(question.options))
    if question.skipped:
        yield Note("skipped")
    elif not options and ask.state == "answered" and not ask.answer:
        yield Note("—")
