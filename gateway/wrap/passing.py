"""A client's call on its way to a Hermes gateway and back: only session ids are translated (P-22).

Above this module: `front`. Below it: `upstream`, the log.

Ids are translated where the contract has them: `session_id` and `parent_session_id` of a call,
`session_id` of its answer and of the questions in it. Ids inside payloads are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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

BY_STORED_ID: Final = frozenset(
    {"session.resume", "session.delete", "session.archive", "session.set_hidden"}
)
"""Calls whose `session_id` is the id under which the gateway keeps a session."""


async def told_to(upstream: Upstream, call: Call, told: Notification) -> None:
    """Pass on what a client tells without asking."""
    _, params = await _inward(upstream, call, told)
    await upstream.tell(told.method, params)


async def pass_on(upstream: Upstream, call: Call, asked: Request) -> Any:
    """Let the gateway answer a call; attach the client if the call does.

    Raises:
        RpcError: the gateway refused, or is not there.

    """
    session_id, params = await _inward(upstream, call, asked)
    if asked.method in ATTACHING:
        return await _attach(upstream, call, asked.method, params, session_id)
    attachment = None
    if asked.method == "prompt.submit" and session_id and not call.client.follows(session_id):
        head = (await call.sessions.state(session_id)).seq
        attachment = await call.client.attachment(session_id, head, history=False)
    result, _ = await upstream.call(asked.method, params, by=call.client.name)
    told = _outward(upstream, result)
    return Answer(told, lambda: call.client.go(attachment)) if attachment else told


async def _attach(
    upstream: Upstream, call: Call, method: str, params: dict[str, Any], named: SessionId | None
) -> Any:
    """Ask for a snapshot, and go on behind it: nothing is missed, and nothing comes twice."""
    paused = [item for item in [await _pause(call, named)] if item]
    try:
        result, heads = await upstream.call(method, params, by=call.client.name)
        session_id = _session_in(upstream, result)
        if session_id and session_id != named:
            paused += [item for item in [await _pause(call, session_id)] if item]
        if session_id is None:
            return Answer(_outward(upstream, result), lambda: _go(call, paused))
        seq = heads.get(session_id, Seq(0))
        attachment = next((item for item in paused if item.session_id == session_id), None)
        if attachment is None:
            attachment = await call.client.attachment(session_id, seq, history=False)
            paused.append(attachment)
        await attachment.advance(seq)
    except BaseException:
        _go(call, paused)
        raise
    told = _snapshot(call, session_id, result, attachment.position)
    return Answer(told, lambda: _go(call, paused))


async def _pause(call: Call, session_id: SessionId | None) -> Attachment | None:
    return await call.client.pause(session_id) if session_id else None


def _go(call: Call, attachments: list[Attachment]) -> None:
    for attachment in attachments:
        call.client.go(attachment)


def _snapshot(
    call: Call, session_id: SessionId, result: Mapping[str, Any], seq: Seq
) -> dict[str, Any]:
    told = {
        **result,
        "session_id": session_id,
        "latest_seq": seq,
        "replay_epoch": call.log.epoch,
    }
    if isinstance(asked := result.get("open_requests"), list):
        told["open_requests"] = [_of_session(item, session_id) for item in asked]
        ids = [str(item.get("id")) for item in asked if isinstance(item, dict)]
        call.client.asked_in_answer(session_id, ids)
    return told


def _of_session(item: Any, session_id: SessionId) -> Any:
    match item:
        case {"params": dict(params)}:
            return {**item, "params": {**params, "session_id": session_id}}
    return item


async def _inward(
    upstream: Upstream, call: Call, frame: Request | Notification
) -> tuple[SessionId | None, dict[str, Any]]:
    """Return the session that a call is about, and its params as the gateway knows them."""
    params = dict(frame.params) if isinstance(frame.params, dict) else {}
    await upstream.introduced()
    session_id = None
    for key in ("session_id", "parent_session_id"):
        name = params.get(key)
        found = await _find(upstream, call, name) if isinstance(name, str) else None
        if found:
            stored = key != "session_id" or frame.method in BY_STORED_ID
            inner = upstream.stored_of(found) if stored else upstream.runtime_of(found)
            params[key] = inner or name
            session_id = found if key == "session_id" else session_id
    return session_id, params


async def _find(upstream: Upstream, call: Call, name: str) -> SessionId | None:
    """Return the session that a client means; None if that is for the gateway to say.

    Raises:
        RpcError: -32602, several sessions have this alias.

    """
    if session_id := upstream.session_of(name):
        return session_id
    try:
        found = await call.log.resolve(valid_session_id(name))
    except InvalidSessionId:  # a title, perhaps: `session.resume` takes one
        return None
    if len(found) > 1 and found[0] != name:
        told = {"path": "session_id", "candidates": list(found)}
        raise RpcError(Code.INVALID_PARAMS, f"{name} is an alias of {len(found)} sessions", told)
    return found[0] if found else None


def _session_in(upstream: Upstream, result: Any) -> SessionId | None:
    match result:
        case {"session_id": str(name)}:
            return upstream.session_of(name)
    return None


def _outward(upstream: Upstream, result: Any) -> Any:
    session_id = _session_in(upstream, result)
    return {**result, "session_id": session_id} if session_id else result
