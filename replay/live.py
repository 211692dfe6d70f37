"""A transcript that grows, on a screen: lines that stay as they are, and lines that may change.

Above this module: a terminal client, through the package root. Below it: `telling`. Pure: it is
shown one transcript after the other, and says what to append and what to draw below that.

What is settled is given once. Should it read otherwise later (a job in the background ends), it
is given again as it stands then. A turn's plan is drawn below until the turn is over: it changes
all the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from replay.render.figures import counted
from replay.render.head import head
from replay.render.layout import Passage
from replay.render.options import TextOptions
from replay.render.scene import Scene
from replay.telling import Telling, is_settled
from replay.transcript import Transcript


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
        self._telling = Telling(is_settled)

    def show(self, transcript: Transcript) -> Shown:
        """Return what is new of *transcript*."""
        scene, telling = Scene.of(transcript, self.options), self._telling
        first = [] if self._begin else list(self._opening(scene))
        settled = telling.written(
            [*first, *telling.new(scene, transcript, begin=self._begin)], scene
        )
        waiting = telling.waiting(scene, transcript, begin=self._begin)
        return Shown(settled, telling.written(waiting, scene, stays=False))

    def again(self, transcript: Transcript) -> None:
        """Hear that the session was read anew, under other ids: it is not shown a second time."""
        self._telling.again(Scene.of(transcript, self.options), begin=self._begin)

    def _opening(self, scene: Scene) -> Iterator[Passage]:
        turns = len(scene.transcript.turns)
        self._begin = 1 if self._last is None else max(1, turns - self._last + 1)
        yield from head(scene)
        if self._begin > 1:
            told = counted(self._begin - 1, "earlier turn")
            yield Passage([f"{scene.layout.glyphs.cut} {told} not shown"])
