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
from typing import Final

from replay.entries import Agent, AnyEntry, Thought
from replay.render.clean import clean_line
from replay.render.colours import coloured
from replay.render.glyphs import Glyphs
from replay.render.layout import Passage
from replay.render.options import TextOptions
from replay.render.scene import Scene
from replay.render.text import passages_of, spaced
from replay.transcript import Transcript, Turn

IDLE: Final = 2.0
"""Seconds that nothing happens at most, unless told otherwise."""

_WIDTH: Final = 100
_SLACK: Final = 20
"""Facts may pass the width by so many cells (render.md, rule 4)."""
_ROWS: Final = 32
_DATED: Final = 86_400 * 365 * 1_000_000
"""Times before 1971 count from the start of a capture: they have no date."""


def render_asciicast(
    transcripts: Sequence[Transcript], options: TextOptions, *, idle: float = IDLE
) -> str:
    """Return sessions, one after the other, as an asciicast; *idle* is in seconds."""
    page = replace(options, width=options.width or _WIDTH)
    head: dict[str, object] = {"version": 3, "term": {"cols": page.width + _SLACK, "rows": _ROWS}}
    first = transcripts[0] if transcripts else Transcript()
    if first.t0 >= _DATED and options.profile.times:
        head["timestamp"] = first.t0 // 1_000_000
    head["idle_time_limit"] = idle
    if title := clean_line(first.title or first.session):
        head["title"] = title
    lines: list[object] = [head]
    for transcript in transcripts:
        lines += _events(Scene.of(transcript, page), idle)
    lines.append([0, "x", "0"])
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Shot:
    """What happens at a moment (µs since the session began): a line of text, or a marker."""

    moment: int
    code: str
    text: str


def _events(scene: Scene, idle: float) -> Iterator[list[object]]:
    now = 0
    for shot in _shots(scene):
        moment = max(now, shot.moment)
        yield [min(round((moment - now) / 1_000_000, 6), idle), shot.code, shot.text]
        now = moment


def _shots(scene: Scene) -> Iterator[_Shot]:
    passages = passages_of(scene)
    starts = [_start(passage, scene) for passage in passages]
    for passage, lines, begin, following in zip(
        passages, spaced(passages), starts, [*starts[1:], None], strict=True
    ):
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
