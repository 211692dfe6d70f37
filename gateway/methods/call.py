"""What every method gets: who calls, and what the gateway has.

Above this module: the methods. Below it: connection, sessions, transcripts, the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from eventlog import GATEWAY, InvalidSessionId, Log, SessionId, valid_session_id
from gateway.connection import Connection
from gateway.errors import Code, RpcError
from gateway.hermes_view import Views, method_of, rows_of, shown
from gateway.overviews import Overviews
from gateway.peer import Answer
from gateway.sessions import Sessions
from gateway.state import SessionState
from gateway.transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Gateway:
    """What there is one of."""

    log: Log
    sessions: Sessions
    transcripts: Transcripts
    views: Views
    clients: set[Connection] = field(default_factory=set)
    """Who is connected."""
    overviews: Overviews = field(init=False)
    """What lists show."""

    def __post_init__(self) -> None:
        """Make what is made of the rest."""
        object.__setattr__(self, "overviews", Overviews(self.log, self.transcripts))

    def forget(self, session_id: SessionId) -> None:
        """Keep nothing of a session that was deleted."""
        self.transcripts.forget(session_id)
        self.overviews.forget(session_id)
        self.views.forget(session_id)


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way through the gateway."""

    gateway: Gateway
    client: Connection

    @property
    def sessions(self) -> Sessions:
        """Return what is live, and what is known of the rest."""
        return self.gateway.sessions

    @property
    def log(self) -> Log:
        """Return the log."""
        return self.gateway.log

    async def session(self, name: str) -> SessionId:
        """Return the session that a client means by its id or an alias (P-22, P-25).

        Raises:
            RpcError: it is no id, or there is no such session.

        """
        return await self.sessions.find(well_formed(name))

    async def conversation(self, name: str) -> SessionId:
        """Return the session that a client means, if it is one that people change.

        Raises:
            RpcError: as `session`; 4100, it is what belongs to no session (P-12).

        """
        found = await self.session(name)
        if found == GATEWAY:
            told = {"session_id": name}
            raise RpcError(Code.NOT_ALLOWED, f"{GATEWAY} holds what belongs to no session", told)
        return found

    async def durable(self, name: str) -> SessionId:
        """Return the session with this durable id; its events carry no other (P-22).

        Raises:
            RpcError: 4007, with the durable id if *name* is an alias of one.

        """
        found = await self.session(name)
        if found != name:
            raise RpcError(
                Code.SESSION_NOT_FOUND,
                f"{name} is an alias; events carry {found}",
                {"session_id": found},
            )
        return found

    async def snapshot(
        self, session_id: SessionId, *, omit_messages: bool = False, resumed: str | None = None
    ) -> Answer:
        """Attach the client, and answer with the session as of its place there (P-21)."""
        client = self.client
        async with client.places.held(session_id) as place:
            head = (await self.sessions.state(session_id)).seq
            attachment = place or await client.attachment(session_id, head, history=False)
            state = await self.sessions.state_at(session_id, attachment.position)
            result = {
                "session_id": session_id,
                "stored_session_id": session_id,
                "session_key": session_id,
                **({"resumed": resumed} if resumed else {}),
                "latest_seq": state.seq,
                "replay_epoch": self.log.epoch,
                **await self.rows(session_id, state.seq, omit_messages=omit_messages),
                "pending_approval": next(iter(approvals(state, session_id)), None),
                "open_requests": client.open_requests(state, session_id),
            }
            client.asked_in_answer(session_id, state.requests)
            attachment.listed.update(state.requests)
            return Answer(result, lambda: client.places.go(attachment))

    async def rows(
        self, session_id: SessionId, seq: int, *, omit_messages: bool = False
    ) -> dict[str, Any]:
        """Return what Hermes's answers hold of a session, as of *seq*."""
        transcript = await self.gateway.transcripts.at(session_id, seq)
        rows = await anyio.to_thread.run_sync(rows_of, transcript)
        return {
            "message_count": len(rows.messages),
            "messages": [] if omit_messages else rows.messages,
            "messages_omitted": omit_messages,
            "info": {**rows.info, "stored_session_id": session_id},
            "running": rows.running,
            "status": rows.status,
            "started_at": rows.started_at,
            "turn_started_at": rows.turn_started_at,
            "inflight": rows.inflight,
            "queued": rows.queued,
            "todo_state": rows.todo_state,
        }


def approvals(state: SessionState, session_id: SessionId) -> list[dict[str, Any]]:
    """Return what waits for approval, as Hermes lists it, oldest first."""
    found: list[dict[str, Any]] = []
    for request in state.requests.values():
        if method_of(request.method) == "approval" and not request.joins:
            seen = shown(request.id, request.method, request.frame_params(session_id))
            told = seen[1] if seen else {}
            found.append({"command": "", "description": "", "request_id": request.id, **told})
    return found


def well_formed(name: str) -> SessionId:
    """Return *name* as an id, before anything is looked up by it (P-25, R141).

    Raises:
        RpcError: -32602.

    """
    try:
        return valid_session_id(name)
    except InvalidSessionId as error:
        raise RpcError(Code.INVALID_PARAMS, str(error), {"path": "session_id"}) from None
