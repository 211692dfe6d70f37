"""Cells: widths, and cuts that spare characters (R126)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.render.cells import clip, expand_tabs, graphemes, pieces, width

WHOLE = ["👩‍👩‍👧‍👦", "🇯🇵", "❤️", "e\u0301", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏽", "知", "각", "1️⃣", "क्षि"]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("abc", 3),
        ("承知しました", 12),
        ("👩‍👩‍👧‍👦", 2),
        ("🇯🇵", 2),
        ("e\u0301", 1),
        ("❤️", 2),
        ("│…−", 3),
    ],
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    """R126: East Asian width, and one width for what is one character to a reader."""
    assert width(text) == cells


@pytest.mark.parametrize("char", WHOLE)
def test_no_character_is_cut(char: str) -> None:
    """R126: at every width, the pieces hold whole characters and lose none."""
    text = f"a{char}b{char}{char}c"
    for cells in range(1, 10):
        cut = list(pieces(text, cells))

        assert "".join(cut) == text
        assert [c for piece in cut for c in graphemes(piece)] == list(graphemes(text))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*WHOLE, "a", " ", "Z"]), max_size=20), st.integers(2, 12))
def test_what_is_clipped_fits(chars: list[str], cells: int) -> None:
    """R126: a clipped text is never wider than asked, and says that it was clipped."""
    text = "".join(chars)
    short = clip(text, cells, "…")

    assert width(short) <= cells
    assert short == text or short.endswith("…")


def test_tabs_end_at_the_next_stop() -> None:
    """Render rule 1: no tabs come out; the stop counts cells, not code points."""
    assert expand_tabs("a\tb\t承\tc") == "a   b   承  c"
