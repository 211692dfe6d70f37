"""Which prompt of a session the agent works on, and which wait behind it.

Above this module: `recorder`. Below it: `recorder`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from eventlog.event import Event
from eventlog.recorders.recorder import Slot


@dataclass(slots=True)
class Prompt:
    """A prompt that the agent has been sent and has not answered."""

    slot: Slot
    started: bool


@dataclass
class Turns:
    """The unanswered prompts of each session, in the order in which they were sent."""

    _waiting: defaultdict[str, list[Prompt]] = field(default_factory=lambda: defaultdict(list))

    def running(self, foreign: str | None) -> bool:
        """Whether a prompt of the session is unanswered."""
        return bool(self._waiting.get(foreign or ""))

    def submit(self, foreign: str, slot: Slot, *, started: bool) -> Prompt:
        """Take a prompt that is being sent."""
        prompt = Prompt(slot, started)
        self._waiting[foreign].append(prompt)
        return prompt

    def finish(self, foreign: str, prompt: Prompt) -> Slot | None:
        """Take a prompt's answer; return the one whose turn begins now, if any waits."""
        waiting = self._waiting.get(foreign, [])
        if prompt in waiting:
            waiting.remove(prompt)
        if not waiting:
            self._waiting.pop(foreign, None)
            return None
        if any(other.started for other in waiting):
            return None
        waiting[0].started = True
        return waiting[0].slot

    def clear(self) -> None:
        """Forget them: the process that worked on them is gone."""
        self._waiting.clear()


def started(slot: Slot) -> Event:
    """Return the event that begins the turn of the prompt recorded at *slot*."""
    return Event.of("prompt.started", {"prompt": slot.seq})
