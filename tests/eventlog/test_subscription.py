"""The loop of catching up and following, on a log that does what it may: wake for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import anyio
import pytest

from eventlog import (
    CaughtUp,
    Event,
    HistoryTruncated,
    MemoryStore,
    Page,
    Seq,
    SessionId,
    Span,
    seq_of,
    subscribe,
)

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")


class Sly(MemoryStore):
    """Appends at the worst moments: just after a read found nothing more, and inside waits."""

    def __init__(self, appends: int) -> None:
        super().__init__()
        self.left = appends

    async def sneak(self) -> None:
        if self.left:
            self.left -= 1
            await self.append(SESSION, [Event.of("late")])

    async def read(
        self,
        session_id: SessionId,
        *,
        after: int = 0,
        limit: int = 512,
        limit_bytes: int | None = None,
        by_reference: bool = False,
    ) -> Page:
        page = await super().read(
            session_id,
            after=after,
            limit=limit,
            limit_bytes=limit_bytes,
            by_reference=by_reference,
        )
        if after == page.head:
            await self.sneak()
        return page

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        await self.sneak()
        if self.left % 2:
            return  # for nothing, perhaps
        await super().wait(session_id, after=after)


@pytest.mark.parametrize("appends", range(1, 7))
async def test_what_is_appended_between_read_and_wait_arrives(appends: int) -> None:
    """An append after the reader has looked and before it waits is not missed."""
    log = Sly(appends)
    seen: list[int] = []
    with anyio.fail_after(5):
        async with aclosing(subscribe(log, SESSION)) as items:
            async for item in items:
                if isinstance(item, Page):
                    seen += [seq_of(text) for text in item.lines]
                if len(seen) == appends:
                    break

    assert seen == list(range(1, appends + 1))


async def test_everything_before_the_mark_was_there_before() -> None:
    """The mark comes when the cursor first meets the head, and only then."""
    log = MemoryStore()
    await log.append(SESSION, [Event.of("x")] * 5)
    seen: list[Sequence[int] | CaughtUp] = []
    async with aclosing(subscribe(log, SESSION, after=1, limit=3)) as items:
        async for item in items:
            seen.append([seq_of(t) for t in item.lines] if isinstance(item, Page) else item)
            if isinstance(item, CaughtUp):
                assert await log.append(SESSION, [Event.of("y")]) == Span(Seq(6), Seq(6))
            if len(seen) == 4:
                break

    assert seen == [[2, 3, 4], [5], CaughtUp(Seq(5)), [6]]


async def test_pages_are_limited_in_bytes() -> None:
    """A long history comes in pages of about 64 KiB, so that it holds up nobody."""
    log = MemoryStore()
    await log.append(SESSION, [Event.of("x", {"text": "a" * 10_000})] * 20)
    async with aclosing(subscribe(log, SESSION)) as items:
        page = await anext(items)

    assert isinstance(page, Page)
    assert len(page.body) < 65_536
    assert len(page.lines) == 6


async def test_a_pruned_history_is_not_passed_over() -> None:
    """A reader whose next event was pruned is told the floor, not given what is left."""

    class Pruned(MemoryStore):
        async def read(
            self,
            session_id: SessionId,
            *,
            after: int = 0,
            limit: int = 512,
            limit_bytes: int | None = None,
            by_reference: bool = False,
        ) -> Page:
            page = await super().read(
                session_id,
                after=after,
                limit=limit,
                limit_bytes=limit_bytes,
                by_reference=by_reference,
            )
            return replace(page, floor=Seq(5))

    log = Pruned()
    await log.append(SESSION, [Event.of("x")] * 9)
    async with aclosing(subscribe(log, SESSION, after=3)) as items:
        with pytest.raises(HistoryTruncated) as error:
            await anext(items)

    assert (error.value.after, error.value.floor, error.value.head) == (3, 5, 9)
