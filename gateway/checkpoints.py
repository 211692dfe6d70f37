"""Keeping the states of sessions in the log, at ends of turns (S-14).

Above this module: `serve`. Below it: transcripts. Nobody waits for it: what is not kept is only
folded again.
"""

from __future__ import annotations

import logging

import anyio

from eventlog import EventLogError, SessionId
from gateway.overviews import Overviews
from gateway.transcripts import Transcripts

log = logging.getLogger("gateway")


class TurnEnds:
    """Hears of ends of turns, and has the states kept, one after the other."""

    def __init__(self, transcripts: Transcripts, overviews: Overviews) -> None:
        self._transcripts = transcripts
        self._overviews = overviews
        self._due: dict[SessionId, None] = {}
        self._arrived = anyio.Event()

    def note(self, session_id: SessionId) -> None:
        """Hear that a turn has ended; whoever says so does not wait."""
        self._due[session_id] = None
        self._arrived.set()

    async def run(self) -> None:
        """Keep states until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            while self._due:
                session_id = next(iter(self._due))
                del self._due[session_id]
                try:
                    await self._transcripts.keep(session_id)
                    await self._overviews.settle(session_id)
                except EventLogError as error:
                    log.warning("%s: its state was not kept: %s", session_id, error)
