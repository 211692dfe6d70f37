"""One task a session that is written, for as long as it has something to write, and a while longer.

Above this module: `writer`. Below it: `session`.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from eventlog.jetstream.session import Session

_IDLE: Final = 256
"""Tasks that may wait for their session to be written again: beginning one would be felt."""

_AT_ONCE: Final = 256
"""Sessions that are written at the same time: more would only wait at the servers, until none of
them is answered in time.
"""


class Lanes:
    """Calls *write* for every session that has something in its queue, one call at a time each."""

    def __init__(self, tasks: TaskGroup, write: Callable[[Session], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._write = write
        self._loop = get_running_loop()
        self._sleeping: dict[Session, Future[bool]] = {}
        self._room = anyio.Semaphore(_AT_ONCE, fast_acquire=True)
        self._under_way = 0
        self._closed = False
        self._ended = anyio.Event()

    def wake(self, session: Session) -> None:
        """See to it that what stands in a session's queue is written."""
        if (sleeper := self._sleeping.pop(session, None)) is not None:
            self._under_way += 1
            sleeper.set_result(True)
        elif not session.busy:
            session.busy = True
            self._under_way += 1
            self._tasks.start_soon(self._run, session)

    async def close(self) -> None:
        """Wait until everything is written, and end."""
        self._closed = True
        for session in list(self._sleeping):
            self._send_home(session)
        if self._under_way:
            await self._ended.wait()

    async def _run(self, session: Session) -> None:
        with anyio.CancelScope(shield=True):
            stays = True
            try:
                while True:
                    try:
                        while session.queue:
                            async with self._room:
                                await self._write(session)
                    finally:
                        self._under_way -= 1
                    if self._closed or not stays:
                        return
                    stays = await self._sleep(session)
            finally:
                session.busy = False
                if self._closed and not self._under_way:
                    self._ended.set()

    async def _sleep(self, session: Session) -> bool:
        """Wait for more; whether there is."""
        sleeper: Future[bool] = self._loop.create_future()
        self._sleeping[session] = sleeper
        if len(self._sleeping) > _IDLE:
            self._send_home(next(iter(self._sleeping)))
        return await sleeper

    def _send_home(self, session: Session) -> None:
        """Let one that is idle end; until it hears of it something may come, and it looks."""
        self._under_way += 1
        self._sleeping.pop(session).set_result(False)
