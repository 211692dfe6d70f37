"""What was said and thought: the user's prompts, the agent's messages and thoughts, plans.

Above this module: `text`. Below it: `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replay.entries import Agent, Plan, Thought, User
from replay.pieces import PlanItem
from replay.render.clean import clean, clean_line
from replay.render.figures import counted
from replay.render.layout import Layout, Passage
from replay.render.outputs import block_line
from replay.render.scene import Scene

_BOXES: Final = {"completed": "[x]", "in_progress": "[>]", "cancelled": "[-]", "pending": "[ ]"}
_USUAL: Final = frozenset({None, "", "medium"})
"""Priorities that are not worth a word; ACP's plans must have one."""


def user_passage(user: User, scene: Scene) -> Passage:
    """Show a prompt."""
    layout = scene.layout
    return _said(f"{layout.glyphs.you} you{layout.behind(*user_facts(user, layout))}", user, layout)


def user_facts(user: User, layout: Layout) -> tuple[str | None, ...]:
    """Return what is to be said of a prompt beside its words."""
    number = f" #{user.first}" if layout.options.profile.numbers else ""
    return (
        f"queued{number}" if user.queued else None,
        clean_line(user.correction or ""),
        "internal" if user.internal else None,
        f"not taken: {clean_line(user.rejected)}" if user.rejected else None,
        *_reactions(user),
    )


def _reactions(said: User | Agent) -> Iterator[str]:
    for one in said.reactions:
        yield f"{clean_line(one.emoji)} {clean_line(one.author)}"


def agent_passage(agent: Agent, scene: Scene) -> Passage:
    """Show a message of the agent."""
    layout = scene.layout
    facts = agent_facts(agent, layout)
    said = _said(f"{layout.glyphs.agent} agent{layout.behind(*facts)}", agent, layout)
    if not draft_of(agent, layout):
        return said
    return Passage([*said.lines, "  draft:", *layout.quoted(draft_of(agent, layout))])


def agent_facts(agent: Agent, layout: Layout) -> tuple[str | None, ...]:
    """Return what is to be said of a message beside its words."""
    whole = layout.options.profile.whole
    return (
        "after its turn" if agent.late else None,
        "interim" if agent.interim and whole else None,
        "edited" if agent.edited and whole else None,
        *_reactions(agent),
    )


def draft_of(agent: Agent, layout: Layout) -> str:
    """Return what was streamed before the final words replaced it, where all is to be seen."""
    return agent.draft or "" if layout.options.profile.whole else ""


def thought_passage(thought: Thought, scene: Scene) -> Passage:
    """Show a thought."""
    layout = scene.layout
    facts = thought_facts(thought, layout)
    if layout.options.thoughts == "fold":
        lines = counted(len(clean(thought.text).strip("\n").split("\n")), "line")
        return Passage([f"{layout.glyphs.thought} thought{layout.behind(*facts, lines)}"])
    return _said(f"{layout.glyphs.thought} thought{layout.behind(*facts)}", thought, layout)


def thought_facts(thought: Thought, layout: Layout) -> tuple[str | None, ...]:
    """Return what is to be said of a thought beside its words."""
    return (clean_line(thought.label or ""), layout.duration(thought.t1 - thought.t0))


def plan_passage(plan: Plan, scene: Scene) -> Passage:
    """Show a plan as it stood at the end of its turn."""
    layout = scene.layout
    lines = [f"{layout.glyphs.plan} plan{layout.behind(*plan_facts(plan))}"]
    for item in plan.items:
        lines += _step(item, layout)
    return Passage(lines)


def plan_facts(plan: Plan) -> tuple[str | None, ...]:
    """Return how far a plan has come."""
    done = sum(item.status == "completed" for item in plan.items)
    return (
        f"{done}/{len(plan.items)}" if plan.items else None,
        "cleared" if plan.cleared else None,
        counted(plan.revs, "revision") if plan.revs > 1 else None,
    )


def is_worded(entry: User | Agent | Thought) -> bool:
    """Whether there is anything to show of what was said; a prompt is shown in any case."""
    return isinstance(entry, User) or bool(entry.blocks or clean(entry.text).strip())


def _said(head: str, entry: User | Agent | Thought, layout: Layout) -> Passage:
    body = layout.prose(entry.text)
    for block in entry.blocks:
        body += layout.prose(block_line(block, layout.glyphs.dot))
        body += layout.quoted(block.text or "") if block.type == "resource" else []
    return Passage([head, *body])


def _step(item: PlanItem, layout: Layout) -> list[str]:
    """Return a step; as prose `- [x] …` hangs, so the box is put in after wrapping."""
    box = _BOXES.get(item.status) or f"[{clean_line(item.status)}]"
    body = layout.prose(step_text(item), 2 + len(box) + 1)
    if not body:
        return [f"  {box}"]
    return [f"  {box} {body[0].lstrip()}", *body[1:]]


def step_text(item: PlanItem) -> str:
    """Return what a step says, with its priority if that is worth a word."""
    priority = "" if item.priority in _USUAL else f" ({clean_line(item.priority or '')})"
    return clean_line(item.text) + priority
