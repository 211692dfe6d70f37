"""What can make a base: the fold, which lives above this package and is found by its name.

Above this module: `hermes-log prune`. Below it: the port.

A log does not know what its events mean. Who does registers under the entry point
`hermes_log.fold`: an object with the method of `Folding`.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from eventlog.errors import LogUnavailable
from eventlog.event import SessionId
from eventlog.store import Checkpoint, LogReader

GROUP: Final = "hermes_log.fold"


class Standing(NamedTuple):
    """How a session stands: its fold at some place, and whether it waits or works at its end."""

    base: Checkpoint
    open: bool


class Folding(Protocol):
    """Makes bases."""

    async def standing(self, log: LogReader, session_id: SessionId, seq: int) -> Standing:
        """Return a session's fold at *seq*, and whether anything is open at its head."""
        ...


def folding() -> Folding:
    """Return what makes bases here.

    Raises:
        LogUnavailable: nothing does.

    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - it takes as long as all of ours

    for point in entry_points(group=GROUP):
        found: Folding = point.load()
        return found
    raise LogUnavailable(GROUP, "nothing is installed that can fold events; pruning needs it")
