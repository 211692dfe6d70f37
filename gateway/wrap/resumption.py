"""A new line to a Hermes gateway goes on where the log stands (P-39, P-40).

Above this module: `upstream`. Below it: `standing`, `ahead`, the log.

If the gateway's process lives on, each session that it had is attached again and what was missed
is fetched; if it is another process, the old one's end is recorded, and the sessions that clients
follow are resumed in the new one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from secrets import token_hex
from typing import Any, Final

from eventlog import (
    Event,
    HermesRecorder,
    InvalidSessionId,
    Log,
    Question,
    Seq,
    SessionId,
    valid_session_id,
)
from gateway.errors import RpcError
from gateway.jsonrpc import Failure, Reply, RequestId, dump
from gateway.peer import Peer
from gateway.sessions import Sessions
from gateway.transports import Exit
from gateway.wrap.account import Account
from gateway.wrap.ahead import Ahead
from gateway.wrap.standing import Standing, source_of, standings

log = logging.getLogger("gateway")

RECENT: Final = 4096
"""Events at a session's end among which an answer is looked for that was lost on its way."""

STEP: Final = 120.0
"""Seconds that the gateway has for each thing that it is asked at the beginning."""


class Resumption:
    """Made anew for each line. Ask for the `recorder`, then `take_up`."""

    def __init__(self, events: Log, sessions: Sessions, scope: str) -> None:
        self.heads: dict[SessionId, Seq] = {}
        """Where the sessions stood when the line began."""
        self._log = events
        self._sessions = sessions
        self._scope = scope
        self._known: dict[str, SessionId] = {}
        self._taken: set[SessionId] = set()
        self._living: list[Standing] = []

    async def recorder(self, epoch: str) -> HermesRecorder:
        """Return a recorder that goes on with what the log holds; end what ended with *epoch*."""
        standing = await standings(self._log, self._scope)
        self._known = {item.stored or item.session_id: item.session_id for item in standing}
        held = frozenset(self._known.values())
        self._taken = {row.id for row in await self._log.sessions()} - held
        recorder = HermesRecorder(
            self._name,
            source_of(self._scope),
            scope=self._scope,
            opened={"protocol": "hermes"},
            known=self._known,
            has_history=held.__contains__,
        )
        for item in standing:
            if item.attached and item.epoch8 == epoch[:8]:
                self._living.append(item)
                await self._go_on(recorder, epoch, item)
            elif item.attached:
                gone = {"reason": "a new process of the gateway began"}
                await self._log.append(
                    item.session_id,
                    [Event.of("agent.exited", gone), *await self._withdrawn(item.session_id)],
                )
        return recorder

    def hold(self, ahead: Ahead) -> None:
        """Let events of what goes on wait for the answers that hold what came before them."""
        for number, item in enumerate(self._living):
            ahead.hold(item.runtime, f"since-{number}")

    async def take_up(self, peer: Peer, account: Account, followed: Collection[SessionId]) -> None:
        """Ask for what was missed, and attach this line to what goes on.

        Raises:
            PeerGone: the line broke.
            TimeoutError: there was no answer.

        """
        await _ask(peer, "client.capabilities", {"server_requests": True})
        living = {
            item.session_id
            for number, item in enumerate(self._living)
            if await self._catch_up(peer, account, f"since-{number}", item)
        }
        for stored, session_id in self._known.items():
            if session_id in followed and session_id not in living:
                await _ask(peer, "session.resume", {"session_id": stored})

    async def ended(self, account: Account, recorder: HermesRecorder, end: Exit) -> None:
        """Record that the gateway's process is gone, and with it whoever waits for answers."""
        sessions = dict.fromkeys(recorder.sessions.values())
        await account.ended({"signal": end.signal} if end.signal else {"code": end.code})
        for session_id in sessions:
            if events := await self._withdrawn(session_id):
                await account.append(session_id, *events)

    def _name(self, foreign_id: str, call: Mapping[str, Any]) -> SessionId:  # noqa: ARG002 - one of two that a recorder tells
        """Return the gateway's stored id as the durable one, if it can be one (P-22)."""
        try:
            session_id = valid_session_id(foreign_id)
        except InvalidSessionId:
            session_id = None
        if session_id is None or session_id in self._taken:
            return SessionId(f"s-{token_hex(6)}")
        return session_id

    async def _go_on(self, recorder: HermesRecorder, epoch: str, item: Standing) -> None:
        state = await self._sessions.state(item.session_id)
        self.heads[item.session_id] = state.seq
        questions = [
            *(
                Question(id_, method, {}, item.session_id, open=False)
                for id_, method in state.settled.items()
            ),
            *(
                Question(one.id, one.method, one.params, item.session_id, locked=dict(one.locked))
                for one in state.requests.values()
            ),
        ]
        recorder.go_on(epoch, item.runtime, item.session_id, item.highest, questions)

    async def _catch_up(self, peer: Peer, account: Account, asked: str, item: Standing) -> bool:
        """Fetch what a session's events were meanwhile; return whether it still goes on."""
        state = await self._sessions.state(item.session_id)
        opened, settled = frozenset(state.requests), frozenset(state.settled)
        named = {"session_id": item.runtime}
        attached = await _ask(peer, "session.activate", {**named, "omit_messages": True})
        since = {**named, "last_seen": item.highest}
        answer = await _ask(peer, "session.events.since", since, id_=asked)
        still = _ids(answer)
        if attached is None:
            told = {"reason": "the gateway no longer has this session"}
            await account.append(item.session_id, Event.of("agent.exited", told))
            still = frozenset()
        if answer is not None:
            for lost in still & settled:
                await self._say_again(peer, item.session_id, lost)
            over = opened - still
            if events := await self._withdrawn(item.session_id, over, reason="resolved"):
                await account.append(item.session_id, *events)
        return attached is not None

    async def _say_again(self, peer: Peer, session_id: SessionId, request_id: str) -> None:
        """Send an answer that was recorded and, as it turns out, never heard."""
        head = (await self._log.read(session_id, limit=0)).head
        page = await self._log.read(session_id, after=max(0, head - RECENT))
        while page.body:
            for envelope in page.envelopes():
                payload = envelope["payload"]
                if envelope["type"] == "request.answered" and payload.get("id") == request_id:
                    if answer := _answer(payload):
                        await peer.send_raw(dump(answer))
                    return
            page = await self._log.read(session_id, after=page.next)

    async def _withdrawn(
        self,
        session_id: SessionId,
        only: frozenset[str] | None = None,
        *,
        reason: str = "agent_gone",
    ) -> list[Event]:
        """Return the events that withdraw questions for whose answers nobody waits."""
        state = await self._sessions.state(session_id)
        return [
            Event.of("request.cancel", {"id": item.id, "method": item.method, "reason": reason})
            for item in state.requests.values()
            if only is None or item.id in only
        ]


async def _ask(
    peer: Peer, method: str, params: dict[str, Any], *, id_: RequestId | None = None
) -> Any:
    """Return the answer, or None if the gateway refused."""
    try:
        return await peer.request(method, params, id=id_, timeout=STEP)
    except RpcError as error:
        log.info("the gateway refused %s: %s", method, error)
        return None


def _ids(answer: Any) -> frozenset[str]:
    match answer:
        case {"open_requests": list(items)}:
            return frozenset(str(item.get("id")) for item in items if isinstance(item, dict))
    return frozenset()


def _answer(payload: Mapping[str, Any]) -> Reply | Failure | None:
    """Return the answer that `request.answered` tells of; None if it is not recorded (P-33)."""
    match payload:
        case {"id": str(id_), "error": {"code": int(code), **rest}}:
            return Failure(id_, RpcError(code, str(rest.get("message", "")), rest.get("data")))
        case {"id": str(id_), "result": result}:
            return Reply(id_, result)
    return None
