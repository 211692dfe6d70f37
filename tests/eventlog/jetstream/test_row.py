"""What the list of sessions shows travels with the batches, however large it is."""

from __future__ import annotations

import pytest

from eventlog import Event, SessionId
from eventlog.jetstream import JetStreamReader, JetStreamStore
from eventlog.jetstream.row import LONGEST, Left, Row

SESSION = SessionId("s")


@pytest.mark.parametrize(
    "row",
    [
        Row(),
        Row(created=5).named("t\u00e9\ud83d\n", {"cwd": "/x", "big": 2**70}),
        Row(created=5, floor=3, base=Left(3, 1, 7, 2)).named(None, {}),
    ],
)
def test_a_row_is_a_header_and_back(row: Row) -> None:
    """One line of ASCII holds it all."""
    header = row.header()

    assert header.isascii()
    assert header.isprintable()
    assert Row.of(header) == row


def test_what_is_too_large_is_stored_apart() -> None:
    """The header stays small, and names the content by its hash."""
    row = Row(created=5).named("t" * 5_000, {"tools": ["x" * 100] * 50})

    assert len(row.header()) < LONGEST
    assert Row.of(row.header()).title is None
    assert Row.of(row.header()).with_details(row.details()) == row


@pytest.mark.anyio
async def test_a_large_row_is_listed_whole(url: str) -> None:
    """A long title and opening are there, after a restart too, and what they replace is gone."""
    opened = {"tools": ["x" * 100] * 50, "title": "first"}
    async with JetStreamStore.open(url) as log:
        await log.append(SESSION, [Event.of("session.opened", opened)])
        await log.append(SESSION, [Event.of("session.title", {"title": "second" * 900})])
        for number in range(3):
            await log.append(SESSION, [Event.of("x", {"n": number})])
        kept = await log._parts.pieces.subjects(f"{log._subjects.under('row', SESSION)}.>")
        assert len(kept) == 1
    async with JetStreamReader.open(url) as reader:
        (row,) = await reader.sessions()
        assert (row.title, row.opened, row.head) == ("second" * 900, opened, 5)
        assert await reader.session(SESSION) == row
