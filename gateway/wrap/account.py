"""A recording that knows after each frame where every session stood (P-21).

Above this module: `upstream`. Below it: `gateway.recording`.

An upstream's answer to `session.resume` is a snapshot: it holds what happened before it. How far
that is in the log's numbers is known where the answer is recorded, and nowhere else.

When the log cannot be written, the gateway is not heard: its events wait in its own pipe or socket,
and nothing is lost (S-9).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

import anyio

from eventlog import Entry, EventStore, LogUnavailable, Recorder, Seq, SessionId, Slot
from gateway.recording import Job, Recording

log = logging.getLogger("gateway")

RETRY: Final = 1.0
"""Seconds between two attempts to write to a log that could not be written."""


class Account(Recording):
    """Appends what it is given, and notes in each job where the sessions stood behind it."""

    def __init__(
        self,
        store: EventStore,
        recorder: Recorder,
        session_id: SessionId,
        heads: Mapping[SessionId, Seq],
    ) -> None:
        """*heads* are those of the sessions that the recorder goes on with."""
        super().__init__(store, recorder, session_id)
        self._heads: Mapping[SessionId, Seq] = dict(heads)
        self._placed: list[tuple[SessionId, Seq]] = []
        self.held = False
        """Whether something waits for the log."""

    async def _write(self, jobs: Sequence[Job]) -> None:
        self._placed = []
        await super()._write(jobs)
        placed = iter(self._placed)
        for job in jobs:  # nobody has been woken yet: nothing was awaited since the commit
            if not job.failure:
                news = dict(next(placed) for _ in job.observation.entries)
                if news:
                    self._heads = {**self._heads, **news}
                job.heads = self._heads

    async def _append(self, session_id: SessionId, entries: Sequence[Entry]) -> None:
        """Append as soon as the log takes it: until then nothing passes in either direction."""
        last = entries[-1].slot or Slot()
        marked = [*entries[:-1], Entry(session_id, entries[-1].event, last)]
        while True:
            try:
                await super()._append(session_id, marked)
                break
            except LogUnavailable as error:
                if not self.held:
                    log.warning("the gateway is not heard until it can be recorded: %s", error)
                self.held = True
            await anyio.sleep(RETRY)
        self.held = False
        assert last.seq is not None  # noqa: S101 - it has just been appended
        first = last.seq - len(entries) + 1
        self._placed += [(session_id, Seq(seq)) for seq in range(first, last.seq + 1)]
