"""The page: a heading a turn, a heading a message, folds for thoughts and for what tools printed.

Above this module: `replay.program`, through the package root. Below it: `cards`, `prose`.
The same entries in the same order as in text, with the same signs; `#e12` leads to an entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from replay.render.cards import (
    Card,
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
from replay.render.clean import clean_line
from replay.render.head import agent_name, remarks, totals, turn_facts
from replay.render.kinds import card_of
from replay.render.markdown.prose import escaped, fenced, harmless, html_text
from replay.render.options import TextOptions
from replay.render.order import in_order
from replay.render.scene import Scene
from replay.transcript import Transcript, Turn

_HEADED: Final = frozenset({"user", "agent"})
_FOLDED: Final = frozenset({"thought", "tool", "subagent"})
_BOXES: Final = {"completed": "[x]", "pending": "[ ]"}


def render_markdown(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    """Return sessions as one Markdown document; nothing but the arguments has a say in it."""
    return "".join(markdown_parts(transcripts, options))


def markdown_parts(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    """Yield the same document block by block."""
    between = ""
    for number, one in enumerate(transcripts, 1):
        scene = Scene.of(one, replace(options, width=0))
        for block in _Page(scene, prefix=f"s{number}-" if number > 1 else "").blocks():
            yield between + block
            between = "\n\n"
    yield "\n"


class _Page:
    """One session; *prefix* keeps its anchors apart from those of another."""

    def __init__(self, scene: Scene, *, prefix: str) -> None:
        self._scene = scene
        self._prefix = prefix
        self._dot = f" {scene.layout.glyphs.dot} "

    def blocks(self) -> Iterator[str]:
        """Yield the blocks of the document, to be parted by blank lines."""
        if self._scene.layout.options.profile.head:
            yield from self._head()
        for shown in in_order(self._scene):
            if isinstance(shown, Turn):
                yield f"## {self._facts(f'Turn {shown.n}', *turn_facts(shown, self._scene))}"
            else:
                yield from self._card(card_of(shown, self._scene))
        if told := remarks(self._scene):
            yield "* * *"
            yield from told

    def _head(self) -> Iterator[str]:
        transcript = self._scene.transcript
        info = transcript.info
        yield f"# {escaped(clean_line(transcript.title or 'untitled'))}"
        facts = (transcript.session, agent_name(info), info.model, info.cwd, info.branch)
        yield self._facts(*(clean_line(fact or "") for fact in facts))
        yield self._facts(*totals(transcript))

    def _card(self, card: Card) -> Iterator[str]:
        id_ = self._prefix + card.entry.id
        parts = [block for part in card.parts for block in self._part(part)]
        if card.entry.kind in _HEADED:
            yield f'<a id="{html_text(id_)}"></a>'
            yield f"### {self._facts(card.label, *card.facts)}"
            yield from parts
        elif card.entry.kind in _FOLDED and parts:
            open_ = " open" if card.sign == "failed" else ""
            yield f'<details id="{html_text(id_)}"{open_}>\n<summary>{self._line(card)}</summary>'
            yield from parts
            yield "</details>"
        else:
            yield f'<p id="{html_text(id_)}">{self._line(card)}</p>'
            yield from parts

    def _line(self, card: Card) -> str:
        """Return a card's line as HTML: sign, label, what it is about, facts."""
        sign: str = getattr(self._scene.layout.glyphs, card.sign)
        words = [html_text(sign)]
        words += [f"<b>{html_text(card.label)}</b>"] if card.label else []
        if card.subject:
            about = html_text(card.subject)
            words.append(f"<code>{about}</code>" if card.entry.kind == "tool" else about)
        return self._dot.join([" ".join(words), *map(html_text, card.told)])

    def _facts(self, *facts: str | None) -> str:
        return self._dot.join(escaped(fact) for fact in facts if fact)

    def _part(self, part: Part) -> Iterator[str]:
        match part:
            case Words(text):
                yield harmless(text)
            case Note(text):
                yield escaped(text)
            case Quote(text):
                yield fenced(text.split("\n"))
            case Output():
                yield fenced(part.lines)
            case Change(diff, title):
                yield from [f"<code>{html_text(title)}</code>"] if title else []
                yield fenced(diff.lines, "diff")
            case Steps(items):
                yield "\n".join(_step(status, text) for status, text in items)
            case Choices():
                yield from self._choices(part)
            case Permission(_, choices, state):
                lead = f"{self._scene.layout.glyphs.ask} permission"
                yield self._facts(lead, state)
                yield from self._choices(choices)

    def _choices(self, choices: Choices) -> Iterator[str]:
        glyphs = self._scene.layout.glyphs
        if choices.question:
            yield harmless(choices.question)
        marks = (f"({glyphs.picked})", "( )") if choices.offered else (glyphs.arrow,) * 2
        lines = [f"- {marks[not on]} {escaped(label)}" for label, on in choices.options]
        if lines:
            yield "\n".join(lines)


def _step(status: str, text: str) -> str:
    box = _BOXES.get(status, "[ ]")
    word = f" ({escaped(status.replace('_', ' '))})" if status not in _BOXES else ""
    return f"- {box} {escaped(text)}{word}"
