"""A tool call: one line of what was done to what and how it went, then what it printed.

Above this module: `text`. Below it: `verbs`, `outputs`, `diffs`, `asks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from replay.entries import Tool
from replay.render.asks import permission_lines
from replay.render.clean import clean_line
from replay.render.diffs import Diff, from_patch, from_texts
from replay.render.figures import counted, grouped
from replay.render.layout import Layout, Passage
from replay.render.outputs import Printout, content_of, printed, shown_terminal
from replay.render.scene import Scene
from replay.render.verbs import known, relative, subject_of, verb_of

_STOPPED: Final = frozenset({"rejected", "cancelled", "aborted", "unresolved"})
_EXPECTED: Final = frozenset({("rejected", "failed"), ("rejected", "cancelled")})
_WORDS: Final = {
    "in_progress": "running",
    "unresolved": "no result",
    "completed": None,
    "failed": None,
}
"""State words where the status itself is none that a reader needs or knows."""


def tool_passage(tool: Tool, scene: Scene) -> Passage:
    """Show a tool call, unless something else is shown in its place."""
    if scene.replaced(tool):
        return Passage([])
    layout = scene.layout
    options = layout.options
    diffs = _diffs(tool, scene.transcript.info.cwd)
    output = _output(tool, scene, diffs)
    quiet = tool.status == "completed" and _is_quiet(tool)
    subject = clean_line(subject_of(tool, scene.transcript.info.cwd))
    lines = layout.tool_line(
        _lead(tool, layout), subject, _facts(tool, scene, diffs, output, quiet=quiet)
    )
    for ask in scene.permissions(tool):
        lines += permission_lines(ask, layout)
    for diff in diffs:
        titled = len(diffs) > 1 or (diff.path is not None and clean_line(diff.path) not in subject)
        named = [clean_line(diff.path)] if diff.path and titled else []
        lines += layout.gutter(named) + layout.body(Printout(diff.lines), options.diff_lines)
    if not quiet:
        lines += layout.body(output, options.lines)
    if tool.error and tool.error.strip() not in "\n".join(output.lines):
        lines += layout.quoted(tool.error)
    return Passage(lines, tool=True)


def _lead(tool: Tool, layout: Layout) -> str:
    verb = clean_line(verb_of(tool))
    return f"{_glyph(tool, layout)} {verb:<7} " if verb else f"{_glyph(tool, layout)} "


def _glyph(tool: Tool, layout: Layout) -> str:
    marks = layout.glyphs
    if tool.status in _STOPPED:
        return marks.stopped
    return {"completed": marks.ok, "failed": marks.failed}.get(tool.status, marks.open)


def _facts(tool: Tool, scene: Scene, diffs: list[Diff], output: Printout, *, quiet: bool) -> str:
    """Return the facts in their fixed order (render.md, rule 4)."""
    layout = scene.layout
    screen = shown_terminal(tool, scene.terminals)
    code = tool.exit_code if tool.exit_code is not None or screen is None else screen.exit_code
    return layout.facts(
        _WORDS.get(tool.status, clean_line(tool.status)),
        clean_line(tool.answer or ""),
        _stat(diffs, layout),
        f"exit {code}" if code else None,
        f"signal {clean_line(screen.signal)}" if screen and screen.signal else None,
        _count(output, layout, quiet=quiet),
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
    return (
        counted(lines, "line") if lines and (quiet or lines > sum(layout.options.lines)) else None
    )


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


def _is_quiet(tool: Tool) -> bool:
    verb = known(tool)
    return verb is not None and verb.quiet


def _diffs(tool: Tool, cwd: str | None) -> list[Diff]:
    found = [
        from_texts(relative(item.path, cwd) if item.path else None, item.old, item.new)
        for item in tool.content
        if item.type == "diff"
    ]
    if not found and tool.inline_diff:
        found = [from_patch(tool.inline_diff)]
    return found


def _output(tool: Tool, scene: Scene, diffs: list[Diff]) -> Printout:
    """Return what is to be printed; beside a diff only content, as the raw output repeats it."""
    if diffs and tool.status == "completed":
        return content_of(tool, scene.terminals)
    return printed(tool, scene.terminals, raw=scene.layout.options.profile.raw and not diffs)
