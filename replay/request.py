"""What was asked for on the command line, and what that means for reading and rendering.

Above this module: `cli`, `program`. Below it: `part`, `selection`, the renderer's options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from replay.errors import WrongName
from replay.part import Part
from replay.points import point_of
from replay.render.options import FULL, IDLE, PROFILES, Clock, Profile, TextOptions, Thoughts
from replay.selection import Selection, kinds_of
from replay.terminal import Color, cells, paints

_SHORT: Final = "8+4"
_DIFF: Final = (14, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for; every member is an option of the command line, as it was given."""

    name: str
    pick: str | None = None
    log: str | None = None
    format: str | None = None
    output: Path | None = None
    force: bool = False
    redact: bool | None = None
    """None leaves it to the format."""
    sanitize: bool = False
    until: str | None = None
    begin: str | None = None
    turn: int | None = None
    last: int | None = None
    only: str | None = None
    hide: str | None = None
    tool: str | None = None
    status: str | None = None
    all: bool = False
    profile: str = "default"
    verbose: bool = False
    thoughts: Thoughts = "show"
    lines: str | None = None
    """None is 8+4 in text, and all in what folds outputs away."""
    full: bool = False
    width: int | None = 80
    """None takes the terminal's."""
    ascii: bool = False
    color: Color = "auto"
    seq: bool = False
    time: Clock = "utc"
    silence: float | None = None
    idle: float = IDLE
    speed: float = 1.0
    pager: bool = True
    digest: bool = False
    grep: str | None = None
    stats: bool = False
    check: Path | None = None
    diff: str | None = None
    json: bool = False
    follow: bool = False
    wait: bool = False
    step: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `WrongName` if two things were asked for of which only one could be done."""
        asked = {
            "--digest": self.digest,
            "--grep": self.grep is not None,
            "--stats": self.stats,
            "--diff": self.diff is not None,
            "--check": self.check is not None,
            "--follow": self.follow,
            "--step": self.step,
        }
        if len(several := [name for name, wanted in asked.items() if wanted]) > 1:
            raise WrongName(" and ".join(several), "cannot be had at once")
        if self.sanitize and (self.digest or self.follow or self.step or self.format == "jsonl"):
            raise WrongName("--sanitize", "goes with a rendering, --grep, --stats or --diff")
        if self.wait and not self.follow:
            raise WrongName("--wait", "goes with --follow")
        if self.json and not (self.stats or self.grep is not None or self.diff is not None):
            raise WrongName("--json", "goes with --grep, --stats or --diff; -f json is a format")
        if self.format == "jsonl" and self.selection().by_entry:
            raise WrongName("-f jsonl", "is the log's own lines: points and turns cut it, no kinds")

    @property
    def named_output(self) -> Path | None:
        """The file whose suffix tells the format: that which is written, or compared with."""
        return self.check if self.check is not None and self.output is None else self.output

    @property
    def shown(self) -> Profile:
        """The profile that was asked for."""
        return FULL if self.verbose else PROFILES[self.profile]

    def part(self, *, lines: bool = False) -> Part:
        """Return which part of a session is wanted.

        Raises:
            NoSuchPoint, WrongName: what names it is no point, or no kind.

        """
        return Part(
            until=None if self.until is None else point_of(self.until),
            wanted=self.selection(),
            counted=self.all or self.shown.whole,
            records=self.shown.records,
            lines=lines,
        )

    def selection(self) -> Selection:
        """Return which entries are wanted."""
        if self.last is not None and self.last < 1:
            raise WrongName(f"--last {self.last}", "is no number of turns")
        return Selection(
            begin=None if self.begin is None else point_of(self.begin),
            turn=self.turn,
            last=self.last,
            only=None if self.only is None else kinds_of(self.only),
            hide=frozenset() if self.hide is None else kinds_of(self.hide),
            tool=self.tool,
            status=self.status,
        )

    def options(self) -> TextOptions:
        """Return how it is to be rendered: the terminal has a say only where it was asked."""
        limit = lines_of(self.lines or _SHORT)
        usual = self.lines in {None, _SHORT}
        return TextOptions(
            profile=self.shown,
            width=cells() if self.width is None else self.width,
            ascii=self.ascii,
            color=self.output is None and paints(self.color),
            seq=self.seq,
            time=self.time,
            silence=self.silence,
            thoughts=self.thoughts,
            lines=None if self.full else limit,
            diff_lines=None if self.full else (_DIFF if usual else limit),
            folded_lines=None if self.full or self.lines is None else limit,
            idle=self.idle,
            speed=self.speed,
        )

    def plain_options(self) -> TextOptions:
        """Return the same for text that is compared: without colour."""
        return replace(self.options(), color=False)


def lines_of(text: str) -> tuple[int, int]:
    """Return how many lines of the beginning and end `8+4` means.

    Raises:
        WrongName: it means none.

    """
    head, plus, tail = text.partition("+")
    if not _is_number(head) or (plus and not _is_number(tail)):
        raise WrongName(text, "is no number of lines; --lines 8+4 shows eight and the last four")
    return int(head), int(tail or 0)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
