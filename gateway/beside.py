"""Logs that lie beside a log, since another process wrote that when they were begun.

Above this module: `serve`, `wrap`. Below it: the log's adapters.

Only one process writes a log. An editor's agent that is wrapped while a gateway runs is recorded
in a log of its own beside the gateway's, and whoever writes that takes it in when the editor has
ended: the same ids, numbers and times.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio

from eventlog import (
    GATEWAY,
    START,
    EventLogError,
    Log,
    LogBusy,
    LogReader,
    SessionId,
    database_file,
    event_of,
    open_log,
)
from gateway.closing import recover

BESIDE: Final = "beside"
"""Folder, beside the main log, of the logs that wait to be taken in."""

EVERY: Final = 2.0
"""Seconds between two looks at that folder."""

Tell = Callable[[str], object]
"""Says something to whoever runs this program."""


def beside(location: Path) -> Path:
    """Return the folder of what lies beside the log at *location*."""
    return (location.parent if location.suffix == ".db" else location) / BESIDE


async def keep_taking_in(location: Path, log: Log, tell: Tell, *, every: float = EVERY) -> None:
    """Take in what is left beside *log*, now and whenever an editor ends, until cancelled."""
    told: set[str] = set()

    def tell_once(text: str) -> None:
        if text not in told:
            told.add(text)
            tell(text)

    while True:
        await take_in(location, log, tell_once)
        await anyio.sleep(every)


async def take_in(location: Path, log: Log, tell: Tell) -> None:
    """Bring into *log* what was recorded beside it, as far as nobody is writing there.

    Sessions keep their ids, numbers and times. Interrupted, it goes on where it stopped; only
    what belongs to no session may then be there twice.
    """
    folder = anyio.Path(beside(location))
    if not await folder.is_dir():
        return
    for path in sorted([path async for path in folder.iterdir()]):
        if not await anyio.Path(database_file(Path(path))).exists():
            continue  # whoever makes it has not locked it yet, and must not be kept from that
        try:
            async with open_log(Path(path)) as other:
                await recover(other)
                sessions = [row.id for row in await other.sessions()]
                for session_id in (*sessions, GATEWAY):
                    await _copy(other, session_id, log)
        except LogBusy:
            continue
        except EventLogError as error:
            tell(f"{path} could not be taken in: {error}")
            continue
        await anyio.to_thread.run_sync(shutil.rmtree, path)


async def _copy(source: LogReader, session_id: SessionId, log: Log) -> None:
    cursor = START if session_id == GATEWAY else (await log.read(session_id, limit=0)).head
    while True:
        page = await source.read(session_id, after=cursor, limit_bytes=1 << 20)
        if not page.body:
            return
        lines = [event_of(line) for line in page.lines]
        await log.append(session_id, [event for _, event in lines], at=[ts for ts, _ in lines])
        cursor = page.next
