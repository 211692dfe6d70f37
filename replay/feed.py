"""A transcript that grows, as text that only grows: what was printed is never taken back.

Above this module: `following`. Below it: the text renderer.

An entry is printed once it can be read: words when something else follows them, a tool when it
is done or a person is asked, everything else at once. What changes later is printed again, as it
stands then. Nothing is printed twice in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from replay.entries import Agent, AnyEntry, Subagent, Thought, Tool, User
from replay.render.colours import coloured
from replay.render.head import foot, head
from replay.render.layout import Passage
from replay.render.options import TextOptions
from replay.render.order import in_order
from replay.render.scene import Scene
from replay.render.text import passage_of, spaced
from replay.selection import EVERYTHING, Selection, select
from replay.transcript import Transcript, Turn

_WORKING: Final = frozenset({"pending", "in_progress"})
_AWAY: Final = frozenset({"queued", "running", "in_progress", "pending"})


class Feed:
    """Gives what is new of a transcript each time it is shown one."""

    def __init__(self, options: TextOptions, wanted: Selection = EVERYTHING) -> None:
        self._options = options
        self._wanted = wanted
        self._printed: dict[str, tuple[str, ...]] = {}
        self._seen: dict[str, AnyEntry] = {}
        self._turns = 0
        self._before: Passage | None = None

    def opening(self, transcript: Transcript) -> str:
        """Return the head, and what there is so far."""
        return self._text(head(self._scene(transcript))) + self.more(transcript)

    def more(self, transcript: Transcript) -> str:
        """Return what has become readable, or reads otherwise, since the last time."""
        return self._text(self._new(transcript))

    def closing(self, transcript: Transcript) -> str:
        """Return what was held back, and the foot."""
        new = [*self._new(transcript, over=True), *foot(self._scene(transcript))]
        return self._text(new)

    def _scene(self, transcript: Transcript) -> Scene:
        shown, omitted = select(transcript, self._wanted)
        return Scene.of(shown, replace(self._options, omitted={shown.session: omitted}))

    def _new(self, transcript: Transcript, *, over: bool = False) -> Iterator[Passage]:
        scene, turn = self._scene(transcript), None
        for shown in in_order(scene):
            if isinstance(shown, Turn):
                turn = shown
                continue
            if self._seen.get(shown.id) is shown and not scene.asks.get(shown.id):
                continue
            if not (over or is_readable(shown, transcript)):
                continue
            self._seen[shown.id] = shown
            lines = tuple(passage_of(shown, scene).lines)
            if not lines or self._printed.get(shown.id) == lines:
                continue
            if turn is not None and turn.n > self._turns:
                self._turns = turn.n
                yield replace(passage_of(turn, scene), of=turn)
            self._printed[shown.id] = lines
            yield replace(passage_of(shown, scene), of=shown)

    def _text(self, passages: Iterable[Passage]) -> str:
        made = [passage for passage in passages if passage.lines]
        ahead = [self._before] if self._before is not None else []
        self._before = made[-1] if made else self._before
        pairs = zip([*ahead, *made], spaced([*ahead, *made]), strict=True)
        return "".join(
            f"{self._painted(line, passage)}\n"
            for passage, lines in list(pairs)[len(ahead) :]
            for line in lines
        )

    def _painted(self, line: str, passage: Passage) -> str:
        if not self._options.color:
            return line
        return coloured(line, passage, Scene.of(Transcript(), self._options).layout.glyphs)


def is_readable(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* is not about to grow: its turn is over, or it is."""
    if entry.turn is None or transcript.turns[entry.turn - 1].ended is not None:
        return not _is_open(entry, transcript)
    match entry:
        case User() | Agent() | Thought():
            return not _is_open(entry, transcript)
        case Tool():
            return entry.status not in _WORKING
        case Subagent():
            return entry.status not in _AWAY
    return True


def _is_open(entry: AnyEntry, transcript: Transcript) -> bool:
    """Whether *entry* is the text that more may be added to."""
    tail = transcript.state.get("tail")
    return isinstance(tail, int) and transcript.entries[tail] is entry
