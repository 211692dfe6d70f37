"""JSON in and out: what is kept, what is refused, and never anything in between."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Malformed, codec
from tests.eventlog.values import VALUES


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_back(value: Any) -> None:
    """Surrogates, integers of any size, any nesting of them: the same value, on one line (R150)."""
    text = codec.dumps(value)

    assert codec.loads(text) == value
    assert b"\n" not in text
    assert json.loads(text) == value  # by a parser that is not ours


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_types_of_numbers_survive(value: Any) -> None:
    """An integer stays an integer, a float a float: `1` and `1.0` and `true` are three things."""
    assert repr(codec.loads(codec.dumps(value))) == repr(value)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_a_blob_reference_cannot_be_forged(value: Any) -> None:
    """A value's own `$blob` keys are doubled and come back; none is left that is a reference."""
    escaped = codec.escape_blobs(value)

    assert codec.restore_blobs(escaped) == value
    assert b'"$blob":' not in codec.dumps(escaped)


@pytest.mark.parametrize("text", [b"1e400", b"-1e999", b"NaN", b"Infinity", b"[1,-Infinity]"])
def test_a_number_that_is_none_is_refused(text: bytes) -> None:
    """NaN, infinities and what no double holds are refused when read (R150)."""
    with pytest.raises(Malformed):
        codec.loads(text)


@pytest.mark.parametrize(
    "value", [math.nan, [math.inf], {"a": {"b": -math.inf}}, Decimal(1), {1: 2}, b"x", object()]
)
def test_a_value_that_is_not_json_is_refused(value: object) -> None:
    """What JSON has no word for is refused when written, at any depth, never made null (R150)."""
    with pytest.raises(Malformed):
        codec.dumps(value)


def test_a_null_is_no_nan() -> None:
    """A real null is written, beside anything."""
    assert codec.dumps({"a": None, "b": [None, 1.5]}) == b'{"a":null,"b":[null,1.5]}'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ude00\\ud83d"', "\ude00\ud83d"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b"9223372036854775808", 2**63),
        (b"-9223372036854775809", -(2**63) - 1),
        (b"1180591620717411303424", 2**70),
        (b"-0.0", -0.0),
        (b'"\\u0000\\u2028"', "\0\u2028"),
    ],
)
def test_hard_cases_are_kept(text: bytes, value: object) -> None:
    """Each hard case, spelled out."""
    assert codec.loads(text) == value
    assert codec.loads(codec.dumps(value)) == value


def test_text_with_surrogates_can_be_read() -> None:
    """A text frame that arrives as a string with a lone surrogate in it is read like bytes."""
    assert codec.loads('{"a":"\\ud83d"}') == {"a": "\ud83d"}
    with pytest.raises(Malformed):
        codec.loads('{"a":"\ud83d"}')


@pytest.mark.parametrize("depth", [1, 63, 64])
def test_nesting_up_to_the_limit_is_read(depth: int) -> None:
    """64 levels are read where 64 are allowed."""
    assert codec.loads(b"[" * depth + b"]" * depth, max_depth=64) is not None


@pytest.mark.parametrize("depth", [65, 1_000, 200_000])
@pytest.mark.parametrize("bracket", [(b"[", b"]"), (b'{"a":', b"}")])
def test_deeper_nesting_is_refused(depth: int, bracket: tuple[bytes, bytes]) -> None:
    """Deeper is refused, however deep, and never a crash."""
    start, end = bracket
    with pytest.raises(Malformed):
        codec.loads(start * depth + b"1" + end * depth, max_depth=64)


def test_brackets_in_strings_are_no_depth() -> None:
    """Only containers count, not what strings say."""
    assert codec.loads(b'["' + b"[" * 500 + b'"]', max_depth=1) == ["[" * 500]


@pytest.mark.parametrize(
    "text", [b"", b" ", b"{", b"{]", b'{"a":1,}', b"\xff", b'"\x80"', b"nul", b"1 2", b"'a'"]
)
def test_what_is_not_json_is_refused(text: bytes) -> None:
    """Everything else is refused with a reason."""
    with pytest.raises(Malformed) as refusal:
        codec.loads(text)
    assert str(refusal.value)


def test_an_integer_too_long_to_read_is_refused() -> None:
    """Python reads no integer of more than some thousand digits; the error is ours."""
    with pytest.raises(Malformed):
        codec.loads(b"1" * 100_000)


@given(st.binary(max_size=40))
@settings(max_examples=150, deadline=None)
def test_bytes_are_read_or_refused(text: bytes) -> None:
    """No bytes make anything but a value or a `Malformed`; what orjson reads, this reads alike."""
    try:
        value = codec.loads(text)
    except Malformed:
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(text)
    else:
        assert value == json.loads(text)
