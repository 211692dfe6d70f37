"""A transcript as plain text: the page from its head to its foot.

Above this module: `replay.cli`, `snapshots`, through the package root. Below it: one module a
kind of entry.

Pure: equal transcripts and options give equal text, on every machine. The rules are numbered in
render.md; UTF-8, LF, one newline at the end, no blanks at the ends of lines, no tabs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from replay.entries import AnyEntry, Unknown
from replay.render.colours import coloured
from replay.render.head import foot, head, turn_rule
from replay.render.kinds import passage_of_entry
from replay.render.layout import Layout, Passage
from replay.render.options import TextOptions
from replay.render.order import in_order
from replay.render.runs import Run, Shown, in_runs, run_passage, silence
from replay.render.scene import Scene
from replay.render.timeline import timeline_passage
from replay.transcript import Transcript, Turn


def render_text(transcript: Transcript, options: TextOptions = TextOptions()) -> str:  # noqa: B008 - frozen
    """Return *transcript* as text; nothing but the arguments has a say in it."""
    return "".join(_parts(transcript, options))


def render_texts(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    """Return several sessions as one text, each under its own head line; one as it is."""
    return "".join(text_parts(transcripts, options))


def text_parts(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    """Yield the same text piece by piece, an entry at a time."""
    session = Layout(options).glyphs.session
    for number, transcript in enumerate(transcripts, 1):
        if len(transcripts) > 1:
            above = "\n" if number > 1 else ""
            yield f"{above}{session} session {number} of {len(transcripts)}\n\n"
        yield from _parts(transcript, options)


def _parts(transcript: Transcript, options: TextOptions) -> Iterator[str]:
    scene = Scene.of(transcript, options)
    before: Passage | None = None
    for passage in passages_of(scene):
        lines = set_off(passage, before)
        if options.color:
            lines = [coloured(line, passage, scene.layout.glyphs) for line in lines]
        yield "".join(f"{line}\n" for line in lines)
        before = passage


def passages_of(scene: Scene) -> Iterator[Passage]:
    """Yield the page from its head to its foot, passage by passage."""
    empty = True
    for passage in _page(scene):
        if passage.lines:
            empty = False
            yield passage
    if empty:
        yield Passage([f"{scene.layout.glyphs.session} nothing recorded"])


def _page(scene: Scene) -> Iterator[Passage]:
    yield from head(scene)
    before: int | None = None
    for shown in in_runs(in_order(scene), scene):
        first, last = (shown[0], shown[-1]) if isinstance(shown, Sequence) else (shown, shown)
        yield replace(silence(before, first.t0, scene.layout), of=first)
        yield replace(passage_of(shown, scene), of=last)
        before = max(before or 0, first.t0 if isinstance(last, Turn) else last.t1)
    yield from foot(scene)


def passage_of(shown: Shown | Run, scene: Scene) -> Passage:
    """Return the lines of an entry, of a turn's rule, or of a run of tools."""
    if isinstance(shown, Turn):
        records = scene.layout.options.profile.records
        return Passage([]) if records else turn_rule(shown, scene)
    if isinstance(shown, Sequence):
        return run_passage(shown, scene)
    return _numbered(shown, scene)


def _numbered(entry: AnyEntry, scene: Scene) -> Passage:
    if scene.layout.options.profile.records and isinstance(entry, Unknown):
        return timeline_passage(entry, scene)
    passage = passage_of_entry(entry, scene)
    options = scene.layout.options
    if not (options.seq and options.profile.numbers and passage.lines):
        return passage
    span = f"#{entry.first}" + (f"-{entry.last}" if entry.last != entry.first else "")
    return replace(passage, lines=[f"{passage.lines[0]}  {span}", *passage.lines[1:]])


def spaced(passages: Sequence[Passage]) -> Iterator[Sequence[str]]:
    """Yield the lines of each passage, a blank one ahead where it is set off (rule 3)."""
    before: Passage | None = None
    for passage in passages:
        yield set_off(passage, before)
        before = passage


def set_off(passage: Passage, before: Passage | None) -> Sequence[str]:
    """Return its lines with a blank one ahead, but at the top and behind a tool of one line."""
    close = before is not None and before.tool and passage.tool and len(before.lines) == 1
    return passage.lines if before is None or close else ["", *passage.lines]
