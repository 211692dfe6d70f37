"""How each kind of entry is shown, as lines of text and as a card of a page: one row a kind.

Above this module: `text`, `markdown`, `html`. Below it: one module a kind, in either form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

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
from replay.render.asks import ask_passage
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
from replay.render.layout import Passage
from replay.render.marks import (
    error_passage,
    gap_passage,
    interrupt_passage,
    notice_passage,
    subagent_passage,
    subagent_sign,
    system_passage,
    unknown_passage,
)
from replay.render.scene import Scene
from replay.render.speech import agent_passage, plan_passage, thought_passage, user_passage
from replay.render.tools import tool_passage, tool_sign


class _Forms(NamedTuple):
    passage: Callable[[Any, Scene], Passage]
    card: Callable[[Any, Scene], Card]


_KINDS: Final[Mapping[type, _Forms]] = {
    User: _Forms(user_passage, user_card),
    Agent: _Forms(agent_passage, agent_card),
    Thought: _Forms(thought_passage, thought_card),
    Tool: _Forms(tool_passage, tool_card),
    Plan: _Forms(plan_passage, plan_card),
    Ask: _Forms(ask_passage, ask_card),
    Notice: _Forms(notice_passage, notice_card),
    Error: _Forms(error_passage, error_card),
    System: _Forms(system_passage, system_card),
    Subagent: _Forms(subagent_passage, subagent_card),
    Interrupt: _Forms(interrupt_passage, interrupt_card),
    Unknown: _Forms(unknown_passage, unknown_card),
    Gap: _Forms(gap_passage, gap_card),
}


def passage_of_entry(entry: AnyEntry, scene: Scene) -> Passage:
    """Return the lines of an entry that is shown (`order.is_shown`)."""
    passage = _KINDS[type(entry)].passage(entry, scene)
    if not (entry.superseded and passage.lines):
        return passage
    title = passage.lines[0] + scene.layout.behind("replaced")
    return replace(passage, lines=[title, *passage.lines[1:]])


def card_of(entry: AnyEntry, scene: Scene) -> Card:
    """Return the card of an entry that is shown."""
    card = _KINDS[type(entry)].card(entry, scene)
    return replace(card, facts=(*card.facts, "replaced")) if entry.superseded else card


def may_fail(entry: AnyEntry) -> bool:
    """Tell whether the card of *entry* might bear the sign of a failure, without making it."""
    match entry:
        case Tool():
            return tool_sign(entry) == "failed"
        case Subagent():
            return subagent_sign(entry) == "failed"
    return not isinstance(entry, User | Agent | Thought)
