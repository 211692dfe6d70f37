"""Untrusted text made safe to show (R132)."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.render.clean import clean, clean_line


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[1;31mErr\x1b[0m", "Err"),
        ("\x9b1;31mErr\x9b0m", "Err"),
        ("a\x1b[38;2;218;165;32mb\x1b[0mc", "abc"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bP1;2|data\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1bc", "text"),
        ("text\x1b", "text"),
        ("text\x1b[3", "text"),
        ("text\x1b[3\nnext", "text\nnext"),
        ("one\x1b]0;never ended\ntwo", "one\ntwo"),
        ("\x1b\x1b[31m[31m", "[31m"),
    ],
)
def test_escape_sequences_go_and_text_stays(raw: str, shown: str) -> None:
    """R132: colours, titles, device strings, finished or cut off, in 7 and in 8 bits."""
    assert clean(raw) == shown


def test_an_escape_split_over_chunks_goes_too() -> None:
    """R132: the fold joins the chunks, so that the whole sequence is seen."""
    assert clean("\x1b[3" + "1mErr") == "Err"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (
            "\x1b]8;;https://a.example/x\x1b\\the page\x1b]8;;\x1b\\.",
            "the page (https://a.example/x).",
        ),
        (
            "\x1b]8;id=1;https://a.example\x07\x1b[4mpage\x1b[0m\x1b]8;;\x07",
            "page (https://a.example)",
        ),
        ("\x1b]8;;https://a.example\x07https://a.example\x1b]8;;\x07", "https://a.example"),
        ("\x1b]8;;https://a.example\x07open to the end", "open to the end (https://a.example)"),
        ("\x1b]8;;https://a.example\x07\x1b]8;;\x07", "(https://a.example)"),
    ],
)
def test_a_link_keeps_its_address(raw: str, shown: str) -> None:
    """R132: OSC 8 becomes `text (url)`."""
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("10%\r50%\r100%", "100%"),
        ("10%\r100%\r\ndone", "100%\ndone"),
        ("100%\r", "100%"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("N\bNA\bA", "NA"),
        ("_\bx", "x"),
        ("a\n\b\bb", "a\nb"),
    ],
)
def test_carriage_returns_and_backspaces_are_applied(raw: str, shown: str) -> None:
    """F: "ANSI, CR progress, BS": the text after the last return, and what was not rubbed out."""
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("evil\u202etxt.exe", "evil<U+202E>txt.exe"),
        ("a\x07b", "a<U+0007>b"),
        ("a\x85b", "a<U+0085>b"),
        ("a\x00b", "a<U+0000>b"),
        ("a\u2028b", "a<U+2028>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("hidden\U000e0041", "hidden<U+E0041>"),
        ("half \ud83d", "half \ufffd"),
        ("quote\x9d in cp1252, no sequence", "quote<U+009D> in cp1252, no sequence"),
    ],
)
def test_what_cannot_be_seen_is_named(raw: str, shown: str) -> None:
    """F: bidi marks, C1 and the like are shown as `<U+202E>`; a lone surrogate as U+FFFD."""
    assert clean(raw) == shown


@pytest.mark.parametrize(
    "text", ["👩‍👩‍👧‍👦", "🇯🇵", "❤️", "e\u0301", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "承知しました", "a\tb\nc"]
)
def test_what_belongs_to_writing_stays(text: str) -> None:
    """R126: joiners, variation selectors, flags and marks are text."""
    assert clean(text) == text


def test_a_line_has_no_breaks() -> None:
    """A title with line breaks cannot start a line of its own in column 0."""
    assert clean_line("one\n  ! error\ttwo\r\nthree ") == "one ! error two three"


_NASTY = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x9d\x90\x07\\[]8;m\r\n\b\t\u202e\x00\x85\x7f\x9c(B?1PX^_~ "),
        st.characters(),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(_NASTY)
def test_no_control_character_comes_out(text: str) -> None:
    """R132: whatever goes in, only line feeds and tabs of the control characters come out."""
    shown = clean(text)

    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]", shown)
    assert all(unicodedata.category(c) not in {"Cc", "Cs"} for c in shown if c not in "\n\t")
    assert "\n" not in clean_line(text)


@settings(max_examples=200, deadline=None)
@given(_NASTY)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """What is clean stays as it is."""
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    "unit", ["\x9d", "\x1b]", "\r", " ", "\b", "\x1b[", "\x1b]8;;a\x07", "\u202e"]
)
@pytest.mark.timeout(10)
def test_hostile_text_costs_time_in_proportion(unit: str) -> None:
    """A megabyte of introducers without an end is cleaned at once, not in a time squared."""
    text = unit * (1_000_000 // len(unit)) + "\nx"

    assert clean(text).endswith("\nx")
    assert clean_line(text).endswith("x")
