"""How long a client waits before it dials again.

Above this module: the clients. Below it: chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import random


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before dialling again, in seconds: exponential, with jitter (R065)."""

    first: float = 0.1
    most: float = 15.0
    chance: Callable[[], float] = field(default=random)

    def delay(self, attempt: int) -> float:
        """Return the wait before attempt 1, 2, 3, …; half of it is chance."""
        return min(self.most, self.first * 2.0 ** min(attempt - 1, 30)) * (0.5 + self.chance() / 2)
