"""The entries of a transcript, one class a kind. Frozen: the fold makes new ones.

Above this module: `transcript`. Below it: `pieces`.

Text is kept as it came (F-L7): cleaning, cutting and redaction are the renderer's. Whatever is
optional is `None` or empty when nobody said it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from replay.pieces import Block, Json, Location, PlanItem, Question, Reaction, ToolContent


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What every entry has. *id* and place are fixed by the first record (F-L4)."""

    id: str
    """`e<seq>`, then `.1`, `.2` when one record makes several."""
    turn: int | None = None
    """Number of its turn; None before the first."""
    first: int
    last: int
    t0: int
    t1: int
    superseded: bool = False
    hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class User(Entry):
    """What a person sent."""

    kind: Literal["user"] = "user"
    text: str = ""
    blocks: tuple[Block, ...] = ()
    ref: str | None = None
    internal: bool = False
    queued: bool = False
    for_turn: int | None = None
    correction: str | None = None
    """`steer` or `redirect`."""
    mid: str | None = None
    rejected: str | None = None
    """Why it was not taken."""
    row: int | None = None
    """Its number in Hermes's own store, by which reactions name it."""
    reactions: tuple[Reaction, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Agent(Entry):
    """What the agent said."""

    kind: Literal["agent"] = "agent"
    text: str = ""
    blocks: tuple[Block, ...] = ()
    mid: str | None = None
    part: int = 1
    interim: bool = False
    confirmed: bool = False
    edited: bool = False
    draft: str | None = None
    """What was streamed before the final text replaced it."""
    late: bool = False
    """Came after its turn had ended."""
    row: int | None = None
    """As a user's."""
    reactions: tuple[Reaction, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Thought(Entry):
    """What the agent thought."""

    kind: Literal["thought"] = "thought"
    text: str = ""
    blocks: tuple[Block, ...] = ()
    mid: str | None = None
    part: int = 1
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tool(Entry):
    """One occurrence of a tool call. See fold.md for the lattice of *status*."""

    kind: Literal["tool"] = "tool"
    tool_id: str
    occ: int = 1
    name: str | None = None
    tkind: str | None = None
    title: str | None = None
    labels: tuple[str, ...] = ()
    status: str = "pending"
    input: Json = None
    content: tuple[ToolContent, ...] = ()
    output: Json = None
    """The raw output; a string is an `Excerpt`'s JSON when it was cut."""
    locations: tuple[Location, ...] = ()
    terminals: tuple[str, ...] = ()
    """Terminals that were fed in the tool's `_meta`, beside those that *content* names."""
    parent: str | None = None
    """The `tool_id` of the tool that this one works for."""
    duration_s: float | None = None
    exit_code: int | None = None
    error: str | None = None
    summary: str | None = None
    inline_diff: str | None = None
    risk: Json = None
    answer: str | None = None
    orphan: bool = False
    """Its start was not recorded."""
    permission_only: bool = False
    """Known from its permission request alone: shown as the question."""
    status_conflict: tuple[str, ...] = ()
    meta: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Plan(Entry):
    """The plan of one turn, replaced in place."""

    kind: Literal["plan"] = "plan"
    plan_id: str = "default"
    items: tuple[PlanItem, ...] = ()
    revision: int | None = None
    revs: int = 1
    history: tuple[tuple[PlanItem, ...], ...] = ()
    cleared: bool = False


@dataclass(frozen=True, kw_only=True)
class Ask(Entry):
    """A question to the user: permission, approval, clarify, elicitation, a secret, a bridge."""

    kind: Literal["ask"] = "ask"
    ask_id: str
    method: str
    what: str
    title: str | None = None
    text: str | None = None
    """The command or the words that the question is about."""
    questions: tuple[Question, ...] = ()
    tool_id: str | None = None
    tool: str | None = None
    """Id of the tool entry that it belongs to."""
    request_id: str | None = None
    """The id by which Hermes's own queue of approvals knows it."""
    state: Literal["open", "answered", "expired", "withdrawn", "resolved", "failed"] = "open"
    reason: str | None = None
    answer: str | None = None
    by: str | None = None
    late_answers: tuple[Json, ...] = ()
    declined: int = 0


@dataclass(frozen=True, kw_only=True)
class Notice(Entry):
    """A message beside the conversation."""

    kind: Literal["notice"] = "notice"
    level: str = "info"
    key: str | None = None
    text: str = ""
    times: int = 1
    cleared: bool = False


@dataclass(frozen=True, kw_only=True)
class Error(Entry):
    """A failure that was told to the user."""

    kind: Literal["error"] = "error"
    text: str = ""
    code: str | None = None
    cls: Literal["auth", "billing", "provider", "other"] = "other"
    hint: str | None = None
    """What to do: a command that signs in, or a sentence."""
    detail: str | None = None
    """What else was said of it."""
    surface: str | None = None
    retryable: bool | None = None
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class System(Entry):
    """A change of the session itself: mode, model, configuration, title, compaction."""

    kind: Literal["system"] = "system"
    tag: str
    text: str = ""
    key: str | None = None
    done: bool = True


@dataclass(frozen=True, kw_only=True)
class Subagent(Entry):
    """Work that the agent gave to another."""

    kind: Literal["subagent"] = "subagent"
    key: str
    parent: str | None = None
    depth: int = 0
    goal: str | None = None
    model: str | None = None
    status: str = "queued"
    tools: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    thinking: int = 0
    """Characters of thought, which are not kept."""
    summary: str | None = None
    child_session: str | None = None
    orphan: bool = False


@dataclass(frozen=True, kw_only=True)
class Interrupt(Entry):
    """Somebody stopped the turn."""

    kind: Literal["interrupt"] = "interrupt"
    by: str | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Unknown(Entry):
    """A record that this version has no rule for, or that breaks its own rule (*problem*)."""

    kind: Literal["unknown"] = "unknown"
    type: str
    payload: Json = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Gap(Entry):
    """Events that are known to be missing."""

    kind: Literal["gap"] = "gap"
    lost: int | None = None
    begin: int | None = None
    end: int | None = None
    reason: str | None = None


AnyEntry = (
    User
    | Agent
    | Thought
    | Tool
    | Plan
    | Ask
    | Notice
    | Error
    | System
    | Subagent
    | Interrupt
    | Unknown
    | Gap
)
