"""What was said and thought: the user's prompts, the agent's messages and thoughts, plans.

Above this module: `text`. Below it: `layout`.
"""

from __future__ import annotations

from typing import Final

from replay.entries import Agent, Plan, Thought, User
from replay.pieces import PlanItem
from replay.render.clean import clean_line
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
    number = f" #{user.first}" if layout.options.profile.numbers else ""
    facts = (
        f"queued{number}" if user.queued else None,
        clean_line(user.correction or ""),
        "internal" if user.internal else None,
        f"not taken: {clean_line(user.rejected)}" if user.rejected else None,
    )
    return _said(f"{layout.glyphs.you} you{layout.behind(*facts)}", user, layout)


def agent_passage(agent: Agent, scene: Scene) -> Passage:
    """Show a message of the agent; one without a word is not shown."""
    layout = scene.layout
    late = "after its turn" if agent.late else None
    return _said(f"{layout.glyphs.agent} agent{layout.behind(late)}", agent, layout)


def thought_passage(thought: Thought, scene: Scene) -> Passage:
    """Show a thought; one without a word is not shown."""
    layout = scene.layout
    facts = (clean_line(thought.label or ""), layout.duration(thought.t1 - thought.t0))
    return _said(f"{layout.glyphs.thought} thought{layout.behind(*facts)}", thought, layout)


def plan_passage(plan: Plan, scene: Scene) -> Passage:
    """Show a plan as it stood at the end of its turn."""
    layout = scene.layout
    done = sum(item.status == "completed" for item in plan.items)
    facts = (
        f"{done}/{len(plan.items)}" if plan.items else None,
        "cleared" if plan.cleared else None,
        counted(plan.revs, "revision") if plan.revs > 1 else None,
    )
    lines = [f"{layout.glyphs.plan} plan{layout.behind(*facts)}"]
    for item in plan.items:
        lines += _step(item, layout)
    return Passage(lines)


def _said(head: str, entry: User | Agent | Thought, layout: Layout) -> Passage:
    body = layout.prose(entry.text)
    for block in entry.blocks:
        body += layout.prose(block_line(block, layout.glyphs.dot))
        body += layout.quoted(block.text or "") if block.type == "resource" else []
    return Passage([head, *body] if body or isinstance(entry, User) else [])


def _step(item: PlanItem, layout: Layout) -> list[str]:
    """Return a step; as prose `- [x] …` hangs, so the box is put in after wrapping."""
    known = _BOXES.get(item.status)
    box = known or f"[{clean_line(item.status)}]"
    priority = "" if item.priority in _USUAL else f" ({clean_line(item.priority or '')})"
    body = layout.prose(clean_line(item.text) + priority, 2 + len(box) + 1)
    if not body:
        return [f"  {box}"]
    return [f"  {box} {body[0].lstrip()}", *body[1:]]
