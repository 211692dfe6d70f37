"""Numbers, times and sizes in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.render.figures import clock, counted, grouped, offset, seconds, stamp


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (0, "0.0s"),
        (-5, "0.0s"),
        (44_800_000, "44.8s"),
        (59_960_000, "1m 00s"),
        (125_900_000, "2m 05s"),
        (3_605_000_000, "1h 00m 05s"),
    ],
)
def test_durations(micros: int, shown: str) -> None:
    """Short ones in tenths of a second; F "clock goes back": negative ones are 0."""
    assert seconds(micros) == shown


def test_counts() -> None:
    """Thousands are parted by spaces, one thing has no plural."""
    assert grouped(1_234_567) == "1 234 567"
    assert counted(1, "line") == "1 line"
    assert counted(3000, "byte") == "3 000 bytes"
    assert counted(2, "entry", "entries") == "2 entries"


@given(st.integers(0, 13_569_465_600_000_000))
def test_dates_are_utc(micros: int) -> None:
    """Every date agrees with the standard library's calendar."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)

    assert stamp(micros) == f"{moment:%Y-%m-%d %H:%M:%S}Z"
    assert clock(micros) == f"{moment:%H:%M:%S}"


def test_offsets_count_from_the_start() -> None:
    """`--time offset`."""
    assert offset(3_400_000, 1_000_000) == "+2.4s"
