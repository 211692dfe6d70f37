"""Two sessions side by side: where they first differ, and a unified diff of what they say.

Above this module: `program`. Below it: the text renderer, in its golden form.

They are compared as goldens are, so ids, numbers and times do not matter (R173). Entries are
matched with entries before lines are: a tool is compared with the same tool of the same turn,
not with whatever stands at its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from replay.entries import AnyEntry, Tool
from replay.render.options import TextOptions
from replay.render.scene import Scene
from replay.render.text import passages_of, spaced
from replay.render.verbs import verb_of
from replay.transcript import Transcript, Turn

_CONTEXT: Final = 2
"""Unchanged lines around a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a session first says something else."""

    entry: str | None = None
    kind: str | None = None
    turn: int | None = None
    seq: int | None = None

    def __str__(self) -> str:
        if self.kind is None:
            return "nothing more"
        if self.entry is None:
            return f"turn {self.turn}" if self.turn is not None else self.kind
        where = f"{self.entry} ({self.kind})"
        return f"{where} of turn {self.turn}" if self.turn is not None else where


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sessions compared; *first* is where each first differs, None if they are equal."""

    names: tuple[str, str]
    first: tuple[Place, Place] | None
    lines: Sequence[str]

    def json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        first = self.first and {"a": asdict(self.first[0]), "b": asdict(self.first[1])}
        return {
            "equal": self.first is None,
            "a": self.names[0],
            "b": self.names[1],
            "first": first,
            "diff": "".join(f"{line}\n" for line in self.lines),
        }


@dataclass(frozen=True, slots=True)
class _Block:
    """An entry, or a turn's rule, with its lines."""

    lines: tuple[str, ...]
    key: tuple[str, ...]
    place: Place


Step = tuple[str, str]
"""A sign (blank, minus, plus) and a line."""


def compare(
    a: Transcript, b: Transcript, options: TextOptions, names: tuple[str, str]
) -> Comparison:
    """Compare two sessions as *options* show them."""
    ours, theirs = _blocks(a, options), _blocks(b, options)
    steps: list[Step] = []
    first: tuple[Place, Place] | None = None
    for left, right in _pairs(ours, theirs):
        if first is None and (left is None or right is None or left.lines != right.lines):
            first = _place(left, ours, steps), _place(right, theirs, steps)
        steps += _steps(left.lines if left else (), right.lines if right else ())
    if first is None:
        return Comparison(names=names, first=None, lines=())
    return Comparison(names=names, first=first, lines=list(unified(steps, names)))


def _place(block: _Block | None, blocks: Sequence[_Block], steps: Sequence[Step]) -> Place:
    """Return where *block* is; where there is none, what stands there instead."""
    if block is not None:
        return block.place
    passed = sum(sign == " " for sign, _ in steps)
    for other in blocks:
        if passed <= 0:
            return other.place
        passed -= len(other.lines)
    return Place()


def _blocks(transcript: Transcript, options: TextOptions) -> list[_Block]:
    passages = list(passages_of(Scene.of(transcript, options)))
    return [
        _Block(tuple(lines), _key(passage.of), _place_of(passage.of))
        for passage, lines in zip(passages, spaced(passages), strict=True)
    ]


def _key(shown: AnyEntry | Turn | None) -> tuple[str, ...]:
    """Return what has to agree for two entries to be compared line by line."""
    match shown:
        case None:
            return ("frame",)
        case Turn():
            return ("turn",)
        case Tool():
            return (shown.kind, verb_of(shown))
    return (shown.kind,)


def _place_of(shown: AnyEntry | Turn | None) -> Place:
    match shown:
        case None:
            return Place(kind="the page's frame")
        case Turn():
            return Place(kind="turn", turn=shown.n, seq=shown.started)
    return Place(entry=shown.id, kind=shown.kind, turn=shown.turn, seq=shown.first)


# -- matching ------------------------------------------------------------------------------------


def _pairs(
    ours: Sequence[_Block], theirs: Sequence[_Block]
) -> Iterator[tuple[_Block | None, _Block | None]]:
    """Yield what belongs together; None stands where one side has nothing."""
    for ours_of_turn, theirs_of_turn in _turns(ours, theirs):
        yield from _matched(ours_of_turn, theirs_of_turn)


def _turns(
    ours: Sequence[_Block], theirs: Sequence[_Block]
) -> Iterator[tuple[Sequence[_Block], Sequence[_Block]]]:
    """Yield the blocks of one turn after another, turn by turn of both."""
    left, right = _by_turn(ours), _by_turn(theirs)
    for at in range(max(len(left), len(right))):
        yield left[at] if at < len(left) else [], right[at] if at < len(right) else []


def _by_turn(blocks: Sequence[_Block]) -> list[list[_Block]]:
    turns: list[list[_Block]] = [[]]
    for block in blocks:
        if block.key == ("turn",):
            turns.append([])
        turns[-1].append(block)
    return turns


def _matched(
    ours: Sequence[_Block], theirs: Sequence[_Block]
) -> Iterator[tuple[_Block | None, _Block | None]]:
    """Match equal blocks first, then in between those of the same kind and tool."""
    equal = SequenceMatcher(
        None, [b.lines for b in ours], [b.lines for b in theirs], autojunk=False
    )
    for kind, i, j, k, m in equal.get_opcodes():
        if kind == "equal":
            yield from zip(ours[i:j], theirs[k:m], strict=True)
        else:
            yield from _alike(ours[i:j], theirs[k:m])


def _alike(
    ours: Sequence[_Block], theirs: Sequence[_Block]
) -> Iterator[tuple[_Block | None, _Block | None]]:
    alike = SequenceMatcher(None, [b.key for b in ours], [b.key for b in theirs], autojunk=False)
    for kind, i, j, k, m in alike.get_opcodes():
        if kind == "equal":
            yield from zip(ours[i:j], theirs[k:m], strict=True)
        else:
            yield from ((block, None) for block in ours[i:j])
            yield from ((None, block) for block in theirs[k:m])


def _steps(left: Sequence[str], right: Sequence[str]) -> list[Step]:
    steps: list[Step] = []
    for kind, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            steps += [(" ", line) for line in left[i:j]]
        else:
            steps += [("-", line) for line in left[i:j]]
            steps += [("+", line) for line in right[k:m]]
    return steps


# -- the unified form ----------------------------------------------------------------------------


def unified(steps: Sequence[Step], names: tuple[str, str]) -> Iterator[str]:
    """Yield the unified diff of *steps*."""
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for begin, end in _hunks([at for at, (sign, _) in enumerate(steps) if sign != " "], len(steps)):
        hunk, ahead = steps[begin:end], steps[:begin]
        yield f"@@ -{_range(ahead, hunk, '+')} +{_range(ahead, hunk, '-')} @@"
        yield from (f"{sign}{line}" for sign, line in hunk)


def _hunks(changes: Sequence[int], length: int) -> list[tuple[int, int]]:
    hunks: list[tuple[int, int]] = []
    for at in changes:
        begin, end = max(0, at - _CONTEXT), min(length, at + 1 + _CONTEXT)
        if hunks and begin <= hunks[-1][1]:
            hunks[-1] = (hunks[-1][0], end)
        else:
            hunks.append((begin, end))
    return hunks


def _range(ahead: Sequence[Step], hunk: Sequence[Step], other: str) -> str:
    """Return where a hunk is on one side: *other* is the sign of the other side's lines."""
    start = sum(sign != other for sign, _ in ahead)
    length = sum(sign != other for sign, _ in hunk)
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"
