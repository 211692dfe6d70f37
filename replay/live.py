"""A transcript that grows, on a screen: lines that stay as they are, and lines that may change.

Above this module: a terminal client, through the package root. Below it: the text renderer. Pure:
it is shown one transcript after the other, and says what to append and what to draw below that.

What is settled is given once. Should it read otherwise later (a job in the background ends), it
is given again as it stands then, never in the same words. A turn's plan is drawn below until the
turn is over: it changes all the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from replay.entries import AnyEntry, Ask, Plan, Subagent, Tool
from replay.render.colours import coloured
from replay.render.figures import counted
from replay.render.head import head, turn_rule
from replay.render.layout import Layout, Passage
from replay.render.options import TextOptions
from replay.render.order import in_order
from replay.render.scene import Scene
from replay.render.text import passage_of, spaced
from replay.transcript import Transcript, Turn

_DONE: Final = frozenset({"completed", "failed"})
_AT_WORK: Final = frozenset({"queued", "running", "in_progress", "pending"})


@dataclass(frozen=True, slots=True)
class Shown:
    """What one more look at a session gives; both end with a line feed, or are empty."""

    settled: str
    """To be appended to what was settled before."""
    tail: str
    """All that may still change, as it stands; in place of the last tail."""


class Live:
    """Remembers what it has said of one session. Of history it shows the last *turns* turns."""

    def __init__(self, options: TextOptions, *, turns: int | None = None) -> None:
        self.options = options
        """May be replaced, as when a window changes its width: for what is said from then on."""
        self._last = turns
        self._begin = 0
        """Number of the first turn that is shown; 0 before the first look."""
        self._said: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, AnyEntry] = {}
        self._turns: set[int] = set()
        self._before: Passage | None = None

    def show(self, transcript: Transcript) -> Shown:
        """Return what is new of *transcript*."""
        scene = Scene.of(transcript, self.options)
        settled = [*self._opening(scene), *self._new(scene)]
        written = self._written(settled, scene.layout)
        self._before = settled[-1] if settled else self._before
        return Shown(written, self._written(list(self._waiting(scene)), scene.layout))

    def _opening(self, scene: Scene) -> Iterator[Passage]:
        if self._begin:
            return
        turns = len(scene.transcript.turns)
        self._begin = 1 if self._last is None else max(1, turns - self._last + 1)
        yield from head(scene)
        if self._begin > 1:
            told = counted(self._begin - 1, "earlier turn")
            yield Passage([f"{scene.layout.glyphs.cut} {told} not shown"])

    def _new(self, scene: Scene) -> Iterator[Passage]:
        """Yield what is settled and has not been said like this."""
        for turn, entry in self._entries(scene):
            asked = any(self._known.get(ask.id) is not ask for ask in scene.asks.get(entry.id, ()))
            if self._known.get(entry.id) is entry and not asked:
                continue
            if not is_settled(entry, scene.transcript):
                continue
            self._known |= {one.id: one for one in (entry, *scene.asks.get(entry.id, ()))}
            passage = passage_of(entry, scene)
            if not passage.lines or self._said.get(entry.id) == tuple(passage.lines):
                continue
            self._said[entry.id] = tuple(passage.lines)
            if turn is not None and turn.n not in self._turns:
                self._turns.add(turn.n)
                yield _rule(turn, scene)
            yield replace(passage, of=entry)

    def _waiting(self, scene: Scene) -> Iterator[Passage]:
        """Yield what is not settled."""
        begun = set(self._turns)
        for turn, entry in self._entries(scene):
            if entry.id in self._said or is_settled(entry, scene.transcript):
                continue
            passage = passage_of(entry, scene)
            if passage.lines and turn is not None and turn.n not in begun:
                begun.add(turn.n)
                yield _rule(turn, scene)
            if passage.lines:
                yield replace(passage, of=entry)

    def _entries(self, scene: Scene) -> Iterator[tuple[Turn | None, AnyEntry]]:
        """Yield what is shown, from the first turn that is, each entry with its turn."""
        turn: Turn | None = None
        for shown in in_order(scene):
            if isinstance(shown, Turn):
                turn = shown
            elif (turn.n if turn else 0) >= self._begin or self._begin == 1:
                yield turn, shown

    def _written(self, passages: list[Passage], layout: Layout) -> str:
        ahead = [self._before] if self._before is not None else []
        pairs = list(zip([*ahead, *passages], spaced([*ahead, *passages]), strict=True))
        return "".join(self._lines(pairs[len(ahead) :], layout))

    def _lines(
        self, pairs: Iterable[tuple[Passage, Iterable[str]]], layout: Layout
    ) -> Iterator[str]:
        for passage, lines in pairs:
            for line in lines:
                painted = coloured(line, passage, layout.glyphs) if self.options.color else line
                yield f"{painted}\n"


def _rule(turn: Turn, scene: Scene) -> Passage:
    """Return the rule above a turn; how one ends that runs is not known yet, and not said."""
    return turn_rule(turn if turn.ended else replace(turn, outcome="complete"), scene)


def is_settled(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* stays as it is, as far as can be known now."""
    match entry:
        case Ask():  # of an answered one the tool may be told next, with the question in it
            return entry.state != "open" and (
                _is_over(entry, transcript) or _is_followed(entry, transcript)
            )
        case Tool():
            return entry.status in _DONE or _is_over(entry, transcript)
        case Subagent():
            return entry.status not in _AT_WORK or _is_over(entry, transcript)
        case Plan():
            return _is_over(entry, transcript)
    return not _is_open(entry, transcript)


def _is_followed(ask: Ask, transcript: Transcript) -> bool:
    last = transcript.entries[-1]
    return last.id not in {ask.id, ask.tool}


def _is_over(entry: AnyEntry, transcript: Transcript) -> bool:
    return entry.turn is None or transcript.turns[entry.turn - 1].ended is not None


def _is_open(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* is the text that more may be added to."""
    tail = transcript.state.get("tail")
    return isinstance(tail, int) and transcript.entries[tail] is entry
