"""Which numbered events of one upstream session have been seen, in whatever order they came.

Above this module: `wire`. Below it: nothing of ours.
"""

from __future__ import annotations


class Seen:
    """A set of numbers from 1 on: the highest, and the holes below it."""

    def __init__(self, highest: int = 0) -> None:
        """*highest*: it, and everything below it, has been seen."""
        self._highest = highest
        self._holes: list[tuple[int, int]] = []

    @property
    def highest(self) -> int:
        """The highest number seen."""
        return self._highest

    def take(self, seq: int) -> bool:
        """Note *seq*; return whether it is new."""
        if seq > self._highest:
            if seq > self._highest + 1:
                self._holes.append((self._highest + 1, seq - 1))
            self._highest = seq
            return True
        for index, (first, last) in enumerate(self._holes):
            if first <= seq <= last:
                parts = [(first, seq - 1), (seq + 1, last)]
                self._holes[index : index + 1] = [part for part in parts if part[0] <= part[1]]
                return True
        return False

    def give_up(self, seq: int) -> int:
        """Take every number below *seq* as gone; return how many of them were never seen."""
        if seq - 1 > self._highest:
            self.take(seq - 1)
            self._holes.append((seq - 1, seq - 1))
        lost = [(first, min(last, seq - 1)) for first, last in self._holes if first < seq]
        self._holes = [(max(first, seq), last) for first, last in self._holes if last >= seq]
        return sum(last - first + 1 for first, last in lost)
