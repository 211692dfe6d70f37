"""What is wrong with a log: said in a line, and told apart by its session.

Above this module: `verification`, `salvage`. Below it: `event`.
"""

from __future__ import annotations

from dataclasses import dataclass

from eventlog.event import SessionId


@dataclass(frozen=True, slots=True)
class Damage:
    """Events of a session that are lost, something else of it, or a fault of the whole log."""

    reason: str
    session_id: SessionId | None = None
    first: int = 0
    last: int = 0
    structural: bool = False
    """Whether there may be more behind it that SQLite cannot find."""

    def __str__(self) -> str:
        if self.session_id is None:
            return self.reason
        if not self.last:
            return f"{self.session_id}: {self.reason}"
        return f"{self.session_id}: events {self.first} to {self.last} are {self.reason}"
