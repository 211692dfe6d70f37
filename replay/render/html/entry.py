"""One card as HTML: an article, or a fold if it is work or a thought.

Above this module: `page`. Below it: `parts`, `icons`, `markup`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from replay.entries import Subagent, Tool
from replay.render.cards import Card, Change, Permission, Words
from replay.render.figures import clock
from replay.render.html.icons import drawn
from replay.render.html.markup import Html, element, joined, text
from replay.render.html.parts import shown
from replay.render.scene import Scene

_FOLDED: Final = frozenset({"thought", "tool", "subagent"})
_SHORT: Final = 40
"""Lines up to which a diff lies open."""
_STATES: Final = {
    "ok": "completed",
    "failed": "failed",
    "stopped": "stopped",
    "open": "not finished",
}


@dataclass(frozen=True, slots=True)
class Entries:
    """Makes the HTML of a session's cards; *prefix* keeps its anchors apart from another's."""

    scene: Scene
    prefix: str = ""

    def html(self, card: Card) -> Html:
        """Return a card."""
        kind = card.entry.kind
        parts = [shown(part) for part in card.parts if not isinstance(part, Permission)]
        common = {
            "id": self.prefix + card.entry.id,
            "class_": " ".join(["card", kind, *_levels(card)]),
            "data_kind": kind,
            "data_state": card.sign if card.sign in _STATES else None,
        }
        asked = [shown(self._own(part)) for part in card.parts if isinstance(part, Permission)]
        if kind in _FOLDED and (parts or asked):
            head = element("summary", *self._head(card), class_="head")
            body = element("div", *asked, *parts, class_="body")
            return element("details", head, body, open=_is_open(card), **common)
        body = [element("div", *asked, *parts, class_="body")] if parts or asked else []  # type: ignore[assignment]
        return element(
            "article", element("header", *self._head(card), class_="head"), *body, **common
        )

    def link(self, card: Card) -> Html:
        """Return a link to a card, in its own words."""
        words = [f"{self._glyph(card)} {card.label}"]
        subject = [element("code", text(card.subject))] if card.subject else []
        link = element("a", text(words[0]), *subject, href=f"#{self.prefix}{card.entry.id}")
        return element("li", link, *self._facts(card))

    def _own(self, part: Permission) -> Permission:
        return Permission(self.prefix + part.id, part.choices, part.state)

    def _head(self, card: Card) -> list[Html]:
        sign = element(
            "span",
            text(self._glyph(card)),
            class_=f"sign {card.sign}",
            title=_STATES.get(card.sign),
        )
        label = [element("span", text(card.label), class_="label")] if card.label else []
        about = "code" if isinstance(card.entry, Tool) else "span"
        subject = [element(about, text(card.subject), class_="subject")] if card.subject else []
        return [sign, drawn(card.icon), *label, *subject, *self._facts(card), self._anchor(card)]

    def _glyph(self, card: Card) -> str:
        glyph: str = getattr(self.scene.layout.glyphs, card.sign)
        return glyph

    def _facts(self, card: Card) -> list[Html]:
        if not card.told:
            return []
        facts = [element("span", text(fact), class_=_fact(fact)) for fact in card.told]
        return [element("span", joined(facts, " · "), class_="facts")]

    def _anchor(self, card: Card) -> Html:
        entry, profile = card.entry, self.scene.layout.options.profile
        if not profile.numbers:
            return element("a", text("#"), class_="anchor", href=f"#{self.prefix}{entry.id}")
        moment = f"at {clock(entry.t0)}" if profile.times else None
        return element(
            "a",
            text(f"#{entry.first}"),
            class_="anchor",
            href=f"#{self.prefix}{entry.id}",
            title=moment,
        )


def _levels(card: Card) -> list[str]:
    """Return the classes of what works for something else: it stands further in."""
    match card.entry:
        case Subagent(depth=int(depth)) if depth > 0:
            return ["within"]
        case Tool(parent=str()):
            return ["within"]
    return []


def _is_open(card: Card) -> bool:
    if card.sign == "failed":
        return True
    if isinstance(card.entry, Subagent):
        return any(isinstance(part, Words) for part in card.parts)
    changes = [part.diff for part in card.parts if isinstance(part, Change)]
    return bool(changes) and sum(len(diff.lines) for diff in changes) <= _SHORT


def _fact(fact: str) -> str | None:
    """Return the class of a fact that has a colour of its own."""
    return "bad" if fact.startswith(("exit ", "signal ", "risk")) else None
