"""What an agent may know of a session before it is opened with it.

Above this module: `sessions`, `live`, `host`. Below it: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Past:
    """What an agent may know of a session that is opened."""

    known_as: str | None = None
    """The id by which it knew it in an earlier life."""
    fork_of: str | None = None
    """The id of another of its sessions, of whose whole past this one is made."""
    recorded: bool = False
    """The log holds something of it."""


NEW: Final = Past()
