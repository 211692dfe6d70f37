"""All sessions of one log into another: same ids, numbers, times, bases, large strings, gaps.

Above this module: the command line. Below it: the port. The logs may be of any two kinds.

What is there already is not copied again, so a copy that was cut off goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from eventlog.arguments import numbers_lost
from eventlog.errors import WrongExpectedVersion
from eventlog.event import SessionId, event_of
from eventlog.store import Log, LogReader, SessionRow
from eventlog.verbatim import append_verbatim, placed


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of one session: how many events are new, or why it could not be copied."""

    session_id: SessionId
    added: int
    problem: str = ""


async def copy_log(source: LogReader, target: Log) -> AsyncGenerator[Copied, None]:
    """Copy every session, the one of the oldest newest event first; yield what became of each.

    Raises:
        LogUnavailable: one of the logs cannot be used any more.

    """
    for row in reversed(await source.sessions(every=True)):
        try:
            yield Copied(row.id, await _copy(source, target, row))
        except _Other as problem:
            yield Copied(row.id, 0, str(problem))
        except WrongExpectedVersion:
            yield Copied(row.id, 0, "something else writes it")


class _Other(Exception):
    """The other log has something else under that id."""


async def _copy(source: LogReader, target: Log, row: SessionRow) -> int:
    head = (await target.read(row.id, limit=0)).head
    if head and not await _is_same(source, target, row, head):
        raise _Other("there is another session of that id")
    cursor: int = head
    if row.floor > head:
        if head or (base := await source.base(row.id)) is None:
            raise _Other(f"events up to {row.floor} have been pruned")
        await target.begin(row.id, base, row)
        cursor = row.floor
    while (page := await source.read(row.id, after=cursor, limit_bytes=1 << 20)).body:
        cursor = await append_verbatim(target, row.id, placed(page.lines, cursor))
    return cursor - head


async def _is_same(source: LogReader, target: Log, row: SessionRow, head: int) -> bool:
    """Whether the other log's last event stands in this one's session, too."""
    if head > row.head:
        return False
    theirs = await target.read(row.id, after=head - 1, limit=1)
    # of a gap, damage that is not recorded yet says only what follows the place that was asked for
    lost = numbers_lost(event_of(theirs.body)[1]) if theirs.body else None
    before = lost.first - 1 if lost and lost.last == head else head - 1
    ours = await source.read(row.id, after=before, limit=1)
    if not theirs.body or not ours.continues(before):
        return await target.base(row.id) == await source.base(row.id)
    return ours.body == theirs.body
