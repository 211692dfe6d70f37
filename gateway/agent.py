"""One process of an agent, and the sessions that talk to it (protocol §11).

Above this module: `host`, one for each session. Below it: a peer on a recorded line, `tenants`.

Most agents get a process for each session; one that is `shared` serves all of its sessions with
one. When the process ends, it has ended for all of them.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from eventlog import AcpRecorder, EventLogError, Fenced, Log, SessionId
from gateway.agent_spec import AgentSpec
from gateway.auth import without_token
from gateway.errors import CannotStart, Code, PeerGone, RpcError
from gateway.jsonrpc import Notification, Request, RequestId
from gateway.outbox import Outbox
from gateway.patience import PatientRecording
from gateway.peer import Call, Peer
from gateway.recording import RecordedTransport, Remark, recorded
from gateway.remarks import Remarks
from gateway.tenants import Tenant, Tenants
from gateway.transports import Exit, Transport, run_process

log = logging.getLogger("gateway")

ACP_DEPTH: Final = 200
"""Containers inside containers in a frame of an agent."""

STDERR_KEPT: Final = 20
"""Last lines of an agent's stderr that `agent.exited` quotes, at most `STDERR_LENGTH` of them."""

STDERR_LENGTH: Final = 4096

GRACE: Final = 2.0
"""Seconds that a session has to end its turn before it is ended for it."""


class Agent:
    """Runs from `start` until nobody has it `kept`; *home* has in the log what is no session's."""

    def __init__(self, spec: AgentSpec, events: Log, home: SessionId) -> None:
        self.spec = spec
        self.failure: Exception | None = None
        """Why it could not be made ready, if it could not."""
        self.capabilities: dict[str, Any] = {}
        self.exit: Exit | None = None
        """How it ended, once it has."""
        self.reason: str | None = None
        """Why it was stopped, if it was."""
        self.ending = False
        """It has ended, or is about to: nothing is given to it any more."""
        self.gone = anyio.Event()
        """Set when it has ended and that is in the log."""
        self.unrecorded = False
        """Whether its end could not be recorded."""
        self.users = 0
        """Sessions that have it, or will have."""
        self._tenants = Tenants(home, shared=spec.shared)
        self.recorder = AcpRecorder(
            name_session=self._tenants.name,
            new_request_id=lambda: f"srq-{token_hex(6)}",
            source={"kind": "hosted", "name": spec.name},
            scope=spec.name,
            has_history=self._tenants.has_history,
            home=home,
        )
        self.recording = PatientRecording(events, self.recorder, home)
        self.peer: Peer
        self.line: RecordedTransport
        self._running = False
        self._finished = 0
        self._ready = anyio.Event()
        self._stop = anyio.Event()
        self._left = anyio.Event()
        self._remarks = Remarks()
        self._stderr: deque[str] = deque(maxlen=STDERR_KEPT)

    @property
    def stderr(self) -> str:
        """The last words that it wrote to its stderr."""
        return "\n".join(self._stderr)[-STDERR_LENGTH:]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have it for a session that was counted by `Agents.take`; whoever leaves last ends it."""
        try:
            yield
        finally:
            self.users -= 1
            if not self.users:
                self.stop(None)
                self._left.set()

    def can(self, what: str) -> bool:
        """Whether it says that it has a session capability: `close`, `fork`, `resume`."""
        more = self.capabilities.get("sessionCapabilities")
        return isinstance(more, dict) and more.get(what) is not None

    def start(self, tasks: TaskGroup, cwd: str) -> None:
        """Let it run in *tasks*, if it does not yet: in *cwd*, or where we are if it is shared."""
        if not self._running:
            self._running = True
            tasks.start_soon(self.run, cwd)

    def stop(self, reason: str | None) -> None:
        """End it. *reason* is what `agent.exited` says; the first one counts."""
        if not self._stop.is_set():
            self.reason = reason
            self.ending = True
            self._stop.set()

    async def finish(self, reason: str | None) -> None:
        """End it once every session that has it wants that, or soon; return when it has ended."""
        self._finished += 1
        if self._finished < self.users:
            with anyio.move_on_after(GRACE):
                await self.gone.wait()
        self.stop(reason)
        await self.gone.wait()

    async def ready(self) -> None:
        """Return once it has been initialized.

        Raises:
            RpcError: it refused.
            CannotStart: there is no such program.
            PeerGone: it ended first.
            TimeoutError: it did not answer.

        """
        await self._ready.wait()
        if self.failure:
            raise self.failure

    def opening(
        self, session_id: SessionId, tenant: Tenant, *, history: bool
    ) -> AbstractAsyncContextManager[None]:
        """Begin one session at a time: what comes meanwhile and names none that is known, is its.

        *history* is whether the log holds anything of it: that, told again, is only counted.
        """
        return self._tenants.opening(session_id, tenant, history=history)

    def taking_up(
        self, foreign_id: str, session_id: SessionId, tenant: Tenant
    ) -> AbstractContextManager[None]:
        """Take up a session that it may know, beside others."""
        self.recorder.know(foreign_id, session_id)
        return self._tenants.taking_up(foreign_id, session_id, tenant)

    async def open(self, method: str, params: dict[str, Any], session_id: SessionId) -> Any:
        """Ask for a session, new or known; return the answer, which names it.

        Raises:
            RpcError: the agent refused.
            PeerGone: it ended first.
            TimeoutError: it did not answer.

        """
        id_ = f"open-{session_id}-{token_hex(4)}"
        self._tenants.expect(id_, session_id)
        return await self.peer.request(method, params, id=id_, timeout=self.spec.opening)

    def settle(self, foreign_id: str, tenant: Tenant) -> None:
        """Take note that the agent knows *tenant*'s session by *foreign_id*."""
        self._tenants.settle(foreign_id, tenant)

    def leave(self, foreign_id: str) -> None:
        """Take note that nobody serves this session any more; its agent's end does not concern it."""
        self._tenants.leave(foreign_id)
        self.recorder.left(foreign_id)

    def remark(self, frame: bytes, remark: Remark) -> None:
        """Say what is known of a frame that will be sent."""
        self._remarks.add(frame, remark)

    def questions_of(self, tenant: Tenant) -> list[str]:
        """Return the ids of what the agent has asked in a session and nobody has answered."""
        asked = self.recorder.open_requests.items()
        return [recorded for id_, recorded in asked if self._tenant(id_, None) is tenant]

    async def run(self, cwd: str) -> None:
        """Live: from the start of the process until nobody has it any more."""
        try:
            async with (
                run_process(
                    self.spec.argv,
                    cwd=None if self.spec.shared else cwd,
                    env=without_token(os.environ),
                    complain=self._stderr.append,
                ) as process,
                recorded(process, self.recording, self._remarks.take) as self.line,
            ):
                await self._converse(self.line)
                with anyio.CancelScope(shield=True):
                    self.ending = True  # before anything is awaited: what was taken is in the log
                    await process.aclose()
                    self.exit = await process.exited()
                    await self._record_end(self.exit)
                    self.gone.set()
                await self._left.wait()  # its sessions record their ends on this line, too
        except CannotStart as error:
            self.failure = error
        except Exception as error:
            log.exception("agent %s ended in disorder", self.spec.name)
            self.failure = self.failure or error
            self.unrecorded = True
        finally:
            self.ending = True
            self._ready.set()
            self.gone.set()

    async def _converse(self, line: Transport) -> None:
        self.peer = Peer(
            line, self._hear, max_depth=ACP_DEPTH, lenient=True, outbox=Outbox.patient()
        )
        hung_up = anyio.Event()

        async def listen() -> None:
            try:
                await self.peer.run()
            except* (EventLogError, PeerGone):
                # What cannot be recorded must not pass on: better no agent than an unseen one.
                log.exception("agent %s is stopped", self.spec.name)
            hung_up.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            tasks.start_soon(self._initialize)
            tasks.start_soon(self._hang_up_when_told)
            await hung_up.wait()
            tasks.cancel_scope.cancel()
        self._lose()

    async def _initialize(self) -> None:
        can = {"elicitation": {"form": {}}, **self.spec.offers.capabilities()}
        whoami = {"name": "hermes-gateway", "version": "0.1.0"}
        params = {"protocolVersion": 1, "clientCapabilities": can, "clientInfo": whoami}
        try:
            answer = await self.peer.request("initialize", params, timeout=self.spec.opening)
        except (RpcError, PeerGone, TimeoutError) as error:
            self.failure = error
            self.stop(None)
        else:
            match answer:
                case {"agentCapabilities": dict(able)}:
                    self.capabilities = able
        self._ready.set()

    async def _hang_up_when_told(self) -> None:
        await self._stop.wait()
        await self.peer.hang_up()

    async def _record_end(self, end: Exit) -> None:
        how: dict[str, Any] = {"signal": end.signal} if end.signal else {"code": end.code}
        more = {"reason": self.reason, "stderr": self.stderr}
        try:
            await self.recording.ended({**how, **{key: it for key, it in more.items() if it}})
        except Fenced as error:
            log.warning("agent %s has ended here: %s", self.spec.name, error)
        except EventLogError:
            self.unrecorded = True
            log.exception("the end of agent %s could not be recorded", self.spec.name)

    async def _hear(self, call: Call) -> Any:
        match call:
            case Request(id_, method, params):
                tenant = self._tenant(id_, params)
                if tenant is None:
                    why = f"{method}: there is no such session here"
                    raise RpcError(Code.INVALID_PARAMS, why, {"path": "sessionId"})
                return await tenant.hear(call)
            case Notification("$/cancel_request", {"requestId": int() | str() as id_}):
                if tenant := self._tenant(id_, None):
                    await tenant.withdraw(id_)
        return None  # a notification is in the log, which is where clients read it

    def _tenant(self, id_: RequestId, params: Any) -> Tenant | None:
        """Return whom a call of the agent's concerns."""
        match params:
            case {"sessionId": str(foreign)}:
                return self._tenants.find(foreign)
        return self._tenants.find(self.recorder.asked_in(id_) or "")

    def _lose(self) -> None:
        """Tell who waits that nothing is sent and nobody is answered any more."""
        self._remarks.lose()
        for tenant in self._tenants.everyone():
            tenant.lost()
