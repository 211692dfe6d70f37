"""The page that a transcript is laid out on: width, signs, wrapping, gutters.

Above this module: one module a kind of entry. Below it: `cells`, `prose`, `glyphs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from replay.entries import AnyEntry
from replay.render.cells import clip, width
from replay.render.clean import clean
from replay.render.figures import seconds
from replay.render.glyphs import ASCII, UNICODE, Glyphs
from replay.render.options import TextOptions
from replay.render.outputs import Printout
from replay.render.prose import wrapped
from replay.transcript import Turn

_RULE: Final = 80
"""Cells of a rule when lines have no width."""
_SLACK: Final = 20
"""Cells by which facts may pass the width before they take a line of their own (rule 4)."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The lines of one entry. Neighbouring tools of one line each stand without a blank line."""

    lines: Sequence[str]
    tool: bool = False
    of: AnyEntry | Turn | None = None
    """What it shows; None for head and foot."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines are made."""

    options: TextOptions

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw."""
        return ASCII if self.options.ascii else UNICODE

    @property
    def cells(self) -> int | None:
        """Cells of a line; None if lines are as long as they are."""
        return self.options.width or None

    @property
    def kept(self) -> tuple[int, int] | None:
        """Lines of an output's beginning and end that are shown; None if all are."""
        return None if self.options.profile.whole else self.options.lines

    @property
    def kept_of_diff(self) -> tuple[int, int] | None:
        """The same for a diff."""
        return None if self.options.profile.whole else self.options.diff_lines

    def facts(self, *parts: str | None) -> str:
        """Join what is there of *parts* with dots."""
        return f" {self.glyphs.dot} ".join(part for part in parts if part)

    def behind(self, *parts: str | None) -> str:
        """Join them in the same way, ready to stand behind something."""
        joined = self.facts(*parts)
        return f" {self.glyphs.dot} {joined}" if joined else ""

    def duration(self, micros: float) -> str | None:
        """Return a duration that is worth showing, in a profile that shows times."""
        return seconds(micros) if self.options.profile.times and micros >= 50_000 else None

    def rule(self, title: str = "") -> str:
        """Return a line across the page, with *title* near its beginning."""
        dash = self.glyphs.rule
        lead = f"{dash * 2} {title} " if title else ""
        return lead + dash * max(2, (self.cells or _RULE) - width(lead))

    def prose(self, text: str, indent: int = 2) -> list[str]:
        """Return *text* (as it came) wrapped and indented; nothing if it is blank."""
        body = clean(text)
        if not body.strip():
            return []
        room = max(1, self.cells - indent) if self.cells else None
        return [f"{' ' * indent}{line}".rstrip() for line in wrapped(body, room)]

    def headed(self, label: str, text: str, *facts: str | None) -> list[str]:
        """Return *label*, *text* (as it came) and *facts* on one line if they fit, else in a body."""
        body = self.prose(text)
        if len(body) <= 1:
            line = label + self.behind(text and "".join(body).strip(), *facts)
            if not self.cells or width(line) <= self.cells:
                return [line]
        return [label + self.behind(*facts), *body]

    def tool_line(self, lead: str, subject: str, facts: str) -> list[str]:
        """Return a tool's line: the subject is clipped, the facts are not (rule 4)."""
        if self.cells:
            subject = clip(subject, max(10, self.cells - width(lead) - 2), self.glyphs.cut)
        line = (lead + subject).rstrip()
        if not facts:
            return [line]
        whole = f"{line} {self.glyphs.dot} {facts}"
        if not self.cells or width(whole) <= self.cells + _SLACK:
            return [whole]
        return [line, *self.prose(facts)]

    def gutter(self, lines: Iterable[str]) -> list[str]:
        """Return *lines* (clean) behind a gutter, clipped unless the whole is to be seen."""
        edge = f"  {self.glyphs.gutter} "
        room = max(4, self.cells - 4) if self.cells and not self.options.profile.whole else None
        return [
            (edge + (clip(line, room, self.glyphs.cut) if room else line)).rstrip()
            for line in lines
        ]

    def quoted(self, text: str) -> list[str]:
        """Return *text* (as it came) behind a gutter, wrapped: every word of it is to be read."""
        edge = f"  {self.glyphs.gutter} "
        return [f"{edge}{line[4:]}".rstrip() for line in self.prose(text, 4)]

    def body(self, output: Printout, keep: tuple[int, int] | None) -> list[str]:
        """Return an output behind a gutter: its first and last lines, and how much is between."""
        before, middle, after = output.cut(keep)
        return self.gutter([*before, *([self._cut(middle)] if middle else []), *after])

    def _cut(self, middle: str) -> str:
        return f"{self.glyphs.cut} {middle} {self.glyphs.cut}"
