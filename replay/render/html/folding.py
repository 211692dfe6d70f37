"""Which cards of a turn lie behind one summary.

Above this module: `page`. Below it: `cards`.

A finished agent message with two or more tools or thoughts folds from its first to its last; one
that runs stays open (render.md). What a person said, what failed the turn or is still to be
answered is not part of a message: it parts one from the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from replay.entries import Ask
from replay.render.cards import Card
from replay.render.figures import counted
from replay.transcript import Turn

_WORK: Final = frozenset({"tool", "thought", "subagent"})
_PARTING: Final = frozenset({"user", "error", "interrupt", "gap"})
_NAMES: Final = (
    ("tool", "tool call"),
    ("subagent", "sub-agent"),
    ("thought", "thought"),
    ("agent", "message"),
    ("ask", "question"),
    ("plan", "plan"),
)


@dataclass(frozen=True, slots=True)
class Folded:
    """Cards behind a summary."""

    cards: Sequence[Card]

    @property
    def words(self) -> str:
        """What is behind it: "4 tool calls, 2 thoughts, 1 message"."""
        kinds: list[str] = [card.entry.kind for card in self.cards]
        counts = [(kinds.count(kind), noun) for kind, noun in _NAMES]
        others = len(kinds) - sum(number for number, _ in counts)
        counts.append((others, "notice"))
        return ", ".join(counted(number, noun) for number, noun in counts if number)

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return sum(card.sign == "failed" for card in self.cards)


def folded(turn: Turn | None, cards: Sequence[Card]) -> Iterator[Card | Folded]:
    """Yield the cards of a turn in their order, long work of what is finished behind summaries."""
    if turn is None or turn.outcome == "open":
        yield from cards
        return
    message: list[Card] = []
    for card in cards:
        if _parts(card):
            yield from (*_message(message), card)
            message = []
        else:
            message.append(card)
    yield from _message(message)


def _parts(card: Card) -> bool:
    return card.entry.kind in _PARTING or (
        isinstance(card.entry, Ask) and card.entry.state == "open"
    )


def _message(cards: Sequence[Card]) -> Iterator[Card | Folded]:
    work = [at for at, card in enumerate(cards) if card.entry.kind in _WORK]
    if len(work) < 2:
        yield from cards
        return
    first, last = work[0], work[-1] + 1
    yield from cards[:first]
    yield Folded(cards[first:last])
    yield from cards[last:]
