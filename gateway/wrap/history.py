"""A session's history as its agent would replay it, if it could: from the log (facts/acp.md §2).

Above this module: `stand_in`. Below it: `eventlog`. No I/O.

What the agent said comes back as it said it: ids of tools and messages, titles, plans, contents.
What exists in no update comes from what else was recorded: prompts, a tool that was first heard
of when permission was asked, and notices where something is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from eventlog import Envelope

STATE: Final = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "usage_update",
    }
)
"""Updates that tell how things stood then: the agent that runs now tells how they stand."""

FORGOTTEN: Final = "The agent was started anew and does not remember this session."

Update = dict[str, Any]


class History:
    """Turns a session's events into a replay, page by page."""

    def __init__(self) -> None:
        self._tools: set[str] = set()

    def updates(self, envelopes: Iterable[Envelope]) -> Iterator[tuple[Update, Update]]:
        """Yield each `update`, and the members that stood beside it (`_meta`)."""
        for envelope in envelopes:
            payload = envelope["payload"]
            match envelope["type"], payload:
                case "acp.session_update", {"update": {"sessionUpdate": str(kind)} as update}:
                    if kind not in STATE:
                        self._hear_of(update.get("toolCallId"))
                        yield update, {key: payload[key] for key in payload if key != "update"}
                case "prompt.submitted", {"content": list(content)}:
                    for block in content:
                        yield {"sessionUpdate": "user_message_chunk", "content": block}, {}
                case "request.opened", {"params": {"toolCall": {"toolCallId": str(id_)} as tool}}:
                    if self._hear_of(id_):
                        title = tool.get("title") or id_
                        yield {**tool, "sessionUpdate": "tool_call", "title": title}, {}
                case "notice", {"message": str(message)}:
                    yield notice(message), {}
                case "log.gap", {"lost": lost}:
                    yield notice(f"{lost} events were not recorded here."), {}

    def _hear_of(self, tool: object) -> bool:
        """Take note of a tool; return whether it is new."""
        new = isinstance(tool, str) and tool not in self._tools
        if isinstance(tool, str):
            self._tools.add(tool)
        return new


def notice(text: str) -> Update:
    """Return an update by which a reader of the conversation is told something about it."""
    said = f"[hermes-gateway] {text}\n"
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}
