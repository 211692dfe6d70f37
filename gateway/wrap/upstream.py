"""The one line to a Hermes gateway that all clients of `wrap hermes` share (P-39).

Above this module: `front`. Below it: `ahead`, `account`, `standing`, a peer.

Everything that passes on the line is recorded before it passes on, in both directions. When the
line breaks, the next one goes on where the log stands: what its gateway still has is fetched and
recorded, what it no longer has is a `log.gap`; a gateway that was started anew is told which
sessions clients follow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import anyio

from eventlog import (
    GATEWAY,
    Event,
    EventLogError,
    HermesRecorder,
    Log,
    Note,
    Seq,
    SessionId,
    codec,
)
from gateway.answers import CANNOT_SHOW, late
from gateway.client import HEARTBEAT, Backoff
from gateway.errors import CannotConnect, CannotStart, Code, PeerGone, RpcError
from gateway.jsonrpc import Failure, Notification, Reply, Request, dump
from gateway.outbox import Outbox
from gateway.peer import LATER, Call, Peer
from gateway.recording import RecordedTransport, Remark, recorded
from gateway.sessions import Sessions
from gateway.transports import HUNG_UP, Exit, ProcessTransport, Transport
from gateway.wrap.account import Account
from gateway.wrap.ahead import Ahead, read_frame
from gateway.wrap.resumption import Resumption

log = logging.getLogger("gateway")

Dial = Callable[[], AbstractAsyncContextManager[Transport]]
"""Opens a line to the gateway: starts its command, or connects to its socket."""

STARTING: Final = 120.0
"""Seconds that the gateway has to say that it is ready, and to answer what is asked at once."""

GRACE: Final = 10.0
"""Seconds that its end may take."""

PATIENCE: Final = 30.0
"""Seconds that a client's call waits for a line."""


@dataclass
class _Line:
    """What there is while there is a line."""

    peer: Peer
    transport: RecordedTransport
    recorder: HermesRecorder
    account: Account


class Upstream:
    """Run it; everything else waits until there is a line."""

    def __init__(
        self, dial: Dial, events: Log, sessions: Sessions, scope: str, backoff: Backoff | None
    ) -> None:
        """*scope* is `hermes:` and the gateway's name: where its session ids come from (P-22)."""
        self.ready: Mapping[str, Any] = {}
        """What the gateway said of itself when it was ready last."""
        self.followed: Callable[[], Collection[SessionId]] = tuple
        """The sessions that clients follow."""
        self.patience = PATIENCE
        self._dial = dial
        self._log = events
        self._sessions = sessions
        self._scope = scope
        self._backoff = backoff or Backoff()
        self._ids = count(1)
        self._line: _Line | None = None
        self._connected = anyio.Event()
        self._remarks: dict[bytes, Remark] = {}
        self._answered: set[str] = set()
        self._stopping = False
        self._over = anyio.Event()
        self._pause = anyio.CancelScope()

    @property
    def connected(self) -> bool:
        """Whether there is a line that clients can use."""
        return self._line is not None

    async def run(self, *, anew: bool) -> Exit | None:
        """Keep a line until cancelled; without *anew*, until the first one has ended.

        Returns how the gateway's command ended, if it was one.

        Raises:
            CannotStart: the command cannot be run (without *anew*).
            CannotConnect: nobody answers (without *anew*).

        """
        attempt = 0
        end = None
        while not self._stopping:
            self.ready = {}
            try:
                async with self._dial() as line:
                    end = await self._converse(line)
            except (CannotConnect, CannotStart, EventLogError) as error:
                if not anew:
                    raise
                log.warning("no line to the gateway: %s", error)
            if not anew:
                break
            attempt = 1 if self.ready else attempt + 1
            with anyio.CancelScope() as self._pause:
                await anyio.sleep(self._backoff.delay(attempt))
        self._over.set()
        return end

    async def stop(self) -> None:
        """End the line, and the gateway's command if there is one; return when it is recorded."""
        self._stopping = True
        self._pause.cancel()
        if self._line:
            await self._line.peer.hang_up()
            with anyio.move_on_after(GRACE):
                await self._over.wait()

    async def call(
        self, method: str, params: dict[str, Any], *, by: str, leaves: Callable[[], None]
    ) -> tuple[Any, Mapping[SessionId, Seq]]:
        """Ask; return the result, and where the sessions stood in the log when it came.

        *leaves* is called when the call has its place in the queue; what is asked then is behind it.

        Raises:
            RpcError: the gateway said no, or there is no line.

        """
        line = await self._present()
        id_ = f"w{next(self._ids)}"
        self._remarks[dump(Request(id_, method, params))] = Remark(Note(members={"by": by}))
        leaves()  # the request below is queued before anybody else runs
        try:
            result = await line.peer.request(method, params, id=id_)
        except PeerGone as error:
            told = f"the gateway went away before {method} was answered"
            raise RpcError(Code.GOING_AWAY, told) from error
        return result, line.transport.heads

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell what needs no answer."""
        with suppress(PeerGone):
            await (await self._present()).peer.notify(method, params)

    async def settle(self, session_id: SessionId, answer: Reply | Failure, *, by: str) -> None:
        """Take a client's answer to a question of the gateway: the first one counts (P-28)."""
        id_ = str(answer.id)
        while True:
            line = await self._present()
            state = await self._sessions.state(session_id)
            request = state.requests.get(id_)
            if isinstance(answer, Failure) and answer.error.code in CANNOT_SHOW:
                declined = {"id": id_, "code": answer.error.code, "by": by}
                if request:
                    await line.account.append(session_id, Event.of("request.declined", declined))
                return
            if request is None or id_ in self._answered:
                method = request.method if request else state.settled.get(id_)
                await line.account.append(session_id, late(id_, method, answer, by))
                return
            self._answered.add(id_)
            remark = self._remarks[dump(answer)] = Remark(Note(members={"by": by}))
            with suppress(PeerGone):
                await line.peer.send_raw(dump(answer))
                await remark.settled.wait()
            if remark.recorded:
                return

    @property
    def held(self) -> bool:
        """Whether the gateway waits for the log to record again (S-9)."""
        return self._line is not None and self._line.account.held

    def session_of(self, name: str) -> SessionId | None:
        """Return the session that the gateway's present process calls *name*."""
        return self._line.recorder.sessions.get(name) if self._line else None

    def runtime_of(self, session_id: SessionId) -> str | None:
        """Return what the gateway's present process calls a session."""
        known = list(self._line.recorder.sessions.items()) if self._line else []
        return next((name for name, id_ in reversed(known) if id_ == session_id), None)

    def stored_of(self, session_id: SessionId) -> str | None:
        """Return the id under which the gateway keeps a session."""
        known = self._line.recorder.stored if self._line else {}
        return next((name for name, id_ in known.items() if id_ == session_id), None)

    async def introduced(self) -> Mapping[str, Any]:
        """Return what the gateway says of itself, once it does."""
        await self._present()
        return self.ready

    async def _present(self) -> _Line:
        with anyio.move_on_after(self.patience):
            while self._line is None:
                await self._connected.wait()
            return self._line
        raise RpcError(Code.GOING_AWAY, "there is no line to the gateway")

    async def _converse(self, transport: Transport) -> Exit | None:
        """Talk until the line breaks; return how the process at its end ended, if it is one."""
        frames = await self._until_ready(transport)
        if not frames:
            return await _exit(transport)
        resumption = Resumption(self._log, self._sessions, self._scope)
        recorder = await resumption.recorder(str(self.ready.get("replay_epoch") or ""))
        account = Account(self._log, recorder, GATEWAY, resumption.heads)
        ahead = Ahead(transport, frames)
        resumption.hold(ahead)
        async with recorded(ahead, account, lambda frame: self._remarks.pop(frame, None)) as line:
            patient = Outbox.patient()
            peer = Peer(line, _hear, max_depth=codec.DEEPEST, lenient=True, outbox=patient)
            await self._talk(_Line(peer, line, recorder, account), resumption)
            with anyio.CancelScope(shield=True):
                end = await _exit(transport)
                if end:
                    await resumption.ended(account, recorder, end)
        return end

    async def _until_ready(self, line: Transport) -> list[bytes]:
        """Return the frames up to `gateway.ready`; none, if it does not come."""
        frames = []
        with anyio.move_on_after(STARTING), suppress(*HUNG_UP):
            while True:
                frames.append(await line.receive())
                match read_frame(frames[-1]):
                    case Notification("event", {"type": "gateway.ready", "payload": dict(said)}):
                        self.ready = said
                        return frames
        return []

    async def _talk(self, line: _Line, resumption: Resumption) -> None:
        async def listen() -> None:
            try:
                await line.peer.run()
            except* (EventLogError, PeerGone):
                # What cannot be recorded must not pass on; the next line asks for it again.
                log.exception("the line to the gateway is given up")
            tasks.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                with suppress(PeerGone, TimeoutError):
                    await resumption.take_up(line.peer, line.account, self.followed())
                    self._line = line
                    self._connected.set()
                    await self._keep_alive(line.peer)
        finally:
            self._line, self._connected = None, anyio.Event()
            remarks, self._remarks = self._remarks, {}
            self._answered.clear()
            for remark in remarks.values():
                remark.done(recorded=False)

    async def _keep_alive(self, peer: Peer) -> None:
        while True:
            await anyio.sleep(HEARTBEAT)
            if self.ready.get("heartbeat") is True:
                with suppress(RpcError):
                    await peer.request("gateway.ping", timeout=2 * HEARTBEAT)


async def _hear(call: Call) -> Any:
    """Leave what the gateway tells and asks to the log: clients read it there."""
    return LATER if isinstance(call, Request) else None


async def _exit(line: Transport) -> Exit | None:
    if not isinstance(line, ProcessTransport):
        return None
    await line.aclose()
    return await line.exited()
