"""A transcript that grows, as text that only grows: what was printed is never taken back.

Above this module: `following`. Below it: `telling`, the text renderer.

An entry is printed once it can be read: words when something else follows them, a tool when it
is done or a person is asked, everything else at once. What changes later is printed again, as it
stands then (ADR 8).
"""

from __future__ import annotations

from dataclasses import replace

from replay.render.head import foot, head
from replay.render.options import TextOptions
from replay.render.scene import Scene
from replay.selection import EVERYTHING, Selection, select
from replay.telling import Telling, is_readable
from replay.transcript import Transcript


class Feed:
    """Gives what is new of a transcript each time it is shown one."""

    def __init__(self, options: TextOptions, wanted: Selection = EVERYTHING) -> None:
        self._options = options
        self._wanted = wanted
        self._telling = Telling(is_readable)

    def opening(self, transcript: Transcript) -> str:
        """Return the head, and what there is so far."""
        scene = self._scene(transcript)
        return self._telling.written(head(scene), scene) + self.more(transcript)

    def more(self, transcript: Transcript) -> str:
        """Return what has become readable, or reads otherwise, since the last time."""
        scene = self._scene(transcript)
        return self._telling.written(self._telling.new(scene, transcript), scene)

    def closing(self, transcript: Transcript) -> str:
        """Return what was held back, and the foot."""
        scene = self._scene(transcript)
        left = self._telling.new(scene, transcript, over=True)
        return self._telling.written([*left, *foot(scene)], scene)

    def _scene(self, transcript: Transcript) -> Scene:
        shown, omitted = select(transcript, self._wanted)
        return Scene.of(shown, replace(self._options, omitted={shown.session: omitted}))
