"""What SESSION means on a command line: an id, the beginning of one, an alias, a file (cli.md).

Above this module: `replay.cli`. Below it: the log's reader, `recordings`.

A name is checked before anything is opened (R141). Whatever has a path separator or the suffix
of a session file is a file; all else names a session of the log.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from eventlog import (
    Event,
    InvalidSessionId,
    LogReader,
    Page,
    SessionId,
    line,
    log_location,
    open_reader,
    parse,
    valid_session_id,
)
from replay.errors import AmbiguousName, SessionNotFound, WrongName
from replay.lines import Spool
from replay.opening import opening
from replay.recordings import Recording, Recordings, read_recordings_of

LATEST: Final = "latest"
STDIN: Final = "-"
PRUNED: Final = "pruned"
"""Why events may be missing without any damage."""

_SUFFIXES: Final = frozenset({".jsonl", ".ndjson", ".json", ".cassette"})
_PAGE: Final = 1 << 20


def read_file(name: str, session: str | None = None) -> Recordings:
    """Read the file that *name* means; *session* picks one of it (an id or its beginning).

    Raises:
        InvalidSessionId: *session* has not the form of an id; nothing was read.
        NothingToReplay, ForeignFile: the file holds no session.
        SessionNotFound, AmbiguousName: *session* picks none of it, or several.
        WrongName: there is no such file.
        OSError: it cannot be read.

    """
    wanted = None if session is None else valid_session_id(session)
    return _picked(_read(name), name, wanted)


async def read_log(name: str, *, log: str | None = None) -> Recordings:
    """Read the session of the log that *name* means.

    Raises:
        InvalidSessionId: it has not the form of an id; nothing was looked up.
        SessionNotFound, AmbiguousName: nothing, or too much, is called so.
        EventLogError: the log cannot be opened or read.

    """
    id_ = valid_session_id(name)
    async with open_reader(log) as reader:
        found = await resolve(reader, id_, where=str(log_location(log)))
        return Recordings([await _recording(reader, found)])


def is_file_name(name: str) -> bool:
    """Whether *name* means a file, or standard input."""
    return name == STDIN or "/" in name or "\\" in name or Path(name).suffix in _SUFFIXES


async def _recording(reader: LogReader, session: SessionId) -> Recording:
    """Read all that the log holds of a session; what was pruned is in its base."""
    start = await opening(reader, session, at=0)
    lines = [text async for text in lines_of(reader, session, start.seq)]
    return Recording(session, lines, start if start.seq else None)


async def lines_of(
    reader: LogReader, session: SessionId, after: int
) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a session that follow *after*, a page of them in memory at a time."""
    while (page := await reader.read(session, after=after, limit=4096, limit_bytes=_PAGE)).body:
        if page.floor > after:
            yield _pruned(page)
        for text in page.lines:
            yield text
        after = page.next


def _pruned(page: Page) -> bytes:
    """Make the line that says which events are gone from the log on purpose."""
    gap = {"first": 1, "last": page.floor, "lost": page.floor, "reason": PRUNED}
    return line(page.floor, parse(page.lines[0])["ts"], Event.of("log.gap", gap))


async def resolve(reader: LogReader, name: SessionId, *, where: str) -> SessionId:
    """Return the session that *name* means in a log that is open.

    Raises:
        SessionNotFound, AmbiguousName: nothing, or too much, is called so.

    """
    if name == LATEST:
        rows = await reader.sessions(limit=1)
        if not rows:
            raise SessionNotFound(name, where)
        return rows[0].id
    found = await reader.resolve(name)
    if not found:
        found = [row.id for row in await reader.sessions() if row.id.startswith(name)]
    return _only(found, name, where)


def _only(found: Sequence[SessionId], name: str, where: str) -> SessionId:
    if not found:
        raise SessionNotFound(name, where)
    if len(found) > 1 and found[0] != name:
        raise AmbiguousName(name, found)
    return found[0]


def _read(name: str) -> Recordings:
    if name == STDIN:
        return _spooled(sys.stdin.buffer, "standard input")
    path = Path(name)
    if not path.exists():
        raise _missing(name)
    if path.is_dir():
        raise WrongName(name, "is a folder; name a log with --log")
    if not path.is_file():  # a pipe can be read but once
        with path.open("rb") as stream:
            return _spooled(stream, path.name)
    return read_recordings_of(path, path.name)


def _spooled(stream: BinaryIO, name: str) -> Recordings:
    spool = Spool(stream)
    return replace(read_recordings_of(spool.path, name), spool=spool)


def _missing(name: str) -> Exception:
    """Return why *name* gives nothing: no file, and whether it could at least be an id."""
    try:
        valid_session_id(name)
    except InvalidSessionId:
        return WrongName(name, "is no file, and no session has such a name")
    return SessionNotFound(name, "this folder")


def _picked(held: Recordings, name: str, wanted: SessionId | None) -> Recordings:
    if wanted is None:
        return held
    ids = [recording.id for recording in held.sessions]
    close = [wanted] if wanted in ids else [id_ for id_ in ids if id_.startswith(wanted)]
    id_ = _only(close, wanted, name)
    return replace(held, sessions=[one for one in held.sessions if one.id == id_])
