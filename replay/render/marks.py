"""Everything beside the conversation: notices, errors, changes of the session, interrupts, gaps.

Above this module: `text`. Below it: `layout`.
"""

from __future__ import annotations

import json
from typing import Final

from replay.entries import Error, Gap, Interrupt, Notice, Subagent, System, Unknown
from replay.pieces import Json
from replay.render.clean import clean, clean_line
from replay.render.figures import counted, grouped
from replay.render.layout import Layout, Passage
from replay.render.scene import Scene

_UNNAMED: Final = frozenset({"review", "background", "btw", "process", "goal"})
"""Tags whose text speaks for itself."""
_PLACES: Final = frozenset({"rewind", "fork"})
"""Tags whose text names a place of the log."""


def notice_passage(notice: Notice, scene: Scene) -> Passage:
    """Show a message beside the conversation."""
    layout = scene.layout
    level = notice_level(notice)
    label = layout.glyphs.notice + (f" {level}" if level else "")
    return Passage(_labelled(label, notice.text, layout, *notice_facts(notice, layout)))


def notice_level(notice: Notice) -> str:
    """Return the level of a notice if it is worth a word."""
    level = clean_line(notice.level)
    return level if level != "info" else ""


def notice_facts(notice: Notice, layout: Layout) -> tuple[str | None, ...]:
    """Return what is to be said of a notice beside its words."""
    return (_times(notice.times, layout), "cleared" if notice.cleared else None)


def error_passage(error: Error, scene: Scene) -> Passage:
    """Show a failure, and what to do about it."""
    layout = scene.layout
    facts = layout.behind(*error_facts(error, layout))
    lines = [f"{layout.glyphs.error} error{facts}", *layout.prose(error.text)]
    lines += layout.prose(error.detail or "")
    if error.hint:
        lines += layout.prose(f"{layout.glyphs.arrow} {advice(error.hint)}")
    return Passage(lines)


def error_facts(error: Error, layout: Layout) -> tuple[str | None, ...]:
    """Return of what class a failure is."""
    return (
        error.cls if error.cls != "other" else None,
        f"code {clean_line(error.code)}" if error.code and error.code != error.cls else None,
        "may be tried again" if error.retryable else None,
        _times(error.times, layout),
    )


def system_passage(system: System, scene: Scene) -> Passage:
    """Show a change of the session itself."""
    layout = scene.layout
    label = f"{layout.glyphs.session} {system_tag(system)}".rstrip()
    return Passage(_labelled(label, system_text(system, layout), layout, *system_facts(system)))


def system_tag(system: System) -> str:
    """Return what has changed, in a word, unless the text says it."""
    return "" if system.tag in _UNNAMED else clean_line(system.tag)


def system_text(system: System, layout: Layout) -> str:
    """Return what has changed (as it came); a golden names no place of the log (rule 8)."""
    numbered = system.tag in _PLACES and not layout.options.profile.numbers
    return "" if numbered else system.text


def system_facts(system: System) -> tuple[str | None, ...]:
    """Return whether a change is under way."""
    return (None if system.done else "not finished",)


def subagent_passage(agent: Subagent, scene: Scene) -> Passage:
    """Show work that was given away: its tools, its notes, what came of it."""
    layout = scene.layout
    marks = layout.glyphs
    mark: str = getattr(marks, subagent_sign(agent))
    facts = layout.facts(*subagent_facts(agent, layout))
    lead = f"{marks.subagent * (agent.depth + 1)}{mark} "
    lines = layout.tool_line(lead, clean_line(agent.goal or "sub-agent"), facts)
    lines += layout.gutter(clean_line(tool) for tool in agent.tools)
    for note in agent.notes:
        lines += layout.quoted(note)
    return Passage([*lines, *layout.prose(agent.summary or "")])


def subagent_sign(agent: Subagent) -> str:
    """Return the name of the sign that tells how the work went."""
    stopped = agent.status in {"interrupted", "cancelled"}
    done = {"completed": "ok", "failed": "failed", "error": "failed"}
    return done.get(agent.status, "stopped" if stopped else "open")


def subagent_facts(agent: Subagent, layout: Layout) -> tuple[str | None, ...]:
    """Return what is to be said of work that was given away."""
    return (
        clean_line(agent.status) if subagent_sign(agent) in {"open", "stopped"} else None,
        counted(len(agent.tools), "tool") if agent.tools else None,
        "start not recorded" if agent.orphan else None,
        layout.duration(agent.t1 - agent.t0),
    )


def interrupt_passage(interrupt: Interrupt, scene: Scene) -> Passage:
    """Show that somebody stopped the turn."""
    layout = scene.layout
    word, by, reason = interrupt_words(interrupt)
    return Passage(layout.headed(f"{layout.glyphs.interrupt} {word}{layout.behind(by)}", reason))


def interrupt_words(interrupt: Interrupt) -> tuple[str, str | None, str]:
    """Return what happened, by whom, and why (as it came)."""
    word = "interrupt requested" if interrupt.by else "interrupted"
    by = f"by {clean_line(interrupt.by)}" if interrupt.by else None
    return word, by, interrupt.text


def unknown_passage(unknown: Unknown, scene: Scene) -> Passage:
    """Show a record that there is no rule for, on one line; how long it is if that was clipped."""
    layout = scene.layout
    payload = payload_of(unknown)
    label = f"{layout.glyphs.unknown} {clean_line(unknown.type)}"
    lines = layout.headed(label, payload)
    if len(lines) > 1:
        lines = [label, *layout.gutter([payload])]
    problem = f"not understood: {clean_line(unknown.problem)}" if unknown.problem else ""
    return Passage([*lines, *layout.prose(problem)])


def gap_passage(gap: Gap, scene: Scene) -> Passage:
    """Show that events are missing."""
    layout = scene.layout
    return Passage([f"{layout.glyphs.gap} gap{layout.behind(*gap_facts(gap, layout))}"])


def gap_facts(gap: Gap, layout: Layout) -> tuple[str | None, ...]:
    """Return how much is missing, where, and why."""
    where, lost = None, gap.lost
    if gap.begin is not None and gap.end is not None:
        where = f"#{gap.begin}-{gap.end}"
        lost = lost if lost is not None else 1 + gap.end - gap.begin
    return (
        f"{counted(lost, 'event')} lost" if lost is not None else "events lost",
        where if layout.options.profile.numbers else None,
        clean_line(gap.reason or ""),
    )


def payload_of(unknown: Unknown) -> str:
    """Return what a record says beside its type, as JSON on one line, clean."""
    return clean_line(json.dumps(_within(unknown), ensure_ascii=False))


def _within(unknown: Unknown) -> Json:
    """Return what an unknown record holds beside its type; an ACP update stands in `update`."""
    match unknown.payload:
        case {"update": {"sessionUpdate": unknown.type, **members}, **others}:
            return members | others
    return unknown.payload


def _labelled(label: str, text: str, layout: Layout, *facts: str | None) -> list[str]:
    """Return *label* and a text on one line if they fit, else the text as a body."""
    line = f"{label} {clean_line(text)}".rstrip()
    if "\n" not in clean(text).strip("\n"):
        lines = layout.headed(line, "", *facts)
        if not layout.cells or len(lines[0]) <= layout.cells:
            return lines
    return [label + layout.behind(*facts), *layout.prose(text)]


def _times(times: int, layout: Layout) -> str | None:
    return f"{layout.glyphs.times}{grouped(times)}" if times > 1 else None


def advice(hint: str) -> str:
    """Return a hint as an instruction: a command is to be run, a sentence is one already."""
    return hint if hint[:1].isupper() else f"run: {hint}"
