"""What every log promises about reading, and about what a restart leaves."""

from __future__ import annotations

from itertools import product

from eventlog.conformance.opening import (
    OTHER,
    SESSION,
    Open,
    Promise,
    counted,
    lines,
    said,
    span,
    texts,
)
from eventlog.event import Event, seq_of


async def a_reader_goes_on_where_it_stopped(open_log: Open) -> None:
    """A reader names the last event it has and gets the ones that follow, none of them twice."""
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        await log.append(SESSION, counted(2))
        for after in range(6):
            page = await log.read(SESSION, after=after)

            assert [seq_of(text) for text in page.lines] == list(range(after + 1, 6))
            assert (page.floor, page.head, page.next) == (0, 5, 5)


async def pages_of_any_size_add_up(open_log: Open) -> None:
    """Whatever the limits, pages read one after the other are the session, each event once.

    A page holds one event at least, however small its limit of bytes.
    """
    async with open_log() as log:
        for number in range(1, 8):
            await log.append(SESSION, said(*["x" * 20 * number] * number))
        whole = await lines(log)
        for limit, limit_bytes in product((1, 2, 3, 10, 500), (None, 1, 200, 400, 5_000)):
            found: list[bytes] = []
            while len(found) < len(whole):
                page = await log.read(
                    SESSION, after=len(found), limit=limit, limit_bytes=limit_bytes
                )
                assert 1 <= len(page.lines) <= limit
                assert limit_bytes is None or len(page.lines) == 1 or len(page.body) < limit_bytes
                found += page.lines
                assert page.next == len(found)
            assert found == whole


async def a_page_of_nothing_tells_the_head(open_log: Open) -> None:
    """With a limit of 0, or at the end, a page is empty and says how far the log goes."""
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        for after, limit in ((0, 0), (2, 0), (3, 10)):
            page = await log.read(SESSION, after=after, limit=limit)
            assert (page.body, page.next, page.head) == (b"", after, 3)
            assert page.continues(after)


async def an_unknown_session_is_empty(open_log: Open) -> None:
    """Reading a session that was never written finds nothing, and makes nothing."""
    async with open_log() as log:
        page = await log.read(SESSION)

        assert (page.floor, page.head, page.next, page.body) == (0, 0, 0, b"")
        assert await log.session(SESSION) is None
        assert await log.sessions() == []


async def a_cursor_from_the_future_does_not_continue(open_log: Open) -> None:
    """A cursor beyond the head belongs to another history, and the page says so."""
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        page = await log.read(SESSION, after=7)

        assert not page.continues(7)
        assert (page.body, page.next) == (b"", 7)


async def order_is_the_order_of_commit(open_log: Open) -> None:
    """Equal times and clocks that run backwards change no order (R016)."""
    async with open_log() as log:
        for number in range(30):
            await log.append(SESSION, said(str(number)), at=[1_000_000 - number // 3])

        assert await texts(log) == [str(number) for number in range(30)]


async def a_restart_changes_nothing(open_log: Open) -> None:
    """After a restart epoch, numbers and bytes are what they were, and numbering goes on (P-18).

    Ids are the same, too.
    """
    async with open_log() as log:
        await log.append(SESSION, counted(300))
        await log.append(OTHER, counted(1))
        epoch, before = log.epoch, await lines(log)
    async with open_log() as log:
        assert log.epoch == epoch
        assert await lines(log) == before
        assert (await log.read(SESSION)).epoch == epoch
        assert await log.append(SESSION, counted(1), expected=300) == span(301, 301)
        assert await log.append(OTHER, counted(1)) == span(2, 2)


async def a_huge_last_event_does_not_confuse_the_next_number(open_log: Open) -> None:
    """When the last event is 5 MB large, a restart still finds where the session ends (R014)."""
    huge = Event.of("x", {"text": "é" * 2_500_000})
    async with open_log() as log:
        await log.append(SESSION, [*counted(2), huge])
    async with open_log() as log:
        assert await log.append(SESSION, counted(1)) == span(4, 4)
        page = await log.read(SESSION, after=2, limit=1)
        assert huge.payload in page.body


PROMISES: tuple[Promise, ...] = (
    a_reader_goes_on_where_it_stopped,
    pages_of_any_size_add_up,
    a_page_of_nothing_tells_the_head,
    an_unknown_session_is_empty,
    a_cursor_from_the_future_does_not_continue,
    order_is_the_order_of_commit,
    a_restart_changes_nothing,
    a_huge_last_event_does_not_confuse_the_next_number,
)
