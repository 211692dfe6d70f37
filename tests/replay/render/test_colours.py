"""Colours: only if asked for, and nothing but paint."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eventlog import parse, read_capture
from replay import Transcript, fold
from replay.entries import Agent, Tool
from replay.pieces import Excerpt, ToolContent
from replay.render import TextOptions, render_text
from tests.replay.render.hostile import HOSTILE, session

Make = Callable[..., Any]

_PAINT = re.compile(r"\x1b\[(?:0|1|2|3[0-9]|1;3[0-9])m")


@pytest.mark.parametrize("ascii_", [False, True])
def test_without_its_paint_the_text_is_the_same(captures: Path, ascii_: bool) -> None:  # noqa: FBT001
    """Render rule 1: colour changes no word, no width; R132: no other escape is let through."""
    plain = TextOptions(ascii=ascii_)
    shown = [fold(Transcript(), map(parse, one.lines)) for path in sorted(captures.glob("*/*.jsonl"))[::7]
             for one in read_capture(path.read_bytes())]  # fmt: skip
    for transcript in [*shown, session("".join(HOSTILE))]:
        painted = render_text(transcript, replace(plain, color=True))
        bare = _PAINT.sub("", painted)

        assert bare == render_text(transcript, plain)
        assert "\x1b" not in bare


def test_changes_have_the_colours_of_changes(make: Make) -> None:
    """Green and red stand in a diff, not in an output that happens to begin with a dash."""
    change = ToolContent(type="diff", path="a", old=Excerpt(text="1"), new=Excerpt(text="2"))
    edit = make(Tool, tool_id="a", name="edit", status="completed", content=(change,))
    said = ToolContent(type="content", text=Excerpt(text="- no change"))
    run = make(Tool, tool_id="b", name="run", status="failed", content=(said,))
    text = render_text(
        Transcript(entries=(edit, run, make(Agent, text="- x"))), TextOptions(color=True)
    )

    assert "\x1b[31m-1\x1b[0m" in text
    assert "\x1b[32m+2\x1b[0m" in text
    assert "\x1b[0m- no change" in text
    assert "\x1b[31m✗\x1b[0m run" in text
    assert "\n  - x\n" in text
