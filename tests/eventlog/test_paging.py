"""Pages are cut where lines end, by bytes alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Event, line
from eventlog.batch import Run
from eventlog.paging import cut, cut_page


@st.composite
def histories(draw: st.DrawFn) -> list[Run]:
    """Consecutive runs, some of which are a gap."""
    seq = draw(st.integers(1, 3))
    runs = []
    for size, gap in draw(st.lists(st.tuples(st.integers(1, 6), st.sampled_from("ooog")))):
        texts = draw(st.lists(st.integers(0, 40), min_size=size, max_size=size))
        lines = [line(seq + n, 1, Event.of("t", {"x": "y" * text})) for n, text in enumerate(texts)]
        last = seq + size - 1
        runs.append(
            Run(seq, last, lines[-1], "lost") if gap == "g" else Run(seq, last, b"\n".join(lines))
        )
        seq = last + 1
    return runs


def one_by_one(runs: list[Run], after: int, limit: int, room: int) -> tuple[int, bytes]:
    """Return the same page, line by line."""
    lines = []
    for run in runs:
        first = run.last if run.lost else run.first
        lines += [(first + n, text) for n, text in enumerate(run.text.split(b"\n"))]
    cursor, taken, size = after, list[bytes](), 0
    for seq, text in lines:
        size += (len(text) + 1) * (seq > after)
        if seq > after and (len(taken) == limit or (taken and size > room)):
            break
        if seq > after:
            taken.append(text)
            cursor = seq
    return cursor, b"\n".join(taken)


@settings(max_examples=300, deadline=None)
@given(histories(), st.integers(0, 40), st.integers(0, 12), st.integers(1, 600))
def test_a_page_is_what_fits(runs: list[Run], after: int, limit: int, room: int) -> None:
    """P-15: at most *limit* lines and *room* bytes with their line breaks, and at least one line;
    what is left of a run is what the next page begins with.
    """
    after = max(after, runs[0].first - 1 if runs else 0)  # what comes before is a gap, too
    cursor, body, rest = cut(runs, after, limit, room)
    assert (cursor, body) == one_by_one(runs, after, limit, room)
    if rest is not None:
        assert rest.first == cursor + 1
        behind = [run for run in runs if run.first > rest.last]
        assert cut_page([rest, *behind], cursor, 99, 9_999) == cut_page(runs, cursor, 99, 9_999)
