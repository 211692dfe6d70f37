"""A session at each of its events: forward, and back again.

Above this module: `stepping`. Below it: the fold.

The state at N is the fold of the first N events, whatever way one came there (R169). States are
kept at every so many events, so that a step back does not fold from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from eventlog import parse
from replay.fold import fold
from replay.transcript import Transcript

_EVERY: Final = 200
"""Events between two kept states."""


@dataclass(slots=True)
class Steps:
    """The states of a session whose *lines* come after *begin*."""

    begin: Transcript
    lines: Sequence[bytes]
    _kept: dict[int, Transcript] = field(default_factory=dict)
    _turns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kept[0] = self.begin
        self._turns = [turn.started for turn in self.at(len(self.lines)).turns]

    def __len__(self) -> int:
        return len(self.lines)

    def at(self, count: int) -> Transcript:
        """Return the state after *count* events."""
        start = max(kept for kept in self._kept if kept <= count)
        state = self._kept[start]
        for end in (*range(start - start % _EVERY + _EVERY, count, _EVERY), count):
            state = fold(state, map(parse, self.lines[start:end]))
            start = end
            if end % _EVERY == 0:
                self._kept[end] = state
        return state

    def type_at(self, count: int) -> str:
        """Return the type of the last of *count* events."""
        return parse(self.lines[count - 1])["type"] if count else "the beginning"

    def next_turn(self, count: int) -> int:
        """Return the number of events up to where the next turn starts, or all."""
        after = [at for at in self._places() if at > count]
        return min(after, default=len(self.lines))

    def turn_before(self, count: int) -> int:
        """Return the number of events up to where this turn, or the one before it, starts."""
        return max((at for at in self._places() if at < count), default=0)

    def _places(self) -> list[int]:
        first = parse(self.lines[0])["seq"] if self.lines else 1
        return [started - first + 1 for started in self._turns if started >= first]
