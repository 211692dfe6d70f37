"""Talk to one ACP agent on behalf of one session (protocol §11).

Above this module: `sessions`, which decides when. Below it: a peer on a recorded line.

Towards the agent the gateway is an ACP client. What the agent tells needs no attention here: it
is in the log by the time it is heard, and clients read it there. What it asks waits here until
somebody answers; what was asked, answered and withdrawn is in the log too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio

from eventlog import Event, Note, SessionId, Slot
from gateway.errors import Code, RpcError
from gateway.jsonrpc import Failure, Notification, Reply, Request, RequestId, dump
from gateway.outbox import Outbox
from gateway.peer import Call, Peer
from gateway.recording import Recording, Remark
from gateway.state import question_key
from gateway.transports import Transport

log = logging.getLogger("gateway")

ACP_DEPTH: Final = 200
"""Containers inside containers in a frame of an agent."""

OPENING_TIMEOUT: Final = 120.0
"""Seconds that an agent has for each step until it is ready; some install themselves first."""

_ASKS_THE_USER: Final = frozenset({"session/request_permission", "elicitation/create"})


class KnowsRequests(Protocol):
    """What the host needs of its recorder: under which id an agent's question was recorded."""

    @property
    def open_requests(self) -> Mapping[RequestId, str]:
        """The agent's own JSON-RPC ids, and the ids of `request.opened`."""
        ...


@dataclass(slots=True)
class Question:
    """What the agent waits for."""

    method: str
    key: Any = None
    """What makes another question the same (R088)."""
    settled: anyio.Event = field(default_factory=anyio.Event)
    answer: Any = None
    remark: Remark = field(default_factory=lambda: Remark(Note()))


class Host:
    """One agent, one session. Prompts are the caller's to send one after the other."""

    def __init__(
        self, session_id: SessionId, recorder: KnowsRequests, recording: Recording
    ) -> None:
        self._session_id = session_id
        self._recorder = recorder
        self._recording = recording
        self._remarks: dict[bytes, list[Remark]] = {}
        self._questions: dict[str, Question] = {}
        self._answered: set[str] = set()
        self._changed = anyio.Event()
        self._gone = False
        self._foreign_id = ""
        self._peer: Peer

    def remark(self, frame: bytes) -> Remark | None:
        """Return what is known of a frame that is about to be sent to the agent."""
        remarks = self._remarks.get(frame, [])
        remark = remarks.pop(0) if remarks else None
        if not remarks:
            self._remarks.pop(frame, None)
        return remark

    def speak(self, line: Transport) -> Peer:
        """Return the peer that talks to the agent on *line*; its owner runs it."""
        self._peer = Peer(
            line, self._hear, max_depth=ACP_DEPTH, lenient=True, outbox=Outbox.patient()
        )
        return self._peer

    async def open(self, cwd: str, known_as: str | None) -> None:
        """Make the agent ready: for a new session, or for the one that it knows by *known_as*.

        Raises:
            RpcError: the agent refused.
            PeerGone: it ended first.
            TimeoutError: it did not answer.

        """
        answer = await self._peer.request(
            "initialize",
            {
                "protocolVersion": 1,
                "clientCapabilities": {"elicitation": {"form": {}}},
                "clientInfo": {"name": "hermes-gateway", "version": "0.1.0"},
            },
            timeout=OPENING_TIMEOUT,
        )
        where = {"cwd": cwd, "mcpServers": []}
        if known_as and await self._continue(answer, {"sessionId": known_as, **where}):
            self._foreign_id = known_as
            return
        opened = await self._peer.request("session/new", where, timeout=OPENING_TIMEOUT)
        self._foreign_id = _session_id_in(opened)
        if known_as:
            notice = "The agent was started anew and does not remember this session."
            await self._recording.append(self._session_id, Event.of("notice", {"message": notice}))

    async def prompt(self, content: Any, slot: Slot, *, waited: bool) -> None:
        """Give the agent a prompt, recorded at *slot*; return when its turn is over.

        Raises:
            PeerGone: the agent ended first; that its turn is over must then be recorded.

        """
        id_ = f"prompt-{slot.seq}"
        params = {"sessionId": self._foreign_id, "prompt": content}
        frame = dump(Request(id_, "session/prompt", params))
        self._say_of(frame, Remark(Note(prompt=slot, waited=waited)))
        try:
            await self._peer.request("session/prompt", params, id=id_)
        except RpcError as error:  # the log has it: prompt.finished carries the error
            log.info("%s: the agent refused prompt %s: %s", self._session_id, slot.seq, error)

    async def cancel(self, *, by: str, reason: str, withdrawing: str) -> None:
        """Stop the turn, and withdraw every question of it (P-31, P-37).

        *reason* says why the turn is stopped, *withdrawing* why its questions are (P-27). Returns once both are in the log and on their way to the agent.
        """
        params = {"sessionId": self._foreign_id}
        cancel = Remark(Note(members={"by": by, "reason": reason}))
        self._say_of(dump(Notification("session/cancel", params)), cancel)
        await self._peer.notify("session/cancel", params)
        recorded = tuple(self._recorder.open_requests.values())
        open_ = [item for id_ in recorded if (item := await self._question(id_))]
        withdrawn = [item for item in open_ if not item.settled.is_set()]
        for question in withdrawn:
            _settle(question, _withdrawn(question.method), Note(cancelled=withdrawing))
        for remark in (cancel, *(question.remark for question in withdrawn)):
            await remark.settled.wait()

    async def answer(self, request_id: str, answer: Any, *, by: str) -> bool:
        """Hand the agent what a client answered: a result, or an `RpcError`.

        Returns whether it was the first answer, and the agent there to hear it, once that is in
        the log.
        """
        question = await self._question(request_id)
        if question is None or question.settled.is_set():
            return False
        same = [
            other
            for other in self._questions.values()
            if other is question or (other.key is not None and other.key == question.key)
        ]
        for other in same:  # an agent that asks twice is answered twice, its user asked once
            _settle(other, answer, Note(members={"by": by}))
        await question.remark.settled.wait()
        return question.remark.recorded

    def lost(self) -> None:
        """Hear that the line is gone: what waits to be sent to the agent never will be."""
        self._gone = True
        self._wake()
        waiting = [remark for remarks in self._remarks.values() for remark in remarks]
        for remark in (*waiting, *(question.remark for question in self._questions.values())):
            remark.done(recorded=False)

    async def _continue(self, agent: Any, params: dict[str, Any]) -> bool:
        """Let the agent take up a session it knows, by the better of its ways (P-38)."""
        match agent:
            case {"agentCapabilities": dict(able)}:
                pass
            case _:
                able = {}
        more = able.get("sessionCapabilities") or {}
        ways = [("session/resume", "resume" in more), ("session/load", able.get("loadSession"))]
        for method, offered in ways:
            if offered:
                try:
                    await self._peer.request(method, params, timeout=OPENING_TIMEOUT)
                except RpcError as error:
                    log.info("%s: %s failed: %s", self._session_id, method, error)
                else:
                    return True
        return False

    async def _hear(self, call: Call) -> Any:
        match call:
            case Request(id_, method, params) if method in _ASKS_THE_USER:
                return await self._ask(id_, method, question_key(method, params))
            case Request(_, method):
                raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {method}")
        return None  # a notification is in the log, which is where clients read it

    async def _ask(self, id_: RequestId, method: str, key: Any) -> Any:
        request_id = self._recorder.open_requests[id_]
        question = self._questions[request_id] = Question(method, key)
        self._wake()
        await question.settled.wait()
        del self._questions[request_id]
        self._answered.add(request_id)
        if isinstance(question.answer, RpcError):
            self._say_of(dump(Failure(id_, question.answer)), question.remark)
            raise question.answer
        self._say_of(dump(Reply(id_, question.answer)), question.remark)
        return question.answer

    async def _question(self, request_id: str) -> Question | None:
        """Return a question that is in the log, once it has been heard here, too.

        Clients read it in the log, and may be quicker to answer than the agent's frame is to get
        from there to us. None: it has been answered, or the agent is gone.
        """
        while request_id not in self._questions:
            if self._gone or request_id in self._answered:
                return None
            await self._changed.wait()
        return self._questions[request_id]

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _say_of(self, frame: bytes, remark: Remark) -> None:
        self._remarks.setdefault(frame, []).append(remark)


def _settle(question: Question, answer: Any, note: Note) -> None:
    if not question.settled.is_set():
        question.answer = answer
        question.remark = Remark(note)
        question.settled.set()


def _withdrawn(method: str) -> Any:
    """Return ACP's answer to a question whose turn was cancelled."""
    if method == "elicitation/create":
        return {"action": "cancel"}
    return {"outcome": {"outcome": "cancelled"}}


def _session_id_in(opened: Any) -> str:
    match opened:
        case {"sessionId": str(id_)}:
            return id_
    raise RpcError(Code.INTERNAL_ERROR, "the agent's answer to session/new names no session")
