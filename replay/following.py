"""Following a session of the log: what there is, then what comes, with no seam between (R174).

Above this module: `program`. Below it: the log's reader, `feed`.

It goes by sequence numbers and never by places in a file, so pruning, another writer, or another
file in the place of the log loses nothing and shows nothing twice (R175).
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio

from eventlog import (
    Event,
    LogAddress,
    LogReader,
    Page,
    SessionId,
    line,
    log_location,
    open_reader,
    parse,
    valid_session_id,
)
from replay.errors import SessionNotFound, WrongName
from replay.exits import DONE
from replay.feed import Feed
from replay.fold import Fold
from replay.formats import LINES, format_name
from replay.opening import opening
from replay.request import Request
from replay.source import PRUNED, is_file_name, resolve
from replay.transcript import Transcript

DATABASE: Final = "events.db"
_LOOK: Final = 0.2
"""Seconds between two looks for a log, a session, or another file in the log's place."""

Out = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a follower stands: lines that are new, whether all that was there has been read."""

    session: SessionId
    lines: list[bytes]
    caught_up: bool = False
    begin: Transcript | None = None
    """What the fold begins with: at first, and where another log has taken this one's place."""


def follow(request: Request) -> int:
    """Show a session and go on as it does, until it is closed; return the exit code."""
    if is_file_name(request.name):
        raise WrongName(request.name, "is a file: only a session of the log can be followed")
    if format_name(request.format, request.output) not in {"text", LINES} or request.output:
        raise WrongName("--follow", "prints text, or lines with -f jsonl")
    return anyio.run(partial(followed, request, _print))


async def followed(request: Request, out: Out) -> int:
    """Follow what *request* names, and give *out* what is new of it."""
    lines = request.format == LINES
    found = moments_of(request.name, log=request.log, wait=request.wait, whole=lines)
    async with aclosing(found) as moments:
        if lines:
            return await _as_lines(moments, out)
        return await _as_text(moments, request, out)


async def _as_lines(moments: AsyncGenerator[Moment, None], out: Out) -> int:
    async for moment in moments:
        if moment.lines:
            out(b"".join(text + b"\n" for text in moment.lines))
        if any(parse(text)["type"] == "session.closed" for text in moment.lines[-1:]):
            return DONE
    return DONE


async def _as_text(moments: AsyncGenerator[Moment, None], request: Request, out: Out) -> int:
    options, wanted = request.options(), request.selection()
    folding, feed, live = Fold(), Feed(options, wanted), False
    async for moment in moments:
        if moment.begin is not None:
            folding, feed, live = Fold(moment.begin), Feed(options, wanted), False
        for text in moment.lines:
            folding.apply(parse(text))
        if not (live or moment.caught_up):
            continue
        transcript = folding.transcript()
        out((feed.more if live else feed.opening)(transcript).encode())
        live = True
        if transcript.status == "closed":
            out(feed.closing(transcript).encode())
            return DONE
    return DONE


# -- the log -------------------------------------------------------------------------------------


async def moments_of(
    name: str, *, log: str | None, wait: bool, whole: bool
) -> AsyncGenerator[Moment, None]:
    """Yield what is recorded of a session, for ever, each event once and in order.

    It begins with the first event if *whole*, else with a kept state, which stands for the events
    before it (S-14).

    Raises:
        SessionNotFound: nothing bears that name, and *wait* is not set.
        EventLogError: the log cannot be read.

    """
    cursor, epoch, session = 0, "", None
    while True:
        async with _opened(log, wait=wait or session is not None) as reader:
            file = _identity(log)
            session = session or await _named(reader, name, log, wait=wait)
            begin = None
            if reader.epoch != epoch or await _has_gone_back(reader, session, cursor):
                begin = await opening(reader, session, at=0 if whole else None)
                cursor, epoch = begin.seq, reader.epoch
            while file == _identity(log):
                page = await reader.read(session, after=cursor, limit=4096, limit_bytes=1 << 20)
                lines, cursor = _lines(page, cursor), max(page.next, page.floor)
                yield Moment(session, lines, cursor == page.head, begin)
                begin = None
                if cursor == page.head:
                    with anyio.move_on_after(_LOOK):
                        await reader.wait(session, after=cursor)


def _lines(page: Page, cursor: int) -> list[bytes]:
    """Return the new lines; what was pruned before it could be read is a gap."""
    if page.floor <= cursor:
        return page.lines
    gap = {"first": cursor + 1, "last": page.floor, "lost": page.floor - cursor}
    ts = parse(page.lines[0])["ts"] if page.body else 0
    return [line(page.floor, ts, Event.of("log.gap", gap | {"reason": PRUNED})), *page.lines]


async def _has_gone_back(reader: LogReader, session: SessionId, cursor: int) -> bool:
    return (await reader.read(session, after=cursor, limit=0)).head < cursor


async def _named(reader: LogReader, name: str, log: str | None, *, wait: bool) -> SessionId:
    id_ = valid_session_id(name)
    while True:
        try:
            return await resolve(reader, id_, where=str(log_location(log)))
        except SessionNotFound:
            if not wait:
                raise
        await anyio.sleep(_LOOK)


@asynccontextmanager
async def _opened(log: str | None, *, wait: bool) -> AsyncGenerator[LogReader, None]:
    """Open the log for reading; with *wait* as soon as there is one."""
    while wait and _identity(log) is None:  # noqa: ASYNC110 - nobody tells of a file
        await anyio.sleep(_LOOK)
    async with open_reader(log) as reader:
        yield reader


def _identity(log: str | None) -> tuple[int, int] | None:
    """Return which file the log is; None if there is none. On servers it is always the same."""
    location = log_location(log)
    if isinstance(location, LogAddress):
        return 0, 0
    for file in (location / DATABASE, location):
        if file.is_file():
            found = file.stat()
            return found.st_dev, found.st_ino
    return None


def _print(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
