"""A tool call: one line of what was done to what and how it went, then what it printed.

Above this module: `text`. Below it: `verbs`, `outputs`, `diffs`, `asks`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from replay.entries import Tool
from replay.render.asks import permission_lines
from replay.render.clean import clean_line
from replay.render.diffs import Diff, diffs_of, title_of
from replay.render.figures import counted, grouped
from replay.render.layout import Layout, Passage
from replay.render.nesting import depth_of
from replay.render.outputs import (
    Printout,
    beside_words,
    content_of,
    printed,
    shown_terminal,
    text_lines,
)
from replay.render.scene import Scene
from replay.render.verbs import known, subject_of, verb_of

_STOPPED: Final = frozenset({"rejected", "cancelled", "aborted", "unresolved"})
_EXPECTED: Final = frozenset({("rejected", "failed"), ("rejected", "cancelled")})
_DEPTH: Final = 3
"""Signs of depth at most; a deeper call has no room for more."""
_WORDS: Final = {
    "in_progress": "running",
    "unresolved": "no result",
    "completed": None,
    "failed": None,
}
"""State words where the status itself is none that a reader needs or knows."""


def tool_passage(tool: Tool, scene: Scene) -> Passage:
    """Show a tool call."""
    layout = scene.layout
    diffs = diffs_of(tool, scene.transcript.info.cwd)
    output = output_of(tool, scene, diffs)
    subject = clean_line(subject_of(tool, scene.transcript.info.cwd))
    lines = layout.tool_line(
        _lead(tool, scene), subject, layout.facts(*tool_facts(tool, scene, diffs, output))
    )
    for ask in scene.permissions(tool):
        lines += permission_lines(ask, layout)
    lines += [
        line for name, value in inputs_of(tool, layout) for line in _given(name, value, layout)
    ]
    for diff in diffs:
        lines += layout.gutter(title_of(diff, diffs, subject)) + layout.body(
            Printout(diff.lines), layout.kept_of_diff
        )
    if not is_quiet(tool, layout):
        lines += layout.body(output, layout.kept)
    lines += layout.gutter([rest for rest in [rest_of(tool, layout)] if rest])
    lines += layout.quoted(error_of(tool, output))
    return Passage(lines, tool=True)


def inputs_of(tool: Tool, layout: Layout) -> list[tuple[str, str]]:
    """Return what *tool* was given, name and value (as they came), where all is to be seen."""
    if not layout.options.profile.whole or tool.input in (None, {}, ""):
        return []
    given = tool.input if isinstance(tool.input, Mapping) else {"input": tool.input}
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in given.items()
    ]


def rest_of(tool: Tool, layout: Layout) -> str:
    """Return what an output says beside its words, clean, where all is to be seen."""
    return clean_line(beside_words(tool.output)) if layout.options.profile.whole else ""


def _given(name: str, value: str, layout: Layout) -> list[str]:
    lead = f"  {layout.glyphs.arrow} {clean_line(name)}:"
    if "\n" not in value.strip("\n"):
        return [f"{lead} {clean_line(value)}".rstrip()]
    return [lead, *(f"    {line}".rstrip() for line in text_lines(value))]


def _lead(tool: Tool, scene: Scene) -> str:
    verb, glyphs = clean_line(verb_of(tool)), scene.layout.glyphs
    sign: str = getattr(glyphs, tool_sign(tool))
    glyph = glyphs.subagent * min(depth_of(tool.id, scene.parents), _DEPTH) + sign
    return f"{glyph} {verb:<7} " if verb else f"{glyph} "


def tool_sign(tool: Tool) -> str:
    """Return the name of the sign that tells how *tool* went."""
    if tool.status in _STOPPED:
        return "stopped"
    return {"completed": "ok", "failed": "failed"}.get(tool.status, "open")


def tool_facts(
    tool: Tool, scene: Scene, diffs: list[Diff], output: Printout
) -> tuple[str | None, ...]:
    """Return the facts in their fixed order (render.md, rule 4)."""
    layout = scene.layout
    screen = shown_terminal(tool, scene.terminals)
    code = tool.exit_code if tool.exit_code is not None or screen is None else screen.exit_code
    return (
        _WORDS.get(tool.status, clean_line(tool.status)),
        clean_line(tool.answer or ""),
        _stat(diffs, layout),
        f"exit {code}" if code else None,
        f"signal {clean_line(screen.signal)}" if screen and screen.signal else None,
        _count(output, layout, quiet=is_quiet(tool, layout)),
        "new file" if diffs and all(diff.new for diff in diffs) else None,
        "start not recorded" if tool.orphan else None,
        "output truncated" if screen and screen.truncated else None,
        _risk(tool),
        _conflict(tool),
        _duration(tool, layout),
    )


def _stat(diffs: list[Diff], layout: Layout) -> str | None:
    added = sum(diff.added for diff in diffs)
    removed = sum(diff.removed for diff in diffs)
    return f"+{added} {layout.glyphs.minus}{removed}" if added or removed else None


def _count(output: Printout, layout: Layout, *, quiet: bool) -> str | None:
    """Return how much was printed, where not all of it is shown."""
    if output.size is not None:
        return f"{grouped(output.size)} bytes"
    lines = len(output.lines)
    cut = layout.kept is not None and lines > sum(layout.kept)
    return counted(lines, "line") if lines and (quiet or cut) else None


def _risk(tool: Tool) -> str | None:
    if not tool.risk:
        return None
    level = tool.risk.get("level") if isinstance(tool.risk, Mapping) else tool.risk
    return f"risk {clean_line(level)}" if isinstance(level, str) else "risk"


def _conflict(tool: Tool) -> str | None:
    """Return what else the agent said of the end; that what was rejected failed goes without saying."""
    others = [status for status in tool.status_conflict if (tool.status, status) not in _EXPECTED]
    return f"then reported {', '.join(map(clean_line, others))}" if others else None


def _duration(tool: Tool, layout: Layout) -> str | None:
    if tool.status not in {"completed", "failed"}:
        return None
    known_s = tool.duration_s
    return layout.duration(tool.t1 - tool.t0 if known_s is None else known_s * 1_000_000)


def is_quiet(tool: Tool, layout: Layout) -> bool:
    """Whether the output of *tool* is counted, not printed: it worked, and is of that kind."""
    if layout.options.profile.whole:
        return False
    verb = known(tool)
    return tool.status == "completed" and verb is not None and verb.quiet


def error_of(tool: Tool, output: Printout) -> str:
    """Return why *tool* failed (as it came) unless its output says so already."""
    error = tool.error or ""
    return error if error.strip() not in "\n".join(output.lines) else ""


def output_of(tool: Tool, scene: Scene, diffs: list[Diff]) -> Printout:
    """Return what is to be printed; beside a diff only content, as the raw output repeats it."""
    if diffs and tool.status == "completed":
        return content_of(tool, scene.terminals)
    return printed(tool, scene.terminals, raw=scene.layout.options.profile.raw and not diffs)
