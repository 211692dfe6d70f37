"""The signs that we draw, in Unicode and in ASCII.

Above this module: `layout`. Below it: nothing. `--ascii` maps our signs one by one and never
touches the text of a session (render.md, rule 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """One character a sign. The first group stands in column 0, so that grep finds its kind."""

    you: str = "›"
    agent: str = "●"
    thought: str = "∴"
    ok: str = "✓"
    failed: str = "✗"
    stopped: str = "⊘"
    open: str = "◌"
    plan: str = "☰"
    ask: str = "◆"
    notice: str = "▲"
    error: str = "!"
    subagent: str = "↳"
    interrupt: str = "■"
    session: str = "~"
    unknown: str = "?"
    gap: str = "≠"

    dot: str = "·"
    rule: str = "─"
    gutter: str = "│"
    cut: str = "…"
    picked: str = "•"
    minus: str = "−"
    arrow: str = "→"
    none: str = "—"
    times: str = "×"


UNICODE: Final = Glyphs()

ASCII: Final = Glyphs(
    you=">",
    agent="*",
    thought=".",
    ok="+",
    failed="x",
    stopped="/",
    open="o",
    plan="=",
    ask="?",
    notice="^",
    subagent="&",
    interrupt="#",
    gap="%",
    dot="-",
    rule="-",
    gutter="|",
    cut="~",
    picked="*",
    minus="-",
    arrow=">",
    none="-",
    times="x",
)
