"""Cards of what was said, thought and planned.

Above this module: `kinds`. Below it: `speech`, which knows the facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay.entries import Agent, Plan, Thought, User
from replay.pieces import Block
from replay.render.cards.card import Card, Note, Part, Quote, Steps, Words
from replay.render.clean import clean, clean_line
from replay.render.outputs import block_line
from replay.render.scene import Scene
from replay.render.speech import (
    agent_facts,
    draft_of,
    plan_facts,
    step_text,
    thought_facts,
    user_facts,
)


def user_card(user: User, scene: Scene) -> Card:
    """Return the card of a prompt."""
    return Card(
        entry=user,
        sign="you",
        label="You",
        icon="person",
        facts=user_facts(user, scene.layout),
        parts=tuple(said(user.text, user.blocks, scene)),
    )


def agent_card(agent: Agent, scene: Scene) -> Card:
    """Return the card of a message of the agent."""
    return Card(
        entry=agent,
        sign="agent",
        label="Agent",
        icon="agent",
        facts=agent_facts(agent, scene.layout),
        parts=(*said(agent.text, agent.blocks, scene), *_draft(agent, scene)),
    )


def thought_card(thought: Thought, scene: Scene) -> Card:
    """Return the card of a thought."""
    return Card(
        entry=thought,
        sign="thought",
        label="Thought",
        icon="bubble",
        facts=thought_facts(thought, scene.layout),
        parts=tuple(said(thought.text, thought.blocks, scene)),
    )


def plan_card(plan: Plan, scene: Scene) -> Card:
    """Return the card of a plan."""
    del scene
    steps = [(clean_line(item.status), step_text(item)) for item in plan.items]
    return Card(
        entry=plan,
        sign="plan",
        label="Plan",
        icon="list",
        facts=plan_facts(plan),
        parts=(Steps(steps),) if steps else (),
    )


def _draft(agent: Agent, scene: Scene) -> Iterator[Part]:
    if draft := clean(draft_of(agent, scene.layout)).strip("\n"):
        yield Note("draft:")
        yield Quote(draft)


def said(text: str, blocks: Sequence[Block], scene: Scene) -> Iterator[Part]:
    """Yield a text and what was sent with it."""
    if clean(text).strip():
        yield Words(clean(text))
    for block in blocks:
        yield Note(block_line(block, scene.layout.glyphs.dot))
        if block.type == "resource" and block.text:
            yield Quote(clean(block.text))
