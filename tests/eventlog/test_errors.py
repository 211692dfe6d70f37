"""Each error says its situation in one line, with the numbers that it carries."""

from __future__ import annotations

import pytest

import eventlog
from eventlog import (
    BadCassette,
    EventLogError,
    Fenced,
    ForeignDatabase,
    HistoryTruncated,
    LogBusy,
    LogUnavailable,
    NewerSchema,
    WrongExpectedVersion,
)

ERRORS = [
    (WrongExpectedVersion("s", 3, 5), "s: expected version 3, found 5"),
    (HistoryTruncated("s", 1, 4, 9), "s: no unbroken history after 1 (kept: 5..9)"),
    (Fenced("s", "gateway b"), "s is written by another process now by gateway b"),
    (LogBusy("/log", "pid 7"), "/log is being written by another process (pid 7)"),
    (LogUnavailable("/log", "it is full"), "/log: it is full"),
    (ForeignDatabase("/log", "a picture"), "/log is not an event log: a picture"),
    (NewerSchema("/log", 9, 1), "/log has schema 9, this program knows up to 1"),
    (BadCassette("f", 3, "blank"), "f, line 3: blank"),
]


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_quotes_its_numbers(error: EventLogError, text: str) -> None:
    """One line, made of the fields that a caller can also read."""
    assert str(error) == text


def test_there_are_at_most_ten() -> None:
    """One root and at most ten classes beside it: a class for each situation that a caller can act on, all exported."""
    found = [
        value
        for value in vars(eventlog).values()
        if isinstance(value, type) and issubclass(value, EventLogError)
    ]
    assert len(found) - 1 <= 10
    assert EventLogError in found
