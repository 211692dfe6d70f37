"""What a gateway does for its log beside serving: old notes of its own go, idle sessions shrink.

Above this module: `serve`. Below it: the log, transcripts.

It never removes a session's events: that is a person's to decide (`hermes-log prune`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time_ns
from typing import Final

import anyio

from eventlog import GATEWAY, EventLogError, Log
from gateway.transcripts import Transcripts
from replay import state_of

log = logging.getLogger("gateway")

FIRST: Final = 60
"""Seconds until the log is first looked after: whoever starts a gateway wants it at once."""

EVERY: Final = 3_600
"""Seconds between two times."""

DAY: Final = 24 * 3_600 * 1_000_000
"""µs."""

OWN: Final = 30 * DAY
"""How long what belongs to no session is kept (P-12)."""

IDLE: Final = DAY
"""How long a session must have been idle to be stored smaller (S-11)."""


class Housekeeping:
    """Looks after a log now and then. *clock* gives nanoseconds."""

    def __init__(
        self, events: Log, transcripts: Transcripts, *, clock: Callable[[], int] = time_ns
    ) -> None:
        self._log = events
        self._transcripts = transcripts
        self._clock = clock

    async def run(self) -> None:
        """Look after the log until cancelled."""
        await anyio.sleep(FIRST)
        while True:
            try:
                await self.tidy()
            except EventLogError as error:
                log.warning("the log was not looked after: %s", error)
            await anyio.sleep(EVERY)

    async def tidy(self) -> None:
        """Look after the log once."""
        now = self._clock() // 1_000
        reach = await self._log.prunable(GATEWAY, before=now - OWN)
        if reach.events:
            base = await self._transcripts.at(GATEWAY, reach.seq)
            await self._log.prune(GATEWAY, state_of(base))
            self._transcripts.forget(GATEWAY)
        await self._log.compact(before=now - IDLE)
