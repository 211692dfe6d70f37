"""Two ends of a conversation, and what passes between them: recorded first, then passed on.

Above this module: `acp`. Below it: `lines`, `streams`, a ledger, a stand-in.

Bytes pass as they came, in order, and no faster than they are taken: each direction holds a few
pieces and no more. Whatever cannot be recorded passes all the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from eventlog import Unrecorded
from gateway.recording import Job
from gateway.transports import HUNG_UP
from gateway.wrap import streams
from gateway.wrap.ledger import Ledger
from gateway.wrap.lines import Lines, Piece

AHEAD: Final = 4
"""Parcels that may wait in each direction for the log, or for whoever takes them."""

LINGER: Final = 1.0
"""Seconds of silence after which nothing more is expected of an agent that has exited."""


@dataclass(frozen=True, slots=True)
class Item:
    """Bytes to pass on, once they are recorded. *replay*: not if the log has them better."""

    raw: bytes
    job: Job | None = None
    replay: bool = True


Parcel = Iterable[Item]
Out = MemoryObjectSendStream[Parcel]


class StandIn(Protocol):
    """Looks at each frame, and may answer or change it in the other end's place."""

    async def sent(self, frame: bytes, to_editor: Out) -> bytes | None:
        """Return what the agent gets instead of *frame*; the same object: the bytes as they are.

        None: nothing. What is put into *to_editor* comes before the agent's answer.
        """
        ...

    def told(self, frame: bytes) -> bytes:
        """Return what the editor gets instead of *frame*, which is the agent's."""
        ...

    @property
    def replays(self) -> bool:
        """Whether the editor gets an agent's own replay of what the log holds."""
        ...


@dataclass(frozen=True, slots=True)
class Ends:
    """Where one party is heard and spoken to: descriptors, owned by this relay."""

    hear: int
    speak: int


class Relay:
    """Passes on what either says. It owns all four descriptors."""

    def __init__(self, editor: Ends, agent: Ends, ledger: Ledger, stand_in: StandIn) -> None:
        self._editor = editor
        self._agent = agent
        self._ledger = ledger
        self._stand_in = stand_in
        self._reading = anyio.CancelScope()
        self._exited = False
        self.spoken = anyio.Event()
        """Set when what the agent said has been taken, or nobody takes it."""

    async def run(self) -> None:
        """Pass on in both directions, until both have ended or this is cancelled."""
        to_agent, agent_gets = anyio.create_memory_object_stream[Parcel](AHEAD)
        to_editor, editor_gets = anyio.create_memory_object_stream[Parcel](AHEAD)
        async with to_agent, agent_gets, to_editor, editor_gets, anyio.create_task_group() as tasks:
            tasks.start_soon(self._hear_editor, to_agent, to_editor)
            tasks.start_soon(self._give, agent_gets, self._agent.speak, self._editor.hear)
            tasks.start_soon(self._hear_agent, to_editor)
            await self._give(editor_gets, self._editor.speak, self._agent.hear)
            self.spoken.set()

    def exited(self) -> None:
        """Hear that the agent is gone; children that hold its output are heard while they talk."""
        self._exited = True
        self._reading.deadline = anyio.current_time() + LINGER

    async def _hear_editor(self, to_agent: Out, to_editor: Out) -> None:
        lines = Lines()
        with suppress(*HUNG_UP):
            while data := await streams.read(self._editor.hear):
                for piece in lines.feed(data):
                    await to_agent.send(await self._from_editor(piece, to_editor))
            for piece in lines.finish():
                await to_agent.send(await self._from_editor(piece, to_editor))
        to_agent.close()

    async def _hear_agent(self, to_editor: Out) -> None:
        lines = Lines()
        with suppress(*HUNG_UP):
            while data := await self._agent_says():
                await to_editor.send([self._from_agent(piece) for piece in lines.feed(data)])
            await to_editor.send([self._from_agent(piece) for piece in lines.finish()])
        to_editor.close()

    async def _agent_says(self) -> bytes:
        with anyio.CancelScope() as self._reading:
            if self._exited:
                self.exited()
            return await streams.read(self._agent.hear)
        return b""

    async def _from_editor(self, piece: Piece, to_editor: Out) -> Parcel:
        if piece.skipped:
            self._ledger.skip_of_client(piece.skipped.size)
        if piece.frame is None:
            return [Item(piece.raw)]
        frame = await self._stand_in.sent(piece.frame, to_editor)
        if frame is None:
            return []
        job = self._ledger.see("in", frame)
        return [Item(piece.raw if frame is piece.frame else frame + b"\n", job)]

    def _from_agent(self, piece: Piece) -> Item:
        if piece.skipped:
            self._ledger.skip(piece.skipped)
        if piece.frame is None:
            return Item(piece.raw)
        job = self._ledger.see("out", piece.frame)
        frame = self._stand_in.told(piece.frame)
        raw = piece.raw if frame is piece.frame else frame + b"\n"
        return Item(raw, job, replay=self._stand_in.replays)

    async def _give(
        self, parcels: MemoryObjectReceiveStream[Parcel], speak: int, hear: int
    ) -> None:
        """Pass on what comes; if nobody takes it, stop hearing who says it."""
        try:
            async for parcel in parcels:
                if data := b"".join([raw async for raw in _passed(parcel)]):
                    await streams.write(speak, data)
        except anyio.BrokenResourceError:
            parcels.close()
        finally:
            streams.close(speak)
            streams.close(hear)


async def _passed(parcel: Parcel) -> AsyncIterator[bytes]:
    for item in parcel:
        if item.job:
            await item.job.done.wait()
        if item.replay or not _is_replay(item.job):
            yield item.raw


def _is_replay(job: Job | None) -> bool:
    return job is not None and job.observation.unrecorded is Unrecorded.REPLAYED
