"""Records as the log has them, for tests that write a short session by hand."""

from __future__ import annotations

from typing import Any, TypeVar

from eventlog import Envelope, Seq
from replay import EMPTY, Entry, Transcript, fold

E = TypeVar("E", bound=Entry)

CLAUDE = "@agentclientprotocol/claude-agent-acp"
CODEX = "@agentclientprotocol/codex-acp"


class Log:
    """A session written record by record; the log's numbers are the order of the calls."""

    def __init__(self, agent: str | None = None, **opened: Any) -> None:
        self.records: list[Envelope] = []
        if agent is not None or opened:
            self.add("session.opened", agent={"name": agent}, **opened)

    def add(self, type_: str, /, **payload: Any) -> int:
        """Append a record; return its number."""
        seq = len(self.records) + 1
        record = Envelope(seq=Seq(seq), ts=1_000_000 * seq, type=type_, payload=payload)
        self.records.append(record)
        return seq

    def update(self, kind: str, /, **members: Any) -> int:
        """Append an ACP update."""
        return self.add("acp.session_update", update={"sessionUpdate": kind, **members})

    def prompt(self, text: str = "Do it", **members: Any) -> int:
        """Append a prompt."""
        return self.add("prompt.submitted", content=[{"type": "text", "text": text}], **members)

    def says(self, text: str, mid: str | None = None) -> int:
        """Append a chunk of the agent's words."""
        return self._chunk("agent_message_chunk", text, mid)

    def thinks(self, text: str, mid: str | None = None) -> int:
        """Append a chunk of the agent's thoughts."""
        return self._chunk("agent_thought_chunk", text, mid)

    def told(self, text: str, mid: str | None = None) -> int:
        """Append a chunk of what the agent says that the user said."""
        return self._chunk("user_message_chunk", text, mid)

    def _chunk(self, kind: str, text: str, mid: str | None) -> int:
        known = {} if mid is None else {"messageId": mid}
        return self.update(kind, content={"type": "text", "text": text}, **known)

    def call(self, tool_id: str = "t1", **members: Any) -> int:
        """Append a `tool_call`."""
        return self.update("tool_call", toolCallId=tool_id, **members)

    def patch(self, tool_id: str = "t1", **members: Any) -> int:
        """Append a `tool_call_update`."""
        return self.update("tool_call_update", toolCallId=tool_id, **members)

    def permission(self, tool_id: str = "t1", ask_id: str = "srq-1", **call: Any) -> int:
        """Append a permission request with the options yes, always and no."""
        return self.add(
            "request.opened",
            id=ask_id,
            method="session/request_permission",
            params={"toolCall": {"toolCallId": tool_id, **call}, "options": OPTIONS},
        )

    def picks(self, option: str, ask_id: str = "srq-1") -> int:
        """Append the answer to a permission request."""
        outcome = {"outcome": {"outcome": "selected", "optionId": option}}
        return self.add("request.answered", id=ask_id, result=outcome, by="client")

    def ends(self, prompt: int, stop: str = "end_turn", **members: Any) -> int:
        """Append the end of a prompt."""
        result = {"stopReason": stop, **members}
        return self.add("prompt.finished", prompt=prompt, result=result)

    def folded(self) -> Transcript:
        """Return what a person sees."""
        return fold(EMPTY, self.records)


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def text_content(*texts: str) -> list[dict[str, Any]]:
    """Return a tool's content of these texts."""
    return [{"type": "content", "content": {"type": "text", "text": text}} for text in texts]


def only(transcript: Transcript, kind: type[E]) -> E:
    """Return the one entry of that kind."""
    (entry,) = all_of(transcript, kind)
    return entry


def all_of(transcript: Transcript, kind: type[E]) -> list[E]:
    """Return the entries of that kind, in order."""
    return [entry for entry in transcript.entries if isinstance(entry, kind)]


def outline(transcript: Transcript) -> list[tuple[str, str]]:
    """Return kind and words of each entry, in order."""
    return [(entry.kind, getattr(entry, "text", "")) for entry in transcript.entries]
