"""Talk to an ACP agent on behalf of one session (protocol §11).

Above this module: `live`, which decides when. Below it: `agent`, the process that it talks to.

Towards the agent the gateway is an ACP client. What the agent tells needs no attention here: it
is in the log by the time it is heard, and clients read it there. What it asks waits here until
somebody answers; what was asked, answered and withdrawn is in the log too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from eventlog import Event, Note, SessionId, Slot
from gateway.agent import Agent
from gateway.errors import Code, PeerGone, RpcError
from gateway.jsonrpc import Failure, Notification, Reply, Request, RequestId, dump
from gateway.past import Past
from gateway.recording import Remark
from gateway.state import question_key
from gateway.transports import HUNG_UP
from gateway.workspace import REQUEST_CANCELLED, Workspace

log = logging.getLogger("gateway")

LEAVING_TIMEOUT: Final = 2.0
"""Seconds that an agent has to close a session."""

_ASKS_THE_USER: Final = frozenset({"session/request_permission", "elicitation/create"})


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
    """One session of an agent. Prompts are the caller's to send one after the other."""

    def __init__(self, session_id: SessionId, agent: Agent) -> None:
        self.workspace = Workspace(None, None)
        """What the agent may use of this machine; nothing, until it is told."""
        self._session_id = session_id
        self._agent = agent
        self._questions: dict[str, Question] = {}
        self._answered: set[str] = set()
        self._changed = anyio.Event()
        self._gone = False
        self._foreign_id = ""

    async def open(self, cwd: str, past: Past) -> None:
        """Make the session ready: a new one, or the one that the agent knows.

        Raises:
            RpcError: the agent refused.
            CannotStart: there is no such program.
            PeerGone: it ended first.
            TimeoutError: it did not answer.

        """
        await self._agent.ready()
        where = {"cwd": cwd, "mcpServers": []}
        found = await self._taken_up(past, where)
        if found is None:
            history = past.recorded
            async with self._agent.opening(self._session_id, self, history=history):
                found = await self._begun(past, where)
        self._foreign_id = found
        self._agent.settle(found, self)

    async def leave(self, reason: str) -> None:
        """Let the agent go on without this session: close it, if the agent can.

        Raises:
            PeerGone: the agent has ended meanwhile.

        """
        await self.withdraw_all(reason)
        if self._foreign_id and self._agent.can("close"):
            params = {"sessionId": self._foreign_id}
            try:
                await self._agent.peer.request("session/close", params, timeout=LEAVING_TIMEOUT)
            except (RpcError, PeerGone, TimeoutError) as error:
                log.info("%s: session/close failed: %s", self._session_id, error)
        self._agent.leave(self._foreign_id)
        self.lost()

    async def set(self, method: str, params: dict[str, Any]) -> Any:
        """Set a mode, a model or an option; return the agent's answer.

        Raises:
            RpcError: the agent refused.
            PeerGone: it has ended.
            TimeoutError: it did not answer.

        """
        told = {"sessionId": self._foreign_id, **params}
        return await self._agent.peer.request(method, told, timeout=self._agent.spec.opening)

    async def prompt(self, content: Any, slot: Slot, *, waited: bool) -> None:
        """Give the agent a prompt, recorded at *slot*; return when its turn is over.

        Raises:
            PeerGone: the agent ended first; that its turn is over must then be recorded.

        """
        id_ = f"prompt-{self._session_id}-{slot.seq}"
        params = {"sessionId": self._foreign_id, "prompt": content}
        frame = dump(Request(id_, "session/prompt", params))
        self._agent.remark(frame, Remark(Note(prompt=slot, waited=waited)))
        try:
            await self._agent.peer.request("session/prompt", params, id=id_)
        except RpcError as error:  # the log has it: prompt.finished carries the error
            log.info("%s: the agent refused prompt %s: %s", self._session_id, slot.seq, error)

    async def cancel(self, *, by: str, reason: str, withdrawing: str) -> None:
        """Stop the turn, and withdraw every question of it (P-31, P-37).

        *reason* says why the turn is stopped, *withdrawing* why its questions are (P-27). Returns
        once both are in the log and on their way to the agent.
        """
        params = {"sessionId": self._foreign_id}
        cancel = Remark(Note(members={"by": by, "reason": reason}))
        self._agent.remark(dump(Notification("session/cancel", params)), cancel)
        await self._agent.peer.notify("session/cancel", params)
        await self.withdraw_all(withdrawing)
        await cancel.settled.wait()

    async def cancel_unrecorded(self, *, by: str, reason: str) -> None:
        """Stop the turn although that cannot be recorded yet; it will be, in its place (S-9)."""
        frame = dump(Notification("session/cancel", {"sessionId": self._foreign_id}))
        with suppress(*HUNG_UP):  # then its turn is over anyway
            await self._agent.line.send_unrecorded(
                frame, Note(members={"by": by, "reason": reason})
            )

    async def answer(self, request_id: str, answer: Any, *, by: str) -> bool:
        """Hand the agent what a client answered: a result, or an `RpcError`.

        Returns whether it was the first answer, and the agent there to hear it, once that is in
        the log.

        Raises:
            LogUnavailable: it was not taken, and the question is still open.

        """
        question = await self._question(request_id)
        if question is None or question.settled.is_set():
            return False
        self._agent.recording.check()
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
        """Hear that the line is gone: what was asked on it needs no answer any more."""
        self._gone = True
        self._wake()
        for question in self._questions.values():
            question.remark.done(recorded=False)

    async def hear(self, call: Request) -> Any:
        """Return the answer to what the agent asks: a person's, or this machine's."""
        if call.method in _ASKS_THE_USER:
            return await self._ask(call.id, call.method, question_key(call.method, call.params))
        return await self.workspace.answer(call)

    async def withdraw(self, id_: RequestId) -> None:
        """Withdraw what the agent takes back: it is answered that it was cancelled."""
        if self.workspace.take_back(id_):
            return
        recorded = self._agent.recorder.open_requests.get(id_)
        question = await self._question(recorded) if recorded else None
        if question:
            taken_back = RpcError(REQUEST_CANCELLED, "Request cancelled")
            _settle(question, taken_back, Note(cancelled="resolved"))

    async def withdraw_all(self, reason: str) -> None:
        """Withdraw every question of the session; return once that is in the log."""
        recorded = self._agent.questions_of(self)
        open_ = [item for id_ in recorded if (item := await self._question(id_))]
        withdrawn = [item for item in open_ if not item.settled.is_set()]
        for question in withdrawn:
            _settle(question, _withdrawn(question.method), Note(cancelled=reason))
        for question in withdrawn:
            await question.remark.settled.wait()

    async def _taken_up(self, past: Past, where: dict[str, Any]) -> str | None:
        """Let the agent take up what it knows, by the best of its ways (P-38); None: it cannot."""
        if past.known_as is None:
            return None
        with self._agent.taking_up(past.known_as, self._session_id, self):
            for method in self._ways():
                if await self._tried(method, past.known_as, where) is not None:
                    return past.known_as
        return None

    async def _begun(self, past: Past, where: dict[str, Any]) -> str:
        """Let the agent begin a session, with another's past if it is to have that and can."""
        if past.fork_of and self._agent.can("fork"):
            forked = await self._tried("session/fork", past.fork_of, where)
            if forked is not None:
                return _session_id_in(forked)
        opened = await self._agent.open("session/new", where, self._session_id)
        if past.recorded:
            await self._tell_forgotten()
        return _session_id_in(opened)

    async def _tried(self, method: str, foreign: str, where: dict[str, Any]) -> Any:
        """Return the answer; None: the agent refused."""
        params = {"sessionId": foreign, **where}
        try:
            return await self._agent.open(method, params, self._session_id) or {}
        except RpcError as error:
            log.info("%s: %s failed: %s", self._session_id, method, error)
            return None

    def _ways(self) -> Iterator[str]:
        if self._agent.can("resume"):
            yield "session/resume"
        if self._agent.capabilities.get("loadSession"):
            yield "session/load"

    async def _tell_forgotten(self) -> None:
        notice = "The agent was started anew and does not remember this session."
        event = Event.of("notice", {"message": notice})
        await self._agent.recording.append(self._session_id, event, asked=False)

    async def _ask(self, id_: RequestId, method: str, key: Any) -> Any:
        request_id = self._agent.recorder.open_requests[id_]
        question = self._questions[request_id] = Question(method, key)
        self._wake()
        await question.settled.wait()
        del self._questions[request_id]
        self._answered.add(request_id)
        if isinstance(question.answer, RpcError):
            self._agent.remark(dump(Failure(id_, question.answer)), question.remark)
            raise question.answer
        self._agent.remark(dump(Reply(id_, question.answer)), question.remark)
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
