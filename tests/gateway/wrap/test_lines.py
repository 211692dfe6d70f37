"""A stream cut into lines is the same stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.wrap.lines import HEAD, Lines, Piece

LIMIT = 8


def cut(pieces: list[bytes], limit: int = LIMIT) -> list[Piece]:
    lines = Lines(limit)
    return [*(item for piece in pieces for item in lines.feed(piece)), *lines.finish()]


@given(st.lists(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"bcdefgh"])).map(b"".join)))
def test_nothing_is_taken_away_and_frames_do_not_depend_on_how_bytes_arrive(
    pieces: list[bytes],
) -> None:
    """Joined again the pieces are the stream, blank lines and a last line without an end included;
    what is a frame, and what was too long to be one, is the same as if all had come at once."""
    found, whole = cut(pieces), cut([b"".join(pieces)])

    assert b"".join(item.raw for item in found) == b"".join(pieces)
    assert [item.frame for item in found if item.frame is not None] == [
        item.frame for item in whole if item.frame is not None
    ]
    assert [str(item.skipped) for item in found if item.skipped] == [
        str(item.skipped) for item in whole if item.skipped
    ]


def test_a_line_over_the_limit_flows_and_is_counted() -> None:
    """A line that is too long to be held passes on in pieces; its size and its beginning are
    known at its end (R148)."""
    found = cut([b"x" * 6, b"y" * 6, b"z" * 2000, b"\nnext\n"])

    assert [item.raw for item in found] == [b"x" * 6 + b"y" * 6, b"z" * 2000, b"\n", b"next\n"]
    skipped = found[2].skipped
    assert skipped
    assert (skipped.size, skipped.head) == (2013, b"x" * 6 + b"y" * 6)
    assert found[3].frame == b"next"
    assert len(skipped.head) <= HEAD
