"""A session as an asciicast, version 3: the text, shown line by line as it came to be.

Above this module: `replay.program`, through the package root. Below it: `text`.

What is printed is the text of `render_text`, no more and no less, with colours of ours; no other
escape sequence is in it (R170). A prompt appears when it was sent; words appear over the time
they took; a tool, a question, a plan when it was done, or when the next entry began. Time goes
forward only, whatever the clock did, and no pause is longer than the idle limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final

from replay.entries import Agent, AnyEntry, Thought
from replay.render.clean import clean_line
from replay.render.colours import coloured
from replay.render.glyphs import Glyphs
from replay.render.layout import Passage
from replay.render.options import TextOptions
from replay.render.scene import Scene
from replay.render.text import passages_of, set_off
from replay.transcript import Transcript, Turn

_WIDTH: Final = 100
_SLACK: Final = 20
"""Facts may pass the width by so many cells (render.md, rule 4)."""
_ROWS: Final = 32
_DATED: Final = 86_400 * 365 * 1_000_000
"""Times before 1971 count from the start of a capture: they have no date."""


def render_asciicast(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    """Return sessions, one after the other, as an asciicast."""
    return "".join(asciicast_parts(transcripts, options))


def asciicast_parts(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    """Yield the same line by line."""
    page = replace(options, width=options.width or _WIDTH)
    head: dict[str, object] = {"version": 3, "term": {"cols": page.width + _SLACK, "rows": _ROWS}}
    first = transcripts[0] if transcripts else Transcript()
    if first.t0 >= _DATED and options.profile.times:
        head["timestamp"] = first.t0 // 1_000_000
    head["idle_time_limit"] = options.idle
    if title := clean_line(first.title or first.session):
        head["title"] = title
    yield _line(head)
    for transcript in transcripts:
        yield from map(_line, _events(Scene.of(transcript, page)))
    yield _line([0, "x", "0"])


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class _Shot:
    """What happens at a moment (µs since the session began): a line of text, or a marker."""

    moment: int
    code: str
    text: str


def _events(scene: Scene) -> Iterator[list[object]]:
    options = scene.layout.options
    now = 0
    for shot in _shots(scene):
        moment = max(now, shot.moment)
        passed = round((moment - now) / 1_000_000 / options.speed, 6)
        yield [min(passed, options.idle), shot.code, shot.text]
        now = moment


def _shots(scene: Scene) -> Iterator[_Shot]:
    before: Passage | None = None
    for passage, after in pairwise(chain(passages_of(scene), [None])):
        assert passage is not None  # noqa: S101 - only the last is
        begin = _start(passage, scene)
        following = None if after is None else _start(after, scene)
        lines, before = set_off(passage, before), passage
        if isinstance(passage.of, Turn):
            yield _Shot(begin, "m", f"turn {passage.of.n}")
        yield from _lines(passage, lines, _span(passage.of, begin, following), scene.layout.glyphs)


def _start(passage: Passage, scene: Scene) -> int:
    """Return when a passage began; head and foot stand outside of time."""
    return 0 if passage.of is None else max(0, passage.of.t0 - scene.transcript.t0)


def _span(shown: AnyEntry | Turn | None, begin: int, following: int | None) -> tuple[int, int]:
    """Return over which time a passage is printed."""
    if shown is None or isinstance(shown, Turn):
        return begin, begin
    end = begin + max(0, shown.t1 - shown.t0)
    if following is not None:
        end = max(begin, min(end, following))
    return (begin, end) if isinstance(shown, Agent | Thought) else (end, end)


def _lines(
    passage: Passage, lines: Sequence[str], span: tuple[int, int], glyphs: Glyphs
) -> Iterator[_Shot]:
    begin, end = span
    for number, line in enumerate(lines):
        moment = begin + (end - begin) * number // len(lines)
        yield _Shot(moment, "o", f"{coloured(line, passage, glyphs)}\r\n")
