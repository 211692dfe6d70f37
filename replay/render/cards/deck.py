"""Which function makes the card of an entry: one row a kind.

Above this module: `markdown`, `html`. Below it: the modules that make cards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from replay.entries import (
    Agent,
    AnyEntry,
    Ask,
    Error,
    Gap,
    Interrupt,
    Notice,
    Plan,
    Subagent,
    System,
    Thought,
    Tool,
    Unknown,
    User,
)
from replay.render.cards.asked import ask_card
from replay.render.cards.beside import (
    error_card,
    gap_card,
    interrupt_card,
    notice_card,
    system_card,
    unknown_card,
)
from replay.render.cards.card import Card
from replay.render.cards.said import agent_card, plan_card, thought_card, user_card
from replay.render.cards.work import subagent_card, tool_card
from replay.render.scene import Scene

_CARDS: Final[Mapping[type, Callable[[Any, Scene], Card]]] = {
    User: user_card,
    Agent: agent_card,
    Thought: thought_card,
    Tool: tool_card,
    Plan: plan_card,
    Ask: ask_card,
    Notice: notice_card,
    Error: error_card,
    System: system_card,
    Subagent: subagent_card,
    Interrupt: interrupt_card,
    Unknown: unknown_card,
    Gap: gap_card,
}


def card_of(entry: AnyEntry, scene: Scene) -> Card:
    """Return the card of an entry that is shown (`order.is_shown`)."""
    card = _CARDS[type(entry)](entry, scene)
    return replace(card, facts=(*card.facts, "replaced")) if entry.superseded else card
