"""A recording that waits for the log: what an agent says is held until it can be recorded (S-9).

Above this module: `live`. Below it: `recording`, the log.

Frames on a hosted agent's line pass recorded or not at all. While the disk is full, say, they are
held in both directions, and the agent is not read, so it waits in its pipe and nothing is lost.
Whoever asks for something meanwhile is refused at once: nothing was accepted.

An agent of several sessions goes on when one of them has become another gateway's: what still
passes of that one stands where that stands which is nobody's, until the agent has left it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Final

import anyio

from eventlog import (
    Condition,
    Entry,
    Event,
    Fenced,
    Log,
    LogUnavailable,
    Observation,
    Recorder,
    SessionId,
)
from gateway.recording import Job, Recording

log = logging.getLogger("gateway")

RETRY: Final = 1.0
"""Seconds between two attempts to write to a log that could not be written."""


class PatientRecording(Recording):
    """Appends what it is given, as soon as the log takes it."""

    def __init__(
        self,
        store: Log,
        recorder: Recorder,
        session_id: SessionId,
        *,
        retry: float = RETRY,
    ) -> None:
        super().__init__(store, recorder, session_id)
        self._condition: Condition = store
        self._retry = retry
        self._held: LogUnavailable | None = None
        self._free = anyio.Event()
        self._impatient = anyio.Event()
        self._lost = 0
        """Events of frames that were given up, and of which the log does not say so yet."""

    @property
    def held(self) -> bool:
        """Whether frames wait for the log."""
        return self._held is not None

    @property
    def blocked(self) -> bool:
        """Whether what is asked for now could only wait."""
        return self._held is not None or self._condition.degraded is not None

    async def recorded(self) -> None:
        """Return once what was seen until now is in the log, or never will be."""
        await self._take(Job(Observation)).done.wait()

    def check(self) -> None:
        """Raise LogUnavailable if what is asked for now could only wait."""
        if self._held is not None:
            raise self._held
        if reason := self._condition.degraded:
            raise LogUnavailable("the log", reason)

    async def ready(self) -> None:
        """Return once nothing waits for the log."""
        while self._held is not None:
            await self._free.wait()

    def give_up(self) -> None:
        """Wait no more: what cannot be recorded now is lost, and counted."""
        self._impatient.set()

    def _take(self, job: Job) -> Job:
        if self._held is not None and job.asked:
            job.failure = self._held
            job.done.set()
            return job
        return super()._take(job)

    async def _record(self, jobs: Sequence[Job]) -> None:
        marked = [(job, entry) for job in jobs for entry in job.observation.entries]
        try:
            for session_id, run in groupby(marked, key=lambda item: item[1].session_id):
                await self._record_run(session_id, list(run))
        finally:
            self._release()

    async def _record_run(self, session_id: SessionId, run: Sequence[tuple[Job, Entry]]) -> None:
        while entries := [entry for job, entry in run if job.failure is None]:
            try:
                return await self._append(session_id, entries)
            except Fenced as error:
                if session_id == self._session_id:
                    raise
                for job, _ in run:
                    if not job.passes:
                        job.failure = error
                session_id = self._session_id
            except LogUnavailable as error:
                if error.lasting or self._impatient.is_set():
                    self._lost += sum(not job.asked for job, _ in run)
                    raise
                for job, _ in run:
                    if job.asked:
                        job.failure = error
                        job.done.set()
                await self._hold(error, frames=any(not job.asked for job, _ in run))
        return None

    async def _append(self, session_id: SessionId, entries: Sequence[Entry]) -> None:
        if self._lost:
            gap = Event.of(
                "log.gap", {"lost": self._lost, "reason": "the log could not be written"}
            )
            entries = [Entry(session_id, gap), *entries]
        await super()._append(session_id, entries)
        self._lost = 0

    async def _hold(self, error: LogUnavailable, *, frames: bool) -> None:
        """Let frames wait a while; there may be none, if only what was asked for has failed."""
        if not frames:
            return
        if self._held is None:
            log.warning("an agent is not heard until it can be recorded: %s", error)
        self._held = error
        with anyio.move_on_after(self._retry):
            await self._impatient.wait()

    def _release(self) -> None:
        if self._held is not None:
            self._held = None
            self._free.set()
            self._free = anyio.Event()
