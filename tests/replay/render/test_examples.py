"""The worked examples of the rendering rules, from events to text (render.md, examples A, B, D)."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from eventlog import parse
from replay import Transcript, fold
from replay.render import TextOptions, render_text

EXAMPLES = Path(__file__).parent / "examples"
NAMES = {"a": "s-7f3c2a", "b": "s-b81e04"}


def _rendered(name: str, options: TextOptions, *, until: int = 1000) -> str:
    lines = (EXAMPLES / f"{name}.jsonl").read_bytes().splitlines()
    events = takewhile(lambda event: event["seq"] <= until, map(parse, lines))
    return render_text(fold(Transcript(session=NAMES[name]), events), options)


@pytest.mark.parametrize("name", ["a", "b"])
def test_example(name: str) -> None:
    """Render, example A: a Hermes session; example B: an ACP session full of surprises.

    B counts 26 events, one more than render.md: no 25 give all that it shows.
    """
    expected = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8")

    assert _rendered(name, TextOptions()) == expected


def test_example_until_with_numbers_in_ascii() -> None:
    """Render, example D: `--until 15 --seq --ascii --width 72`."""
    expected = (EXAMPLES / "d.txt").read_text(encoding="utf-8")

    assert (
        _rendered("b", TextOptions(seq=True, ascii=True, width=72, until=True), until=15)
        == expected
    )
