"""Bytes in pieces, frames out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import FrameTooLong
from gateway.transports.lines import HEAD, LineBuffer

LIMIT = 8


def _read(text: bytes, size: int, limit: int = LIMIT) -> list[bytes | FrameTooLong]:
    buffer = LineBuffer(limit)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [*(line for piece in pieces for line in buffer.feed(piece)), *buffer.finish()]


def _shown(lines: list[bytes | FrameTooLong]) -> list[bytes | tuple[int, bytes]]:
    return [(line.size, line.head) if isinstance(line, FrameTooLong) else line for line in lines]


@given(st.text("ab \n\r", max_size=60), st.integers(1, 20))
def test_how_the_bytes_are_cut_does_not_matter(text: str, size: int) -> None:
    """The same lines come out, whatever pieces they came in."""
    raw = text.encode()
    assert _shown(_read(raw, size)) == _shown(_read(raw, max(1, len(raw))))


@given(st.lists(st.text("ab \r", max_size=12).map(str.encode), max_size=8), st.integers(1, 9))
def test_every_line_comes_out_once_and_in_its_place(lines: list[bytes], size: int) -> None:
    """Whole if it fits, named with its size if not, not at all if it is blank (R148)."""
    expected: list[bytes | int] = []
    for line in lines:
        bare = line.removesuffix(b"\r")
        if len(bare) > LIMIT:
            expected.append(len(line))
        elif bare.strip():
            expected.append(bare)
    found = _read(b"".join(line + b"\n" for line in lines), size)
    assert [line.size if isinstance(line, FrameTooLong) else line for line in found] == expected


def test_a_last_line_without_an_end_is_a_line() -> None:
    """What a process said last is heard, even if it was killed in the middle."""
    assert _read(b"one\ntwo", 3) == [b"one", b"two"]


def test_a_line_over_the_limit_is_not_kept() -> None:
    """Only how it began stays in memory, and the line behind it is whole (R148)."""
    buffer = LineBuffer(HEAD * 2)
    for _ in range(100):
        assert list(buffer.feed(b"x" * HEAD)) == []
    (long, short) = buffer.feed(b"\nshort\n")
    assert isinstance(long, FrameTooLong)
    assert (long.limit, long.size, long.head) == (HEAD * 2, HEAD * 100, b"x" * HEAD)
    assert short == b"short"


@pytest.mark.parametrize("line", [b"12345678", b"12345678\r"])
def test_the_limit_itself_is_allowed(line: bytes) -> None:
    """Exactly as many bytes as the limit pass; the line's end does not count."""
    assert _read(line + b"\n", 3) == [b"12345678"]
