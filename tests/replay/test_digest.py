"""One number for a transcript, and the canonical JSON behind it."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay import Transcript, canonical_json, digest, dump, load
from tests.replay.records import Log

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e15, 1e15) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def short() -> Transcript:
    log = Log("claude-agent-acp")
    log.says("half \ud83d", "m")
    log.call("t", rawInput={"n": 10**30, "x": 0.1})
    return log.folded()


def test_the_id_of_a_session_is_not_in_its_digest() -> None:
    """P-26: the session's own id and diagnostics are left out, all else counts."""
    transcript = short()

    assert digest(replace(transcript, session="another")) == digest(transcript)
    assert digest(replace(transcript, title="another")) != digest(transcript)
    assert digest(load(dump(transcript))) == digest(transcript)


def test_a_digest_is_the_same_for_ever() -> None:
    """P-26: every client computes this number; a change of it is a new fold version."""
    log = Log()
    log.says("Hello \ud83d 🚀")

    expected = "1e06abf4ec6a1122eb9591b0dd0dcb182c4718f5748528af2b281a0d2eab6474"
    assert digest(log.folded()) == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)
def test_numbers_are_written_as_ecmascript_writes_them(number: str, text: str) -> None:
    """P-26: the samples of RFC 8785, appendix B."""
    (value,) = struct.unpack(">d", bytes.fromhex(number))

    assert canonical_json(value) == text.encode()


@given(FLOATS)
def test_every_number_comes_back(number: float) -> None:
    """P-26: ECMAScript's form is the shortest that reads as the same number."""
    text = canonical_json(number).decode()

    assert float(text) == number
    assert len(text.lstrip("-").split("e")[0].replace(".", "").strip("0")) <= 17


def test_members_are_in_the_order_of_their_utf16_units() -> None:
    """P-26: the sample of RFC 8785, section 3.2.3: a rocket stands before U+FB33."""
    value = {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7}

    keys = list(json.loads(canonical_json(value)))
    assert keys == ["\r", "1", "\x80", "ö", "€", "😀", "\ufb33"]


def test_strings_are_escaped_as_little_as_json_allows() -> None:
    """P-26: short escapes, lower-case hex, no escape for what needs none; lone halves escaped."""
    text = '\u20ac$\x0f\nA\'B"\\\\"/\x7f\u2028 🚀 \ud83d'

    assert canonical_json(text) == (
        b'"' + "€$".encode() + rb"\u000f\nA'B\"\\\\\"/" + "\x7f\u2028 🚀 ".encode() + rb'\ud83d"'
    )


def test_integers_of_any_size_are_their_digits() -> None:
    """P-26: RFC 8785 would make doubles of them; here no digit is lost."""
    assert canonical_json([10**40, -1, True]) == b"[1" + b"0" * 40 + b",-1,true]"


@given(VALUES)
def test_canonical_json_says_the_same(value: Any) -> None:
    """P-26: it reads as the value, has no spaces, and its own canonical form is itself."""
    text = canonical_json(value)

    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_members_does_not_matter(value: dict[str, int]) -> None:
    """P-26: the same members in any order are the same text."""
    backwards = dict(reversed(value.items()))

    assert canonical_json(backwards) == canonical_json(value)
