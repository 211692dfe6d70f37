"""How a transcript is to be rendered: everything said, nothing taken from the surroundings.

Above this module: the renderers and who calls them. Below it: nothing.

A profile is data: what it leaves out is what its fields say. Nothing in the renderer asks for a
profile by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

IDLE: Final = 2.0
"""Seconds that nothing happens at most in a cast, unless told otherwise."""

Thoughts = Literal["show", "fold", "hide"]
Clock = Literal["utc", "offset", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a rendering shows."""

    name: str
    head: bool = True
    """Title, agent, times and totals above the first turn."""
    numbers: bool = True
    """Sequence numbers: where a queued prompt stands, `--seq`."""
    times: bool = True
    """Times of day and durations."""
    transient: bool = True
    """How many transient events and warnings of the log are not shown: depends on timing."""
    raw: bool = True
    """Results of tools that hold no text, as JSON; pids and clocks are often in them."""
    kinds: frozenset[str] | None = None
    """The kinds of entries that are shown; None shows all."""
    runs: bool = False
    """Neighbouring tools as one line that counts them."""
    whole: bool = False
    """What is left out or cut otherwise: inputs, drafts, replaced entries, all of an output."""
    records: bool = False
    """A line for each record of the log, in place of the transcript."""


DEFAULT: Final = Profile(name="default")
"""For reading."""

COMPACT: Final = Profile(
    name="compact",
    kinds=frozenset({"user", "agent", "error", "tool", "subagent", "gap"}),
    runs=True,
)
"""The conversation alone; tools are counted."""

FULL: Final = Profile(name="full", whole=True)
"""Everything that the fold knows."""

SNAPSHOT: Final = Profile(
    name="snapshot", head=False, numbers=False, times=False, transient=False, raw=False
)
"""For golden files: two runs of the same conversation give equal text (render.md, rule 8)."""

TIMELINE: Final = Profile(name="timeline", records=True)
"""What was recorded, and when."""

PROFILES: Final = {
    profile.name: profile for profile in (DEFAULT, COMPACT, FULL, SNAPSHOT, TIMELINE)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How to render as text. *width* is in cells; 0 wraps and clips nothing."""

    profile: Profile = DEFAULT
    width: int = 80
    ascii: bool = False
    color: bool = False
    """ANSI colours, for a terminal."""
    seq: bool = False
    """Append `#first-last` to every entry."""
    time: Clock = "utc"
    """Times of day in UTC, offsets from the session's first event, or none."""
    silence: float | None = None
    """Seconds without an entry from which on that is a line of its own."""
    thoughts: Thoughts = "show"
    """Fold leaves one line of each; hide leaves none, and counts them."""
    lines: tuple[int, int] | None = (8, 4)
    """How many lines of an output's beginning and end are shown; None shows all."""
    diff_lines: tuple[int, int] | None = (14, 4)
    """The same for a diff."""
    folded_lines: tuple[int, int] | None = None
    """The same for outputs and diffs that fold away, on a page; None shows all."""
    idle: float = IDLE
    """Seconds that nothing happens at most in a cast."""
    speed: float = 1.0
    """How many times as fast as it was a cast runs."""
    until: bool = False
    """The end was cut off on purpose: that there is more is not worth a word."""
    omitted: Mapping[str, int] = field(default_factory=dict)
    """How many entries of each session were filtered out before: told in the foot."""
