"""What is known of agents: one row an agent, and nowhere else (fold.md, table of agents).

Above this module: `naming`, `tools`, `notes`. Below it: nothing.

To support another agent, add its row and a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

NameRule = Callable[[str | None, str | None], str | None]
"""(title, kind) of a tool's frame -> the tool's name, or None if the frame does not say it."""

_WORD: Final = re.compile(r"\w+\Z")


def _by_title(title: str | None, _kind: str | None) -> str | None:
    return title or None


def _by_kind(_title: str | None, kind: str | None) -> str | None:
    return kind if kind != "other" else None


def _by_word_or_kind(title: str | None, kind: str | None) -> str | None:
    return title if title and _WORD.match(title) else _by_kind(title, kind)


def _before_colon(title: str | None, kind: str | None) -> str | None:
    first = re.match(r"\w+", (title or "").partition(":")[0])
    return first[0] if first else _by_kind(title, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """What one agent does in its own way."""

    names: tuple[str, ...]
    """`agentInfo.name` is one of these, or ends with `/` and one of these."""
    tool_name: NameRule
    question_tools: frozenset[str] = frozenset({"askuserquestion", "question", "clarify"})
    """Canonical names."""
    plan_tools: frozenset[str] = frozenset({"exitplanmode", "planexit"})
    sign_in: str | None = None
    """What to run when it says that nobody is signed in."""
    asks_under_own_id: bool = False
    """Its permission requests have a `toolCallId` of their own, which is no tool of its own."""


ANY: Final = AgentFacts(names=(), tool_name=_by_word_or_kind)

AGENTS: Final = (
    AgentFacts(names=("claude-agent-acp",), tool_name=_by_kind, sign_in="claude login"),
    AgentFacts(names=("codex-acp",), tool_name=_by_kind, sign_in="codex auth"),
    AgentFacts(names=("OpenCode",), tool_name=_by_title, sign_in="opencode auth"),
    AgentFacts(names=("gemini-cli",), tool_name=_by_word_or_kind),
    AgentFacts(names=("qwen-code",), tool_name=_by_word_or_kind),
    AgentFacts(names=("Kimi Code CLI",), tool_name=_by_title),
    AgentFacts(names=("hermes-agent",), tool_name=_before_colon, asks_under_own_id=True),
)


@cache
def facts_of(agent: str | None) -> AgentFacts:
    """Return what is known of the agent that calls itself *agent*."""
    name = (agent or "").rpartition("/")[2]
    return next((facts for facts in AGENTS if name in facts.names), ANY)
