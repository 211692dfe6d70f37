"""What stands for several entries, or between two: counts of tools, silences.

Above this module: `text`. Below it: `layout`, `tools`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay.entries import AnyEntry, Subagent, Tool
from replay.render.figures import counted, seconds
from replay.render.layout import Layout, Passage
from replay.render.marks import subagent_sign
from replay.render.scene import Scene
from replay.render.tools import tool_sign
from replay.transcript import Turn

Shown = Turn | AnyEntry
Run = Sequence[Tool | Subagent]


def in_runs(shown: Iterator[Shown], scene: Scene) -> Iterator[Shown | Run]:
    """Yield what is shown, neighbouring tools as one where the profile wants that."""
    run: list[Tool | Subagent] = []
    for each in shown:
        if scene.layout.options.profile.runs and isinstance(each, Tool | Subagent):
            run.append(each)
            continue
        if run:
            yield run
            run = []
        yield each
    if run:
        yield run


def run_passage(run: Run, scene: Scene) -> Passage:
    """Count tools: "3 tools, 1 failed"."""
    signs = [_sign(each) for each in run]
    sign = next((sign for sign in ("failed", "open", "stopped") if sign in signs), "ok")
    told = [
        f"{signs.count(other)} {other}" for other in ("failed", "open", "stopped") if other in signs
    ]
    glyph: str = getattr(scene.layout.glyphs, sign)
    return Passage([f"{glyph} {', '.join([counted(len(run), 'tool'), *told])}"])


def silence(before: int | None, moment: int, layout: Layout) -> Passage:
    """Return the line that says how long nothing came, if that was long. Times in µs."""
    limit = layout.options.silence
    if before is None or limit is None or not layout.options.profile.times:
        return Passage([])
    lasted = moment - before
    if lasted <= limit * 1_000_000:
        return Passage([])
    return Passage([f"{layout.glyphs.session} {seconds(lasted)} later"])


def _sign(each: Tool | Subagent) -> str:
    return tool_sign(each) if isinstance(each, Tool) else subagent_sign(each)
