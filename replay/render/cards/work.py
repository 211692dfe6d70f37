"""Cards of work: tools and sub-agents.

Above this module: `kinds`. Below it: `tools` and `marks`, which know states and facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from replay.entries import Subagent, Tool
from replay.render.asks import state_of
from replay.render.cards.asked import choices_in, late_notes
from replay.render.cards.card import Card, Change, Note, Output, Part, Permission, Quote, Words
from replay.render.clean import clean, clean_line
from replay.render.diffs import Diff, diffs_of, title_of
from replay.render.marks import subagent_facts, subagent_sign
from replay.render.outputs import Printout
from replay.render.scene import Scene
from replay.render.tools import (
    error_of,
    inputs_of,
    output_of,
    rest_of,
    tool_facts,
    tool_sign,
)
from replay.render.verbs import known, server_of, subject_of, verb_of

_ANY: Final = "circle"


def tool_card(tool: Tool, scene: Scene) -> Card:
    """Return the card of a tool call."""
    cwd = scene.transcript.info.cwd
    diffs = diffs_of(tool, cwd)
    output = output_of(tool, scene, diffs)
    row = known(tool)
    return Card(
        entry=tool,
        sign=tool_sign(tool),
        label=_label(tool),
        icon=row.icon if row else _ANY,
        subject=clean_line(subject_of(tool, cwd)),
        facts=tool_facts(tool, scene, diffs, output),
        parts=tuple(_parts(tool, scene, diffs, output)),
    )


def subagent_card(agent: Subagent, scene: Scene) -> Card:
    """Return the card of work that the agent gave to another."""
    tools = "\n".join(clean_line(tool) for tool in agent.tools)
    parts: list[Part] = [Quote(tools)] if tools else []
    parts += [Note(clean_line(note)) for note in agent.notes]
    if clean(agent.summary or "").strip():
        parts.append(Words(clean(agent.summary or "")))
    return Card(
        entry=agent,
        sign=subagent_sign(agent),
        label="Sub-agent",
        icon="bot",
        subject=clean_line(agent.goal or ""),
        facts=subagent_facts(agent, scene.layout),
        parts=tuple(parts),
    )


def _label(tool: Tool) -> str:
    row = known(tool)
    if row is None:
        return clean_line(verb_of(tool)) or "Tool"
    server = clean_line(server_of(tool))
    return f"{server} / {row.label}" if server else row.label


def _parts(tool: Tool, scene: Scene, diffs: list[Diff], output: Printout) -> Iterator[Part]:
    limit = None if scene.layout.options.profile.whole else scene.layout.options.folded_lines
    for ask in scene.permissions(tool):
        yield Permission(ask.id, choices_in(ask), state_of(ask))
        yield from late_notes(ask, scene)
    given = [f"{name}: {value}" for name, value in inputs_of(tool, scene.layout)]
    if given:
        yield Quote(clean("\n".join(given)))
    subject = clean_line(subject_of(tool, scene.transcript.info.cwd))
    for diff in diffs:
        short = replace(diff, lines=Output.of(Printout(diff.lines), limit).lines)
        yield Change(short, "".join(title_of(diff, diffs, subject)))
    if output.lines or output.size is not None:
        yield Output.of(output, limit)
    if rest := rest_of(tool, scene.layout):
        yield Quote(rest)
    if error := clean(error_of(tool, output)).strip("\n"):
        yield Quote(error)
