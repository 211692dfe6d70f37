"""Lines of one session appended to another as they stand there: same numbers, times, gaps.

Above this module: `copying`, `forking`, `cassette`. Below it: the port.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eventlog.arguments import numbers_lost
from eventlog.event import Event, SessionId, event_of, parse
from eventlog.store import Log


class Placed(NamedTuple):
    """An event, its time, and the numbers that it takes up: several if it says that they are lost."""

    first: int
    last: int
    ts: int
    event: Event

    @property
    def lost(self) -> bool:
        """Whether it stands in the place of others."""
        span = numbers_lost(self.event)
        return span == (self.first, self.last)


def placed(lines: Iterable[bytes], after: int) -> Iterator[Placed]:
    """Yield what *lines* hold, the first of which follows the event with the number *after*."""
    for text in lines:
        ts, event = event_of(text)
        due, last = after + 1, after + 1
        span = numbers_lost(event)
        if span and span.first == due and span.last == parse(text)["seq"]:
            last = span.last
        yield Placed(due, last, ts, event)
        after = last


async def append_verbatim(log: Log, session_id: SessionId, items: Iterable[Placed]) -> int:
    """Append *items* under their own numbers; return the last of them, 0 if there are none.

    What lies between two gaps is appended in one piece.

    Raises:
        WrongExpectedVersion: the session does not end where they begin, or has moved meanwhile.

    """
    run: list[Placed] = []
    last = 0
    for item in items:
        last = item.last
        if not item.lost:
            run.append(item)
            continue
        await _append(log, session_id, run)
        run = []
        await log.skip(session_id, item.event, at=item.ts)
    await _append(log, session_id, run)
    return last


async def _append(log: Log, session_id: SessionId, run: list[Placed]) -> None:
    if run:
        events, times = [item.event for item in run], [item.ts for item in run]
        await log.append(session_id, events, expected=run[0].first - 1, at=times)
