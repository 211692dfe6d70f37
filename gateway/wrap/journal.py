"""Where a wrapped line is recorded, although only one process may write a log (S-4).

Above this module: `acp`. Below it: the log's adapters.

Two editors are two processes. The second one cannot write the log that the first one holds, nor
can any while a gateway serves it: it records into a log of its own beside that one, and whoever
opens the main log next for wrapping takes in what lies beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from secrets import token_hex
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
    event_of,
    open_log,
)
from gateway.closing import recover
from gateway.wrap.ledger import Tell

BESIDE: Final = "beside"
"""Folder, beside the main log, of the logs that wait to be taken in."""


@asynccontextmanager
async def journal(location: Path, tell: Tell) -> AsyncGenerator[Log, None]:
    """Open the log at *location*, or one beside it if another process writes that.

    Raises:
        EventLogError: neither can be opened.

    """
    async with AsyncExitStack() as stack:
        try:
            log = await stack.enter_async_context(open_log(location))
        except LogBusy as busy:
            own = _beside(location) / token_hex(4)
            tell(f"{busy}; recording beside it, in {own}")
            log = await stack.enter_async_context(open_log(own))
        yield log


async def take_in(location: Path, log: Log, tell: Tell) -> None:
    """Bring into *log* what was recorded beside it, as far as nobody is writing there.

    Sessions keep their ids, numbers and times. Interrupted, it goes on where it stopped; only
    what belongs to no session may then be there twice.
    """
    beside = anyio.Path(_beside(location))
    if not await beside.is_dir():
        return
    for folder in sorted([path async for path in beside.iterdir()]):
        try:
            async with open_log(Path(folder)) as other:
                await recover(other)
                sessions = [row.id for row in await other.sessions()]
                for session_id in (*sessions, GATEWAY):
                    await _copy(other, session_id, log)
        except LogBusy:
            continue
        except EventLogError as error:
            tell(f"{folder} could not be taken in: {error}")
            continue
        await anyio.to_thread.run_sync(shutil.rmtree, folder)


async def _copy(source: LogReader, session_id: SessionId, log: Log) -> None:
    cursor = START if session_id == GATEWAY else (await log.read(session_id, limit=0)).head
    while True:
        page = await source.read(session_id, after=cursor, limit_bytes=1 << 20)
        if not page.body:
            return
        lines = [event_of(line) for line in page.lines]
        await log.append(session_id, [event for _, event in lines], at=[ts for ts, _ in lines])
        cursor = page.next


def _beside(location: Path) -> Path:
    return (location.parent if location.suffix == ".db" else location) / BESIDE
