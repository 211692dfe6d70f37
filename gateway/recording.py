"""Write down what passes over an agent's line before it passes on (design §1, rule 1).

Above this module: `host`, `wrap`. Below it: a recorder, the log, a transport.

One task a line is the only writer of what that line brings: it takes whatever has gathered while
the last commit ran, in both directions, and appends it at once. So a fast agent is recorded in
large batches, a slow one event by event, and the order is that in which frames were seen.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectStream

from eventlog import (
    Direction,
    Entry,
    Event,
    EventStore,
    Note,
    Observation,
    Recorder,
    Seq,
    SessionId,
    Slot,
)
from gateway.background import background
from gateway.errors import FrameTooLong, PeerGone
from gateway.transports import HUNG_UP

READ_AHEAD: Final = 256
"""Frames of an agent that may wait for the log; further ones stay in its pipe."""


@dataclass
class Job:
    """Something to record, and the way to learn that it is durable."""

    observe: Callable[[], Observation]
    asked: bool = False
    """It is no frame: somebody wants it recorded, and would rather hear now that it cannot be."""
    passes: bool = False
    """It has happened, whoever writes the session: a frame on the line, or the line's end."""
    observation: Observation = field(default_factory=Observation)
    failure: Exception | None = None
    heads: Mapping[SessionId, Seq] = field(default_factory=dict)
    """Where sessions stood when this had been recorded, if whoever records keeps account of it."""
    done: anyio.Event = field(default_factory=anyio.Event)

    async def outcome(self) -> Observation:
        """Return once it is durable.

        Raises:
            LogUnavailable: nothing of it was recorded, so it must not pass on.
            PeerGone: the recording has ended.

        """
        await self.done.wait()
        if self.failure:
            raise self.failure
        return self.observation


@dataclass
class Remark:
    """What a sender knows of a frame beyond the frame, and the way to learn it is durable."""

    note: Note
    settled: anyio.Event = field(default_factory=anyio.Event)
    recorded: bool = False

    def done(self, *, recorded: bool) -> None:
        """Say that its frame is in the log, or never will be."""
        self.recorded = self.recorded or recorded
        self.settled.set()


class Recording:
    """Appends what it is given, in the order in which it was given."""

    def __init__(self, store: EventStore, recorder: Recorder, session_id: SessionId) -> None:
        """*session_id* is for what no recorder can place: frames that could not be read."""
        self._session_id = session_id
        self._store = store
        self._recorder = recorder
        self._jobs: list[Job] = []
        self._arrived = anyio.Event()
        self._closed = False

    def see(self, direction: Direction, frame: bytes, note: Note | None = None) -> Job:
        """Take a frame; it is recorded behind everything taken before."""
        job = Job(lambda: self._recorder.observe(direction, frame, note), passes=True)
        return self._take(job)

    async def append(self, session_id: SessionId, *events: Event, asked: bool = True) -> Slot:
        """Record events that are in no frame; return where the last one stands.

        *asked*: somebody waits for it who can be told that it failed.
        """
        slot = Slot()
        entries = [Entry(session_id, event, slot) for event in events]
        await self._take(Job(lambda: Observation(entries), asked)).outcome()
        return slot

    def check(self) -> None:
        """Raise LogUnavailable if what is asked for now could only wait."""

    async def ready(self) -> None:
        """Return once more frames should be read: at once, unless the recording says otherwise."""

    def skip(self, error: FrameTooLong) -> None:
        """Record that a frame was too long to be read (R148)."""
        oversize = {"text": error.head.decode(errors="replace"), "size": error.size}
        entry = Entry(self._session_id, Event.of("agent.noise", oversize))
        self._take(Job(lambda: Observation([entry])))

    async def ended(self, payload: Mapping[str, Any]) -> None:
        """Record that the process at the other end of the line is gone."""
        job = Job(lambda: Observation(self._recorder.ended(payload)), passes=True)
        await self._take(job).outcome()

    async def run(self) -> None:
        """Write until cancelled; what is not written then is refused, and so is what comes."""
        try:
            while True:
                await self._arrived.wait()
                self._arrived = anyio.Event()
                jobs, self._jobs = self._jobs, []
                await self._write(jobs)
        finally:
            self._closed = True
            for job in self._jobs:
                _refuse(job)

    def _take(self, job: Job) -> Job:
        if self._closed:
            _refuse(job)
        else:
            self._jobs.append(job)
            self._arrived.set()
        return job

    async def _write(self, jobs: Sequence[Job]) -> None:
        try:
            for job in jobs:
                job.observation = job.observe()
            await self._record(jobs)
        except Exception as error:  # noqa: BLE001 - handed to everyone who waits for these frames
            for job in jobs:
                job.failure = error
        except BaseException:  # cancelled: whether these are in the log is not known
            for job in jobs:
                _refuse(job)
            raise
        for job in jobs:
            job.done.set()

    async def _record(self, jobs: Sequence[Job]) -> None:
        entries = [entry for job in jobs for entry in job.observation.entries]
        for session_id, run in groupby(entries, key=lambda entry: entry.session_id):
            await self._append(session_id, list(run))

    async def _append(self, session_id: SessionId, entries: Sequence[Entry]) -> None:
        span = await self._store.append(session_id, [entry.event for entry in entries])
        for seq, entry in enumerate(entries, span.first):
            if entry.slot:
                entry.slot.seq = Seq(seq)


def _refuse(job: Job) -> None:
    job.failure = PeerGone("recording")
    job.done.set()


class RecordedTransport(ObjectStream[bytes]):
    """A line to an agent on which nothing passes unrecorded, in either direction."""

    def __init__(
        self,
        line: ObjectStream[bytes],
        recording: Recording,
        ahead: ObjectReceiveStream[tuple[bytes, Job]],
        remark: Callable[[bytes], Remark | None],
    ) -> None:
        self._line = line
        self._recording = recording
        self._ahead = ahead
        self._remark = remark
        self._sending = anyio.Lock()
        self.heads: Mapping[SessionId, Seq] = {}
        """Where sessions stood when the frame that was received last had been recorded."""

    async def receive(self) -> bytes:
        """Return the next frame of the agent, recorded."""
        frame, job = await self._ahead.receive()
        await job.outcome()
        self.heads = job.heads
        return frame

    async def send(self, item: bytes) -> None:
        """Record a frame for the agent, then send it."""
        remark = self._remark(item)
        try:
            await self._recording.see("in", item, remark.note if remark else None).outcome()
        except BaseException:
            if remark:
                remark.done(recorded=False)
            raise
        if remark:
            remark.done(recorded=True)
        async with self._sending:
            await self._line.send(item)

    async def send_unrecorded(self, item: bytes, note: Note) -> None:
        """Send a frame now that is recorded when there is room: only what stops an agent (S-9)."""
        self._recording.see("in", item, note)
        async with self._sending:
            await self._line.send(item)

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        await self._line.send_eof()

    async def aclose(self) -> None:
        """Hang up."""
        await self._line.aclose()

    @property
    def extra_attributes(self) -> Mapping[Any, Any]:
        """Return what the line below knows."""
        return self._line.extra_attributes


@asynccontextmanager
async def recorded(
    line: ObjectStream[bytes],
    recording: Recording,
    remark: Callable[[bytes], Remark | None] = lambda _: None,
) -> AsyncGenerator[RecordedTransport, None]:
    """Record a line for as long as the context is open; frames are read ahead of the log.

    *remark* is asked for each frame sent what is known of it beyond the frame.
    """
    put, take = anyio.create_memory_object_stream[tuple[bytes, Job]](READ_AHEAD)

    async def read_ahead() -> None:
        async with put:
            with suppress(*HUNG_UP):
                while True:
                    await recording.ready()
                    try:
                        frame = await line.receive()
                    except FrameTooLong as error:
                        recording.skip(error)
                    else:
                        await put.send((frame, recording.see("out", frame)))

    async with take, background() as tasks:
        tasks.start_soon(recording.run)
        tasks.start_soon(read_ahead)
        yield RecordedTransport(line, recording, take, remark)
