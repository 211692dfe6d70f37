"""How long a call may take: the deadline of its log bounds all of its parts together.

Above this module: everything of this adapter. Below it: nothing.

A call runs in a scope that ends at its deadline. Its parts ask again and again until shortly
before that, so that they can still say why they failed; what takes longer all the same is cut.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from math import inf
from types import TracebackType

import anyio

from eventlog.errors import LogUnavailable


def until(seconds: float = inf) -> float:
    """Return the time, as `anyio.current_time` counts, at which a part of a call gives up.

    It is given *seconds*, but no more than its call is. One that is being cancelled goes on to
    where it hears of that: it is not out of time, and has nothing to say of the servers.
    """
    now, whole = get_running_loop().time(), anyio.current_effective_deadline()
    if whole == -inf:
        return now + seconds
    return now + min(seconds, whole - now - _spare(whole - now))


def left(seconds: float) -> float:
    """Return how many of *seconds* a part of a call has."""
    return max(0.0, min(seconds, until() - get_running_loop().time()))


class InTime:
    """Cuts what runs in its block after *seconds*, with LogUnavailable that has a *reason*."""

    def __init__(
        self, seconds: float, unavailable: Callable[[str], LogUnavailable], reason: str
    ) -> None:
        self._seconds = seconds
        self._unavailable = unavailable
        self._reason = reason
        self._scope = anyio.CancelScope()

    def __enter__(self) -> None:
        """Begin to count."""
        self._scope.deadline = get_running_loop().time() + self._seconds
        self._scope.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Say so if it was cut."""
        if self._scope.__exit__(kind, error, traceback):
            raise self._unavailable(f"{self._reason} in {self._seconds:g} seconds") from None


def _spare(left: float) -> float:
    """Return the seconds that are left to say why: a tenth of the time, half a second at most."""
    return min(0.5, max(0.0, left) / 10)
