"""The page: one document for one session or several, with what it needs inside.

Above this module: `replay.program`, through the package root. Below it: `entry`, `folding`,
`style`, `markup`.

It loads nothing, runs nothing and leads nowhere: the policy in its head allows our one style
sheet, by its hash, and nothing else (R152).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from replay.render.cards import Card
from replay.render.clean import clean_line
from replay.render.head import agent_name, remarks, totals, turn_facts
from replay.render.html.entry import Entries
from replay.render.html.folding import Folded, folded
from replay.render.html.icons import drawn, sprite
from replay.render.html.markup import Html, closing, element, joined, opening, text
from replay.render.html.style import HASH, STYLE
from replay.render.kinds import card_of, may_fail
from replay.render.options import TextOptions
from replay.render.order import in_order
from replay.render.scene import Scene
from replay.transcript import Transcript, Turn

POLICY: Final = f"default-src 'none'; style-src '{HASH}'; base-uri 'none'; form-action 'none'"

FILTERS: Final = (
    ("thought", "Thoughts", True),
    ("work", "Tools", True),
    ("beside", "Notices", True),
    ("failed", "Failures only", False),
)
"""Boxes that show and hide kinds of entries: id, label, ticked. The style sheet does the work."""


def render_html(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    """Return sessions as one HTML document; nothing but the arguments has a say in it."""
    return "".join(html_parts(transcripts, options))


def html_parts(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    """Yield the same document piece by piece, a turn at a time."""
    sessions = [
        _Session(one, options, prefix=f"s{number}-" if number > 1 else "")
        for number, one in enumerate(transcripts, 1)
    ]
    title = " · ".join(session.title for session in sessions[:3]) or "nothing recorded"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", text(title)),
        element("style", Html(STYLE)),
    )
    yield "<!doctype html>\n"
    yield joined([opening("html", lang="en"), head, opening("body"), sprite(), _filters()])
    for session in sessions:
        yield from session.html()
    yield joined([closing("body"), closing("html"), Html("\n")])


def _filters() -> Html:
    boxes = [
        element(
            "label",
            element("input", type="checkbox", id=f"show-{name}", checked=ticked),
            text(f" {label}"),
        )
        for name, label, ticked in FILTERS
    ]
    return element("nav", *boxes, class_="filters", aria_label="What is shown")


class _Session:
    """One session of the page."""

    def __init__(self, transcript: Transcript, options: TextOptions, *, prefix: str) -> None:
        self._transcript = transcript
        self._scene = Scene.of(transcript, replace(options, width=0))
        self._prefix = prefix
        self._entries = Entries(self._scene, prefix)
        self.title = (
            clean_line(transcript.title or "") or clean_line(transcript.session) or "untitled"
        )

    def html(self) -> Iterator[Html]:
        """Yield the session: its head, its turns, what is not shown."""
        yield opening("main")
        if self._scene.layout.options.profile.head:
            yield self._head()
        empty = True
        for turn in self._turns():
            empty = False
            yield self._turn(*turn)
        if empty:
            yield element("p", text("nothing recorded"), class_="note")
        if told := remarks(self._scene):
            yield element("footer", text(" · ".join(told)))
        yield closing("main")

    def _turns(self) -> Iterator[tuple[Turn | None, list[Card]]]:
        """Yield each turn with its cards; what stands before the first has none."""
        turn: Turn | None = None
        cards: list[Card] = []
        for one in in_order(self._scene):
            if isinstance(one, Turn):
                if turn or cards:
                    yield turn, cards
                turn, cards = one, []
            else:
                cards.append(card_of(one, self._scene))
        if turn or cards:
            yield turn, cards

    def _head(self) -> Html:
        info = self._transcript.info
        session = self._transcript.session if self._transcript.title else ""
        facts = (session, agent_name(info), info.model, info.cwd, info.branch)
        lines = ([clean_line(fact or "") for fact in facts], list(totals(self._transcript)))
        return element(
            "header",
            element("h1", text(self.title)),
            *(element("p", _told(line), class_="facts") for line in lines),
            *self._failures(),
            class_="top",
        )

    def _failures(self) -> list[Html]:
        """Return links to whatever failed: the first thing that a reader looks for."""
        entries = [one for one in in_order(self._scene) if not isinstance(one, Turn)]
        cards = (card_of(one, self._scene) for one in entries if may_fail(one))
        failed = [replace(card, parts=()) for card in cards if card.sign in {"failed", "error"}]
        if not failed:
            return []
        links = element("ul", *(self._entries.link(card) for card in failed))
        count = "1 failure" if len(failed) == 1 else f"{len(failed)} failures"
        return [element("details", element("summary", text(count)), links, class_="failures")]

    def _turn(self, turn: Turn | None, cards: Sequence[Card]) -> Html:
        body = [self._piece(piece) for piece in folded(turn, cards)]
        if turn is None:
            return element("section", *body, class_="turn")
        name = f"{self._prefix}t{turn.n}"
        outcome = element("span", _told(turn_facts(turn, self._scene)), class_="facts")
        link = element("a", text(f"Turn {turn.n}"), href=f"#{name}")
        return element(
            "section", element("h2", link, outcome), *body, class_=f"turn {turn.outcome}", id=name
        )

    def _piece(self, piece: Card | Folded) -> Html:
        if isinstance(piece, Card):
            return self._entries.html(piece)
        failed = (
            element("span", text(f"{piece.failed} failed"), class_="bad") if piece.failed else None
        )
        words = [text(piece.words), *([text(" · "), failed] if failed else [])]
        summary = element("summary", drawn("list"), element("span", *words))
        cards = element("div", *map(self._entries.html, piece.cards), class_="cards")
        return element("details", summary, cards, class_="fold")


def _told(facts: Sequence[str | None]) -> Html:
    return joined([element("span", text(fact)) for fact in facts if fact], " · ")
