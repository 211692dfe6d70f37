"""An agent's own replay of a session's history: where it begins and ends, and what is dropped.

Above this module: `places`. Below it: `event`.

Agents replay lossily (facts of nine agents: other tool ids, no permissions, no chunk borders), so
where this log already holds the session, its own account is kept and the replay only counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from eventlog.event import Event

REPLAYING: Final = frozenset({"session/load", "session/resume", "session/fork"})
"""Calls after which an agent may send history; some do on resume and fork, against the text."""

CONVERSATION: Final = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message",
        "agent_message",
        "agent_thought",
        "tool_call",
        "tool_call_update",
        "tool_call_content_chunk",
        "terminal_update",
        "terminal_output_chunk",
        "plan",
        "plan_update",
        "plan_removed",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
    }
)
"""Update types that tell history; all others tell state, and are recorded in a replay too."""


@dataclass(slots=True)
class Replay:
    """A replay from the call that may cause it to the session's next prompt, close or end."""

    method: str
    keeps: bool = False
    """A turn was running when it began: what comes may be that turn's, so nothing is dropped."""
    drops: bool = False
    """This log holds the session's history already."""
    dropped: int = 0
    _digest: Any = field(default_factory=sha256)

    def drop(self, update: Event) -> None:
        """Count an update that is not recorded."""
        self.dropped += 1
        self._digest.update(update.payload + b"\n")

    def started(self) -> Event:
        """Return the event that marks its beginning."""
        return Event.of("acp.replay", {"method": self.method, "state": "started"})

    def finished(self) -> Event:
        """Return the event that marks its end, with the count and digest of what was dropped."""
        told = {"count": self.dropped, "sha256": self._digest.hexdigest()}
        dropped = {"dropped": told} if self.dropped else {}
        return Event.of("acp.replay", {"method": self.method, "state": "finished", **dropped})
