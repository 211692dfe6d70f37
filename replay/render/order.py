"""What is shown, and in which order: one answer for every format.

Above this module: `text`, `cards`. Below it: `scene`.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay.entries import Agent, AnyEntry, Ask, Thought, Tool, User
from replay.render.nesting import nested
from replay.render.scene import Scene
from replay.render.speech import is_worded
from replay.transcript import Turn


def in_order(scene: Scene) -> Iterator[Turn | AnyEntry]:
    """Yield each turn before its entries, and of these whatever is shown by itself."""
    turns = iter(scene.transcript.turns)
    turn = next(turns, None)
    for entry in nested(scene.transcript.entries, scene.parents):
        while turn is not None and entry.turn is not None and turn.n <= entry.turn:
            yield turn
            turn = next(turns, None)
        if is_shown(entry, scene):
            yield entry
    while turn is not None:
        yield turn
        turn = next(turns, None)


def is_shown(entry: AnyEntry, scene: Scene) -> bool:
    """Whether *entry* is shown by itself: not left out, not within or behind another, not empty."""
    return is_of_a_kind(entry, scene) and stands(entry, scene)


def is_of_a_kind(entry: AnyEntry, scene: Scene) -> bool:
    """Whether the profile and the options show entries of that kind."""
    options = scene.layout.options
    if isinstance(entry, Thought) and options.thoughts == "hide":
        return False
    return options.profile.kinds is None or entry.kind in options.profile.kinds


def stands(entry: AnyEntry, scene: Scene) -> bool:
    """Whether *entry* stands by itself, whatever its kind."""
    if scene.hidden(entry):
        return False
    match entry:
        case Ask():
            return not scene.nested(entry)
        case Tool():
            return not scene.replaced(entry)
        case User() | Agent() | Thought():
            return is_worded(entry)
    return True
