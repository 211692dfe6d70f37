"""Cards of everything beside the conversation.

Above this module: `kinds`. Below it: `marks`, which knows words and facts.
"""

from __future__ import annotations

from replay.entries import Error, Gap, Interrupt, Notice, System, Unknown
from replay.render.cards.card import Card, Note, Part, Quote, Words
from replay.render.clean import clean, clean_line
from replay.render.marks import (
    advice,
    error_facts,
    gap_facts,
    interrupt_words,
    notice_facts,
    notice_level,
    payload_of,
    system_facts,
    system_tag,
    system_text,
)
from replay.render.scene import Scene


def notice_card(notice: Notice, scene: Scene) -> Card:
    """Return the card of a message beside the conversation."""
    level = notice_level(notice)
    return Card(
        entry=notice,
        sign="notice",
        label=level[:1].upper() + level[1:] or "Notice",
        icon="bell",
        facts=notice_facts(notice, scene.layout),
        parts=_words(notice.text),
    )


def error_card(error: Error, scene: Scene) -> Card:
    """Return the card of a failure."""
    hint = (Note(clean_line(f"→ {advice(error.hint)}")),) if error.hint else ()
    return Card(
        entry=error,
        sign="error",
        label="Error",
        icon="cross",
        facts=error_facts(error, scene.layout),
        parts=(*_words(error.text), *_words(error.detail or ""), *hint),
    )


def system_card(system: System, scene: Scene) -> Card:
    """Return the card of a change of the session itself."""
    told = system_text(system, scene.layout)
    lines = clean(told).strip("\n")
    short = "\n" not in lines
    return Card(
        entry=system,
        sign="session",
        label=system_tag(system),
        icon="session",
        subject=clean_line(told) if short else "",
        facts=system_facts(system),
        parts=() if short else _words(told),
    )


def interrupt_card(interrupt: Interrupt, scene: Scene) -> Card:
    """Return the card of somebody's stopping the turn."""
    del scene
    word, by, reason = interrupt_words(interrupt)
    return Card(
        entry=interrupt,
        sign="interrupt",
        label=word[:1].upper() + word[1:],
        icon="stop",
        facts=(by,),
        parts=_words(reason),
    )


def unknown_card(unknown: Unknown, scene: Scene) -> Card:
    """Return the card of a record that there is no rule for."""
    del scene
    problem = clean_line(unknown.problem or "")
    return Card(
        entry=unknown,
        sign="unknown",
        label=clean_line(unknown.type) or "unknown",
        icon="circle",
        facts=(f"not understood: {problem}" if problem else None,),
        parts=(Quote(payload_of(unknown)),),
    )


def gap_card(gap: Gap, scene: Scene) -> Card:
    """Return the card of missing events."""
    return Card(entry=gap, sign="gap", label="Gap", icon="gap", facts=gap_facts(gap, scene.layout))


def _words(text: str) -> tuple[Part, ...]:
    return (Words(clean(text)),) if clean(text).strip() else ()
