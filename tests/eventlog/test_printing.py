"""What is printed cannot harm a terminal, and says the same everywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eventlog import codec, printable
from eventlog.printing import when


@given(st.text(st.characters(exclude_categories=())))
def test_printed_text_is_printable(text: str) -> None:
    """Controls, separators, bidirectional marks and halves of characters become escapes."""
    assert printable(text).isprintable()
    printable(text).encode()  # also nothing that has no bytes


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_printed_json_is_the_same_json(text: str) -> None:
    """The escapes are JSON's own, so that a payload stays readable by machines."""
    assert codec.loads(printable(codec.dumps(text).decode())) == text


def test_times_are_utc_to_the_microsecond() -> None:
    """And the bare number where no calendar reaches."""
    assert when(0) == "1970-01-01T00:00:00.000000Z"
    assert when(1_764_519_060_000_001) == "2025-11-30T16:11:00.000001Z"
    assert when(2**63 - 1) == str(2**63 - 1)
