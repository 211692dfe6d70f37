"""Catch up, then follow: one loop, because the live path is a read.

A wake-up carries no data, so it may be lost, repeated or early and nothing goes missing, twice
or out of order (design §1, rule 3).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from eventlog.errors import HistoryTruncated
from eventlog.event import START, Seq, SessionId
from eventlog.page import Page
from eventlog.store import EventSource


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """Everything that was recorded when the reader came has been delivered (P-19)."""

    seq: Seq


async def _unheard(floor: Seq) -> None:
    """Hear that what came up to *floor* was removed: what has been delivered stays so."""


async def subscribe(
    source: EventSource,
    session_id: SessionId,
    *,
    after: int = START,
    limit: int = 512,
    limit_bytes: int | None = 65_536,
    by_reference: bool = False,
    removed: Callable[[Seq], Awaitable[None]] = _unheard,
) -> AsyncGenerator[Page | CaughtUp, None]:
    """Yield every page that follows *after*, for ever, with one `CaughtUp` where history ends.

    *removed* hears when events have been removed meanwhile, and up to which.

    Raises:
        HistoryTruncated: the log no longer holds an unbroken run from *after*.

    """
    cursor = Seq(after)
    caught_up = False
    floor: Seq | None = None
    while True:
        page = await source.read(
            session_id,
            after=cursor,
            limit=limit,
            limit_bytes=limit_bytes,
            by_reference=by_reference,
        )
        if floor is not None and page.floor > floor:
            await removed(page.floor)
        floor = page.floor
        if not page.continues(cursor):
            raise HistoryTruncated(session_id, cursor, page.floor, page.head)
        if page.body:
            yield page
            cursor = page.next
        if not caught_up and cursor == page.head:
            caught_up = True
            yield CaughtUp(cursor)
        elif cursor == page.head or not page.body:
            await source.wait(session_id, after=cursor)
