"""The last lines of a session that somebody follows, in memory (S-7).

Above this module: the adapters, which add what has become durable. Below it:
`paging`. Whoever is too far behind reads from the database: a tail may be short, or not there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final

from eventlog.paging import within

LIMIT: Final = 64 * 1024
"""Bytes that a tail holds."""

_PATIENCE: Final = 64
"""Commits for which a tail is kept although nobody has waited for one."""


class Tail:
    """Consecutive lines up to the session's head."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._first = 1
        """The number of the first line."""
        self._size = 0
        self._unwanted = 0

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self._first + len(self._lines) - 1

    def add(self, first: int, lines: Sequence[bytes], *, wanted: bool) -> bool:
        """Add *lines*, the first of which has the number *first*; whether this is worth keeping."""
        self._unwanted = 0 if wanted else self._unwanted + 1
        if self._first + len(self._lines) != first:
            self._lines.clear()
            self._first, self._size = first, 0
        self._lines.extend(lines)
        self._size += sum(map(len, lines))
        while self._size > LIMIT:
            self._size -= len(self._lines.popleft())
            self._first += 1
        return self._unwanted <= _PATIENCE

    def after(self, cursor: int, limit: int, limit_bytes: int | None) -> Sequence[bytes] | None:
        """Return the lines that follow *cursor*, within limits; None if they begin later."""
        start = cursor + 1 - self._first
        if not 0 <= start <= len(self._lines):
            return None
        taken = list(islice(self._lines, start, start + limit))
        return taken if limit_bytes is None else within(taken, limit_bytes)
