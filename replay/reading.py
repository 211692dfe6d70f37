"""A part of a session of the log, folded page by page: memory is the transcript's, not the log's.

Above this module: `program`. Below it: `source`, `part`, kept states of the log.
"""

from __future__ import annotations

from contextlib import aclosing

from eventlog import LogReader, SessionId, log_location, open_reader, valid_session_id
from replay.opening import opening
from replay.part import Part, Taken, Taking, end_of_turn
from replay.source import lines_of, resolve
from replay.transcript import Transcript


async def take_log(name: str, part: Part, *, log: str | None = None) -> Taken:
    """Return the part that is wanted of the session of the log that *name* means.

    Raises:
        InvalidSessionId: it has not the form of an id; nothing was looked up.
        SessionNotFound, AmbiguousName: nothing, or too much, is called so.
        NoSuchPoint: the session has no such turn.
        EventLogError: the log cannot be opened or read.

    """
    id_ = valid_session_id(name)
    async with open_reader(log) as reader:
        session = await resolve(reader, id_, where=str(log_location(log)))
        until = None
        if part.until is not None and part.until.turn is not None:
            until = end_of_turn(await _whole(reader, session), part.until)
        return await _taken(reader, session, part, until)


async def _whole(reader: LogReader, session: SessionId) -> Transcript:
    return (await _taken(reader, session, Part(), None)).transcript


async def _taken(reader: LogReader, session: SessionId, part: Part, until: int | None) -> Taken:
    begin = await opening(reader, session, at=_latest(part, until))
    taking = Taking(session, part, until=until, begin=begin)
    async with aclosing(lines_of(reader, session, begin.seq)) as lines:
        async for text in lines:
            if not taking.add(text):
                break
    return taking.taken()


def _latest(part: Part, until: int | None) -> int | None:
    """Return the last number at which a kept state may stand for the events before it.

    Where the events themselves are wanted it may stand only for those that are pruned.
    """
    if part.lines or part.records or part.counted:
        return 0
    if part.until is None or until is not None:
        return until
    return part.until.seq if part.until.seq is not None else 0
