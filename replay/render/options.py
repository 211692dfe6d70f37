"""How a transcript is to be rendered: everything said, nothing taken from the surroundings.

Above this module: the renderers and who calls them. Below it: nothing.

A profile is data: what it leaves out is what its fields say. Nothing in the renderer asks for a
profile by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


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


DEFAULT: Final = Profile(name="default")
"""For reading."""

SNAPSHOT: Final = Profile(
    name="snapshot", head=False, numbers=False, times=False, transient=False, raw=False
)
"""For golden files: two runs of the same conversation give equal text (render.md, rule 8)."""

PROFILES: Final = {profile.name: profile for profile in (DEFAULT, SNAPSHOT)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How to render as text. *width* is in cells; 0 wraps and clips nothing."""

    profile: Profile = DEFAULT
    width: int = 80
    ascii: bool = False
    seq: bool = False
    """Append `#first-last` to every entry."""
    time: Literal["utc", "offset", "none"] = "utc"
    """Times of day in UTC, offsets from the session's first event, or none."""
    lines: tuple[int, int] = (8, 4)
    """How many lines of an output's beginning and end are shown."""
    diff_lines: tuple[int, int] = (14, 4)
    """The same for a diff."""
