"""A part of a session of the log, folded page by page: memory is the transcript's, not the log's.

Above this module: `program`. Below it: `source`, `part`, kept states of the log.
"""

from __future__ import annotations

from contextlib import aclosing, suppress

from eventlog import LogReader, SessionId, log_location, open_reader, valid_session_id
from replay.fold.older import Elsewhere
from replay.opening import opening, opening_end
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
    if (turns := _of_the_end(part)) and (end := await opening_end(reader, session, turns=turns)):
        with suppress(Elsewhere):  # a later event changes what came before: the whole is needed
            return await _advanced(
                reader, Taking(session, part, begin=end.transcript, older=end.older)
            )
    begin = await opening(reader, session, at=_latest(part, until))
    return await _advanced(reader, Taking(session, part, until=until, begin=begin))


async def _advanced(reader: LogReader, taking: Taking) -> Taken:
    async with aclosing(lines_of(reader, taking.session, taking.seq)) as lines:
        async for text in lines:
            if not taking.add(text):
                break
    return taking.taken()


def _of_the_end(part: Part) -> int:
    """Return how many turns, counted from the end, hold all that is wanted; 0 for the whole."""
    wanted = part.wanted
    if part.until is not None or part.lines or part.records or part.counted or wanted.begin:
        return 0
    if wanted.turn is not None:
        return max(0, -wanted.turn)
    return wanted.last or 0


def _latest(part: Part, until: int | None) -> int | None:
    """Return the last number at which a kept state may stand for the events before it.

    Where the events themselves are wanted it may stand only for those that are pruned.
    """
    if part.lines or part.records or part.counted:
        return 0
    if part.until is None or until is not None:
        return until
    return part.until.seq if part.until.seq is not None else 0
