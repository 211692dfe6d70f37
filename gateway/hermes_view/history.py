"""A transcript as Hermes's answers hold it: messages, the turn in flight, todos (P-21).

Above this module: methods. Below it: `replay`, whose transcript is computed from the log alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from gateway.hermes_view.usage import context_of, whole
from replay import Agent, AnyEntry, Plan, Thought, Tool, Transcript, User

Json = dict[str, Any]

STATUS: Final = {"idle": "idle", "running": "working", "waiting": "waiting", "closed": "idle"}
"""A transcript's status in Hermes's words."""

PREVIEW: Final = 200
"""Characters of a session's last words in a list."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What Hermes's answers hold of a session. Times in seconds since the Unix epoch."""

    messages: list[Json]
    info: Json
    running: bool
    status: str
    started_at: float
    turn_started_at: float | None
    inflight: Json | None
    queued: Json | None
    todo_state: Json | None

    @property
    def preview(self) -> str:
        """The last words of the session, cut."""
        said = (row["text"] for row in reversed(self.messages) if row.get("text"))
        return " ".join(next(said, "").split())[:PREVIEW]


def rows_of(transcript: Transcript) -> Rows:
    """Return a session's rows as Hermes lists them: persons, the agent with its thoughts, tools."""
    turn = transcript.turns[-1] if transcript.turns else None
    running = turn is not None and turn.outcome == "open" and not turn.replayed
    began = turn.t0 / 1e6 if turn and running else None
    return Rows(
        messages=list(_messages(transcript)),
        info=_info(transcript, running=running, began=began),
        running=running,
        status=STATUS[transcript.status],
        started_at=transcript.t0 / 1e6,
        turn_started_at=began,
        inflight=_inflight(transcript) if running else None,
        queued=_queued(transcript),
        todo_state=_todos(transcript),
    )


def _messages(transcript: Transcript) -> Iterator[Json]:
    thought = ""
    for entry in transcript.entries:
        if entry.superseded or entry.hidden:
            continue
        if isinstance(entry, Thought):
            thought += entry.text
        elif (row := _row(entry)) is not None:
            if isinstance(entry, Agent) and thought:
                row["reasoning"], thought = thought, ""
            yield row


def _row(entry: AnyEntry) -> Json | None:
    row = {"timestamp": entry.t0 / 1e6, "row_id": entry.first}
    match entry:
        case User(rejected=None):
            return {"role": "user", "text": entry.text, **row}
        case Agent() if entry.text:
            return {"role": "assistant", "text": entry.text, **row}
        case Tool(permission_only=False):
            return {"role": "tool", **_tool(entry), **row}
    return None


def _tool(tool: Tool) -> Json:
    given = {"args": tool.input} if isinstance(tool.input, dict) else {}
    told = {"context": tool.title, "content": _output(tool)}
    return {
        "name": tool.name or tool.tkind or "tool",
        "tool_call_id": tool.tool_id,
        **{key: value for key, value in told.items() if value},
        **given,
    }


def _output(tool: Tool) -> str | None:
    texts = [item.text for item in tool.content if item.type == "text"]
    return "\n".join(text.text for text in texts if text) or None


def _info(transcript: Transcript, *, running: bool, began: float | None) -> Json:
    info = transcript.info
    return {
        "model": info.model or "",
        "provider": info.provider or "",
        "cwd": info.cwd or "",
        "branch": info.branch or "",
        "tools": {},
        "skills": {},
        "running": running,
        "turn_started_at": began,
        "title": transcript.title or "",
        "stored_session_id": transcript.session,
        "version": info.agent_version or "",
        "usage": usage_of(transcript),
        "agent": info.agent or info.name or "",
    }


def usage_of(transcript: Transcript) -> Json:
    """Return what a session has used: Hermes's own counts, or the sum of ACP's turns."""
    hermes = {key: value for key, value in transcript.usage.items() if key in _HERMES}
    if hermes:
        return whole({**hermes, "model": transcript.info.model or hermes.get("model") or ""})
    sums: Json = {"model": transcript.info.model or ""}
    for turn in transcript.turns:
        for key, value in _tokens(turn.usage).items():
            sums[key] = sums.get(key, 0) + value
    return whole({**sums, **context_of(transcript.usage)})


def _tokens(usage: Json) -> dict[str, int]:
    found: dict[str, int] = {}
    for names, own in _TOKENS.items():
        value = next((usage[name] for name in names if isinstance(usage.get(name), int)), None)
        if value is not None:
            found |= dict.fromkeys(own, value)
    if found:
        found = {"total": found.get("input", 0) + found.get("output", 0), "calls": 1, **found}
    return found


_HERMES: Final = frozenset(
    {
        "model",
        "input",
        "output",
        "reasoning",
        "prompt",
        "completion",
        "total",
        "calls",
        "compressions",
        "context_used",
        "context_max",
        "context_percent",
        "context_source",
        "context_estimated",
        "cache_hit_pct",
        "cache_read",
        "cache_write",
        "avg_latency_s",
        "avg_tps",
        "active_subagents",
        "cost_usd",
        "cost_status",
    }
)

_TOKENS: Final = {
    ("inputTokens", "input_tokens"): ("input", "prompt"),
    ("outputTokens", "output_tokens"): ("output", "completion"),
    ("thoughtTokens",): ("reasoning",),
    ("totalTokens",): ("total",),
}
"""ACP's names of what a turn used, and Hermes's."""


def _inflight(transcript: Transcript) -> Json:
    """Return the turn that runs: what was asked, and what has been answered so far."""
    turn = transcript.turns[-1]
    entries = [entry for entry in transcript.entries if entry.turn == turn.n]
    asked = [entry for entry in entries if isinstance(entry, User)]
    said = [entry.text for entry in entries if isinstance(entry, Agent)]
    first = next((entry.text for entry in asked if not entry.correction), "")
    corrections = [entry.text for entry in asked if entry.correction and not entry.queued]
    return {
        "user": first,
        "assistant": "\n\n".join(said),
        "streaming": True,
        **({"corrections": corrections} if corrections else {}),
    }


def _queued(transcript: Transcript) -> Json | None:
    waiting = [
        entry.text
        for entry in transcript.entries
        if isinstance(entry, User)
        and entry.queued
        and entry.for_turn is None
        and entry.rejected is None
    ]
    return {"user": waiting[0]} if waiting else None


def _todos(transcript: Transcript) -> Json | None:
    plans = [entry for entry in transcript.entries if isinstance(entry, Plan)]
    if not plans or not plans[-1].items:
        return None
    last = plans[-1]
    todos = [
        {"id": str(number), "content": item.text, "status": item.status or "pending"}
        for number, item in enumerate(last.items, 1)
    ]
    revision = last.revision if last.revision is not None else sum(plan.revs for plan in plans)
    return {"todos": todos, "revision": revision}
