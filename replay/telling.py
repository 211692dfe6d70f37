"""What has been told of a session that grows: each entry once it is ready, never in the same words.

Above this module: `feed`, for what only grows, and `live`, for a screen. Below it: the text
renderer. Pure: it is shown one transcript after the other.

Both tell the same in the same order; they differ in what is ready. On a screen what may change is
drawn below, and drawn again. In a pipe nothing can be taken back, but nobody can answer a
question that he does not see, either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from replay.entries import Agent, AnyEntry, Ask, Plan, Subagent, Thought, Tool, User
from replay.render.colours import coloured
from replay.render.layout import Passage
from replay.render.order import in_order
from replay.render.scene import Scene
from replay.render.text import passage_of, set_off
from replay.transcript import Transcript, Turn

Rule = Callable[[AnyEntry, Transcript], bool]
"""Whether an entry is ready to be told."""

_DONE: Final = frozenset({"completed", "failed"})
_WORKING: Final = frozenset({"pending", "in_progress"})
_AWAY: Final = frozenset({"queued", "running", "in_progress", "pending"})


class Telling:
    """Remembers what was told, and in which words."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._told: dict[str, tuple[str, ...]] = {}
        self._words: set[tuple[int | None, tuple[str, ...]]] = set()
        """What was told, by turns."""
        self._known: dict[str, AnyEntry] = {}
        self._turns: set[int] = set()
        self._over: frozenset[int] = frozenset()
        """Turns that had ended at the last look, and are told."""
        self._before: Passage | None = None

    def new(
        self, scene: Scene, whole: Transcript, *, begin: int = 1, over: bool = False
    ) -> Iterator[Passage]:
        """Yield what is ready, or all if it is *over*, and has not been told like this.

        *scene* may be of a part of the *whole*; *begin* is the first turn that is told of.
        """
        for turn, entry in _entries(scene, begin):
            about = (entry, *scene.asks.get(entry.id, ()))
            if all(self._known.get(one.id) is one for one in about):
                continue
            if not (over or self._rule(entry, whole)):
                continue
            self._known |= {one.id: one for one in about}
            passage = passage_of(entry, scene)
            if not passage.lines or self._told.get(entry.id) == tuple(passage.lines):
                continue
            self._told[entry.id] = tuple(passage.lines)
            self._words.add((turn.n if turn else None, tuple(passage.lines)))
            if turn is not None and turn.n not in self._turns:
                self._turns.add(turn.n)
                yield _head(turn, scene)
            yield replace(passage, of=entry)
        self._over = frozenset(turn.n for turn in whole.turns if turn.ended is not None)

    def again(self, scene: Scene, *, begin: int = 1) -> None:
        """Take *scene* as the same session under other ids: what was told of it stays told.

        Of a turn that was over all is known, however it reads now; of any other what reads the same.
        """
        self._told.clear()
        self._known.clear()
        for turn, entry in _entries(scene, begin):
            lines = tuple(passage_of(entry, scene).lines)
            number = turn.n if turn else None
            if (number, lines) in self._words or number in self._over:
                self._told[entry.id] = lines
                self._known |= {one.id: one for one in (entry, *scene.asks.get(entry.id, ()))}

    def waiting(self, scene: Scene, whole: Transcript, *, begin: int = 1) -> Iterator[Passage]:
        """Yield what is not ready, as it stands."""
        begun = set(self._turns)
        for turn, entry in _entries(scene, begin):
            if entry.id in self._told or self._rule(entry, whole):
                continue
            passage = passage_of(entry, scene)
            if passage.lines and turn is not None and turn.n not in begun:
                begun.add(turn.n)
                yield _head(turn, scene)
            if passage.lines:
                yield replace(passage, of=entry)

    def written(self, passages: Iterable[Passage], scene: Scene, *, stays: bool = True) -> str:
        """Return *passages* as text that goes on from what was told; what *stays* is gone on from."""
        before, glyphs = self._before, scene.layout.glyphs
        text = []
        for passage in passages:
            if not passage.lines:
                continue
            lines = set_off(passage, before)
            if scene.layout.options.color:
                lines = [coloured(line, passage, glyphs) for line in lines]
            text += [f"{line}\n" for line in lines]
            before = passage
        if stays:
            self._before = before
        return "".join(text)


def _entries(scene: Scene, begin: int) -> Iterator[tuple[Turn | None, AnyEntry]]:
    """Yield what is shown, each entry with its turn."""
    turn: Turn | None = None
    for shown in in_order(scene):
        if isinstance(shown, Turn):
            turn = shown
        elif begin == 1 or (turn is not None and turn.n >= begin):
            yield turn, shown


def _head(turn: Turn, scene: Scene) -> Passage:
    """Return the rule above a turn; how one ends that runs is not known yet, and not said."""
    known = turn if turn.ended else replace(turn, outcome="complete")
    return replace(passage_of(known, scene), of=turn)


# -- what is ready -------------------------------------------------------------------------------


def is_settled(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* stays as it is, as far as can be known now: for a screen."""
    match entry:
        case Ask():  # of an answered one the tool may be told next, with the question in it
            return entry.state != "open" and (
                _is_over(entry, transcript) or _is_followed(entry, transcript)
            )
        case Tool():
            return entry.status in _DONE or _is_over(entry, transcript)
        case Subagent():
            return entry.status not in _AWAY or _is_over(entry, transcript)
        case Plan():
            return _is_over(entry, transcript)
    return not _is_open(entry, transcript)


def is_readable(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* says what somebody may be waiting for, and is not about to grow: for a pipe."""
    match entry:
        case User() | Agent() | Thought():
            return not _is_open(entry, transcript)
        case Tool():
            return entry.status not in _WORKING or _is_over(entry, transcript)
        case Subagent():
            return entry.status not in _AWAY or _is_over(entry, transcript)
    return True


def _is_followed(ask: Ask, transcript: Transcript) -> bool:
    return transcript.entries[-1].id not in {ask.id, ask.tool}


def _is_over(entry: AnyEntry, transcript: Transcript) -> bool:
    return entry.turn is None or transcript.turns[entry.turn - 1].ended is not None


def _is_open(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* is the text that more may be added to."""
    tail = transcript.state.get("tail")
    return isinstance(tail, int) and transcript.entries[tail] is entry
