"""A client's call on its way to a Hermes gateway and back: only session ids are translated (P-22).

Above this module: `front`. Below it: `upstream`, the log.

Ids are translated where the contract has them: at the top of a call's params, `session_id` of its
answer and of the questions in it. Ids inside payloads are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio

from eventlog import InvalidSessionId, Seq, SessionId, valid_session_id
from gateway.attachment import Attachment
from gateway.errors import Code, RpcError
from gateway.jsonrpc import Notification, Request
from gateway.methods import Call
from gateway.peer import Answer
from gateway.wrap.upstream import Upstream

ATTACHING: Final = frozenset(
    {
        "session.create",
        "session.resume",
        "session.activate",
        "session.branch",
        "session.branch_stored",
        "session.branch_whole",
    }
)
"""Calls that attach the client to the session that their answer names (P-21)."""

RUNTIME_IDS: Final = ("session_id", "current_session_id")
"""Members of a call that name a session as the gateway's process knows it."""

STORED_IDS: Final = ("parent_session_id", "session_key")
"""Members of a call that name a session as the gateway keeps it."""

BY_STORED_ID: Final = frozenset(
    {"session.resume", "session.delete", "session.archive", "session.set_hidden"}
)
"""Calls whose `session_id` is the id under which the gateway keeps a session."""


class Passage:
    """One call of one client. Calls leave in the order in which they came.

    What has to be found out before a call leaves takes longer for one than for another: *queue* is
    the client's, and a call holds it until it leaves.
    """

    def __init__(self, upstream: Upstream, call: Call, queue: anyio.Lock) -> None:
        self._upstream = upstream
        self._call = call
        self._client = call.client
        self._queue = queue

    async def tell(self, told: Notification) -> None:
        """Pass on what a client tells without asking."""
        async with self._queue:
            _, params = await self._inward(told)
            await self._upstream.tell(told.method, params)

    async def ask(self, asked: Request) -> Any:
        """Let the gateway answer a call; attach the client if the call does.

        Raises:
            RpcError: the gateway refused, or is not there.

        """
        await self._queue.acquire()
        try:
            session_id, params = await self._inward(asked)
            if asked.method in ATTACHING:
                return await self._attach(asked.method, params, session_id)
            if asked.method == "prompt.submit" and session_id:
                return await self._submit(params, session_id)
            result, _ = await self._send(asked.method, params)
            return self._outward(result)
        finally:
            self._leave()

    async def _send(
        self, method: str, params: dict[str, Any]
    ) -> tuple[Any, Mapping[SessionId, Seq]]:
        return await self._upstream.call(method, params, by=self._client.name, leaves=self._leave)

    def _leave(self) -> None:
        if self._queue.statistics().owner == anyio.get_current_task():
            self._queue.release()

    async def _submit(self, params: dict[str, Any], session_id: SessionId) -> Answer:
        """Pass a prompt on; attach the client if it is not attached yet."""
        client = self._client
        async with client.places.found(session_id) as new:
            attachment = None
            if new:
                head = (await self._call.sessions.state(session_id)).seq
                attachment = await client.attachment(session_id, head, history=False)
            result, _ = await self._send("prompt.submit", params)
            told = self._outward(result)
            return Answer(told, lambda: client.places.go(attachment) if attachment else None)

    async def _attach(self, method: str, params: dict[str, Any], named: SessionId | None) -> Answer:
        """Ask for a snapshot, and go on behind it: nothing is missed, and nothing comes twice."""
        if named is None:
            result, heads = await self._send(method, params)
        else:
            async with self._client.places.held(named) as place:
                result, heads = await self._send(method, params)
                if self._session_in(result) == named:
                    return await self._snapshot(named, result, heads, place)
                self._client.places.let_go(named, place)
        session_id = self._session_in(result)
        if session_id is None:
            return Answer(result, lambda: None)
        async with self._client.places.held(session_id) as place:
            return await self._snapshot(session_id, result, heads, place)

    async def _snapshot(
        self,
        session_id: SessionId,
        result: Mapping[str, Any],
        heads: Mapping[SessionId, Seq],
        place: Attachment | None,
    ) -> Answer:
        seq = heads.get(session_id, Seq(0))
        new = place or await self._client.attachment(session_id, seq, history=False)
        await new.advance(seq)
        told, listed = self._told(session_id, result, new.position)
        new.listed.update(listed)
        return Answer(told, lambda: self._client.places.go(new))

    def _told(
        self, session_id: SessionId, result: Mapping[str, Any], seq: Seq
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the answer as a client gets it, and the questions in it."""
        ids: list[str] = []
        told = {
            **result,
            "session_id": session_id,
            "latest_seq": seq,
            "replay_epoch": self._call.log.epoch,
        }
        if isinstance(asked := result.get("open_requests"), list):
            told["open_requests"] = [_of_session(item, session_id) for item in asked]
            ids = [str(item.get("id")) for item in asked if isinstance(item, dict)]
            self._client.asked_in_answer(session_id, ids)
        return told, ids

    async def _inward(
        self, frame: Request | Notification
    ) -> tuple[SessionId | None, dict[str, Any]]:
        """Return the session that a call is about, and its params as the gateway knows them."""
        params = dict(frame.params) if isinstance(frame.params, dict) else {}
        await self._upstream.introduced()
        session_id = None
        for key in (*RUNTIME_IDS, *STORED_IDS):
            name = params.get(key)
            found = await self._find(name) if isinstance(name, str) else None
            if found:
                stored = key in STORED_IDS or frame.method in BY_STORED_ID
                inner = self._upstream.stored_of if stored else self._upstream.runtime_of
                params[key] = inner(found) or name
                session_id = found if key == "session_id" else session_id
        return session_id, params

    async def _find(self, name: str) -> SessionId | None:
        """Return the session that a client means; None if that is for the gateway to say.

        Raises:
            RpcError: -32602, several sessions have this alias.

        """
        if session_id := self._upstream.session_of(name):
            return session_id
        try:
            found = await self._call.log.resolve(valid_session_id(name))
        except InvalidSessionId:  # a title, perhaps: `session.resume` takes one
            return None
        if len(found) > 1 and found[0] != name:
            told = {"path": "session_id", "candidates": list(found)}
            raise RpcError(
                Code.INVALID_PARAMS, f"{name} is an alias of {len(found)} sessions", told
            )
        return found[0] if found else None

    def _session_in(self, result: Any) -> SessionId | None:
        match result:
            case {"session_id": str(name)}:
                return self._upstream.session_of(name)
        return None

    def _outward(self, result: Any) -> Any:
        session_id = self._session_in(result)
        return {**result, "session_id": session_id} if session_id else result


def _of_session(item: Any, session_id: SessionId) -> Any:
    match item:
        case {"params": dict(params)}:
            return {**item, "params": {**params, "session_id": session_id}}
    return item
