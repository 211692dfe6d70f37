"""A prompt of a live session, on its way to the agent.

Above this module: `live`, whose queue it stands in. Below it: `eventlog`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio

from eventlog import Event, Seq


@dataclass(slots=True)
class Prompt:
    """A prompt that waits for its turn, or has it."""

    content: Any
    ref: str | None
    waited: bool
    seq: Seq | None = None
    """Where it stands in the log."""
    durable: anyio.Event = field(default_factory=anyio.Event)
    """Set when that is known; without a *seq* it was not taken."""

    def event(self) -> Event:
        """Return what is recorded of it."""
        ref = {"ref": self.ref} if self.ref else {}
        queued = {"queued": True} if self.waited else {}
        return Event.of("prompt.submitted", {"content": self.content, **ref, **queued})
