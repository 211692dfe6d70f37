"""What the suite is given, and the few words that its promises share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from eventlog.event import Event, Seq, SessionId, Span
from eventlog.store import EventSource, Log

Open = Callable[[], AbstractAsyncContextManager[Log]]
"""Opens one and the same log each time; closing and opening it is a restart."""

Promise = Callable[[Open], Awaitable[None]]
"""Fails with an AssertionError if the log does not keep it."""

E = TypeVar("E", bound=Exception)

SESSION: Final = SessionId("session-1")
OTHER: Final = SessionId("session-2")


def span(first: int, last: int) -> Span:
    """Return the span from *first* to *last*."""
    return Span(Seq(first), Seq(last))


def said(*texts: str) -> list[Event]:
    """Return one event a text."""
    return [Event.of("message.delta", {"text": text}) for text in texts]


def counted(number: int) -> list[Event]:
    """Return *number* different events."""
    return said(*map(str, range(number)))


async def lines(source: EventSource, session_id: SessionId = SESSION) -> list[bytes]:
    """Return the whole session, read page by page."""
    found: list[bytes] = []
    while True:
        page = await source.read(session_id, after=len(found), limit=100)
        if not page.body:
            return found
        found += page.lines


async def texts(source: EventSource, session_id: SessionId = SESSION) -> list[str]:
    """Return what was said in the session."""
    page = await source.read(session_id, limit=1_000_000)
    return [envelope["payload"]["text"] for envelope in page.envelopes()]


async def refusal(kind: type[E], awaited: Awaitable[object]) -> E:
    """Return the error of *kind* that *awaited* must raise."""
    try:
        await awaited
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")
