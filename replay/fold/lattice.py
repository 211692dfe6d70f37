"""The order of a tool's states (fold.md, "Status lattice").

Above this module: `tools`, `draft`. Below it: nothing.

pending < waiting < in_progress < soft (aborted, unresolved) < hard (completed, failed, rejected,
cancelled). Soft is ours, hard is final. A state that nobody knows counts as in progress.
"""

from __future__ import annotations

from typing import Final

_RANK: Final = {"pending": 0, "waiting": 1}
_WORKING: Final = 2
SOFT: Final = frozenset({"aborted", "unresolved"})
HARD: Final = frozenset({"completed", "failed", "rejected", "cancelled"})


def is_closed(status: str) -> bool:
    """Tell whether *status* is final."""
    return status in HARD


def is_working(status: str) -> bool:
    """Tell whether *status* is neither final nor given up by us."""
    return status not in HARD and status not in SOFT


def advanced(status: str, said: str) -> str:
    """Return the status of a tool at *status* of which its agent says *said*."""
    if status in HARD:
        return status
    if said in HARD or status in SOFT or _RANK.get(said, _WORKING) >= _RANK.get(status, _WORKING):
        return said
    return status


def given_up(status: str, ours: str) -> str:
    """Return the status of a tool at *status* when we say *ours*, a soft one or `waiting`."""
    if not is_working(status):
        return status
    higher = _RANK.get(ours, _WORKING) >= _RANK.get(status, _WORKING)
    return ours if ours in SOFT or higher else status
