"""What a view has to remember of a session: small, and quickly copied.

Above this module: the translations. Below it: nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
Told = tuple[str, Json]
"""The type and the payload of a Hermes event."""


@dataclass(frozen=True, slots=True)
class ToolSeen:
    """A tool call as far as it is known; *began* is the `ts` of its first frame, in µs."""

    id: str
    began: int
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    input: Any = None
    content: tuple[Any, ...] = ()
    streamed: tuple[str, ...] = ()
    """Output that came in `_meta`, piece by piece."""
    output: Any = None
    started: bool = False
    """`tool.start` has been told."""
    ended: bool = False


@dataclass(slots=True)
class Scene:
    """The state of one view of one session."""

    session_id: str
    acp: bool = False
    """Whether there is anything to translate: the session is an ACP agent's."""
    agent: str | None = None
    turn: bool = False
    """A turn is open: `message.start` was told, `message.complete` was not."""
    replaying: bool = False
    """The agent is telling a past that this log did not hold."""
    prompts: dict[int, str] = field(default_factory=dict)
    """The words of prompts that wait for their turn."""
    internal: set[int] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    """The agent's words since the last tool or question of the turn."""
    hearing_user: bool = False
    """The last chunk was the user's, told by the agent."""
    tools: dict[str, ToolSeen] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    """Open questions, and the method by which a Hermes client knows each."""
    revision: int = 0
    """Of the todo list."""
    usage: Mapping[str, Any] = field(default_factory=dict)

    def copy(self) -> Scene:
        """Return a scene that goes on by itself; what is in it is never changed in place."""
        return replace(
            self,
            prompts=dict(self.prompts),
            internal=set(self.internal),
            said=list(self.said),
            tools=dict(self.tools),
            requests=dict(self.requests),
        )

    def begin(self) -> None:
        """Note that a turn begins."""
        self.turn = True
        self.said.clear()
        self.tools = {key: tool for key, tool in self.tools.items() if not tool.ended}

    def end(self) -> str:
        """Note that the turn is over; return what the agent said last in it."""
        self.turn = False
        text = "".join(self.said)
        self.said.clear()
        return text
