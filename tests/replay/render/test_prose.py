"""Prose wrapped at spaces (render.md, rule 5; R126)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

from replay.render.cells import graphemes
from replay.render.prose import wrapped


def test_words_are_wrapped_and_never_cut() -> None:
    """Render rule 5: breaks stand at spaces; a word longer than the line keeps its own."""
    text = "The flake comes from https://example.org/a/very/long/address/indeed and goes"

    assert wrapped(text, 20) == [
        "The flake comes from",
        "https://example.org/a/very/long/address/indeed",
        "and goes",
    ]


def test_list_items_hang() -> None:
    """Render rule 5: further lines of an item stand under its text."""
    text = "- two more real sleeps found\n  10. left them alone for now\n- [x] done with this one"

    assert wrapped(text, 20) == [
        "- two more real",
        "  sleeps found",
        "  10. left them",
        "      alone for now",
        "- [x] done with this",
        "      one",
    ]


def test_fences_and_tables_are_left_alone() -> None:
    """Render rule 5: what is laid out already is not wrapped, whatever its length."""
    text = (
        "````md\n```\nvery long line of code that passes the width\n```\n````\n"
        "| 列 | a table row that is long |\n┌─────────────────────────┐\n"
        "and prose that goes on"
    )

    assert wrapped(text, 12) == [
        "````md",
        "```",
        "very long line of code that passes the width",
        "```",
        "````",
        "| 列 | a table row that is long |",
        "┌─────────────────────────┐",
        "and prose",
        "that goes on",
    ]


def test_writing_without_spaces_breaks_between_characters() -> None:
    """R126: CJK text wraps instead of overflowing, and no line begins with a closing mark."""
    lines = wrapped("承知しました。「今すぐ」直します。", 10)

    assert "".join(lines) == "承知しました。「今すぐ」直します。"
    assert all(wcswidth(line) <= 10 for line in lines)
    assert not any(line.startswith(("。", "」")) or line.endswith("「") for line in lines)


def test_without_a_width_nothing_is_wrapped() -> None:
    """`--width 0`: lines are as long as they are; blanks at their ends still go."""
    assert wrapped("one line that is long  \n\n\ttwo", None) == [
        "one line that is long",
        "",
        "    two",
    ]


_WORDS = st.sampled_from(
    [
        "承知しました",
        "👩‍👩‍👧‍👦",
        "🇯🇵",
        "e\u0301te\u0301",
        "❤️",
        "שלום",
        "مرحبا",
        "word",
        "a",
        "x" * 12,
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_WORDS, min_size=1, max_size=30), st.sampled_from([" ", "  "]))
def test_no_line_is_too_wide_and_nothing_is_lost(words: list[str], space: str) -> None:
    """R126: every line fits, no grapheme is cut in two, and only spaces are dropped."""
    text = space.join(words)
    lines = wrapped(text, 40)

    assert all(wcswidth(line) <= 40 for line in lines)
    assert [c for line in lines for c in graphemes(line) if c != " "] == [
        c for c in graphemes(text) if c != " "
    ]


@pytest.mark.parametrize("word", ["a ", "承", "x" * 50, "- "])
@pytest.mark.timeout(10)
def test_long_texts_cost_time_in_proportion(word: str) -> None:
    """A line of a hundred thousand characters is wrapped at once."""
    assert len(wrapped(word * (100_000 // len(word)), 80)) >= 1
