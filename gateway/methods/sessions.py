"""Methods that start, list, resume and end sessions (protocol §5).

Above this module: the table of methods. Below it: sessions.
"""

from __future__ import annotations

from typing import Any

from eventlog import Event, SessionId, SessionRow, fork
from gateway.contracts import (
    SessionActivate,
    SessionBranch,
    SessionClose,
    SessionCreate,
    SessionDelete,
    SessionInterrupt,
    SessionList,
    SessionResume,
)
from gateway.errors import Code, RpcError
from gateway.forking import boundary, seq_of_row
from gateway.hermes_view import rows_of
from gateway.methods.call import Call
from gateway.methods.lookups import source_of
from gateway.overview import Overview
from gateway.peer import Answer
from replay import Transcript

LIST_LIMIT = 200
"""Sessions that a list holds unless another number is asked for (as in Hermes)."""


async def create(call: Call, params: SessionCreate) -> Answer:
    """Start an agent for a new session, and attach the client to it."""
    if params.messages:
        why = "an agent cannot be given a past; session.branch goes on from another session's"
        raise RpcError(Code.BAD_ARGUMENT, why, {"path": "messages"})
    live = await call.sessions.create(params.agent, params.cwd, params.title)
    return await call.snapshot(live.session_id)


async def resume(call: Call, params: SessionResume) -> Answer:
    """Make a session live again if it was hosted here, and attach the client to it."""
    session_id = await call.session(params.session_id)
    await call.sessions.resume(session_id)
    return await call.snapshot(
        session_id, omit_messages=params.omit_messages, resumed=params.session_id
    )


async def activate(call: Call, params: SessionActivate) -> Answer:
    """Attach the client to a live session."""
    session_id = await call.session(params.session_id)
    await call.sessions.get_live(session_id)
    return await call.snapshot(session_id, omit_messages=params.omit_messages)


async def list_(call: Call, params: SessionList) -> Any:
    """Return the sessions, the one of the newest event first."""
    rows = await call.log.sessions(limit=params.limit or LIST_LIMIT)
    known = await call.gateway.overviews.of_list(list(rows))
    return {"sessions": [{**await _row(call, row), **_shown(known.get(row.id))} for row in rows]}


async def close(call: Call, params: SessionClose) -> Any:
    """End a live session; its log stays, and it can be resumed."""
    session_id = await call.session(params.session_id)
    return {"closed": await call.sessions.close(session_id), "messages": []}


async def branch(call: Call, params: SessionBranch) -> Any:
    """Make a new session of the past of another; its agent, if it is ours, starts anew."""
    parent = await call.conversation(params.session_id)
    head = (await call.sessions.state(parent)).seq
    whole = await call.gateway.transcripts.at(parent, head)
    at = head if params.at_seq is None else params.at_seq
    if params.count is not None:
        at = seq_of_row(rows_of(whole).messages, params.count, head)
    if at > head:
        raise _nothing_to_branch(parent, f"at_seq is {at}, the head {head}", head)
    seq = boundary(whole, at)
    if seq < 1:
        raise _nothing_to_branch(parent, "there is nothing to branch before the first turn", head)
    child = call.sessions.new_id()
    title = params.name or f"{whole.title or 'Session'} (fork)"
    named = Event.of("session.title", {"session_id": child, "title": title})
    async with call.sessions.ownership.writing(child):
        await fork(call.log, parent, child, seq)
        await call.log.append(child, [named])
        await _start(call, child, await _fork_of(call, parent, whole, seq))
    rows = await call.rows(child, (await call.sessions.state(child)).seq)
    told = {key: rows[key] for key in ("message_count", "messages", "info")}
    return {
        "session_id": child,
        "stored_session_id": child,
        "title": title,
        "parent": parent,
        "forked_at": seq,
        **told,
    }


async def _fork_of(call: Call, parent: SessionId, whole: Transcript, seq: int) -> str | None:
    """Return by which id the agent knows all that stands up to *seq*, and nothing behind it."""
    state = await call.sessions.state(parent)
    if state.running or any(turn.started > seq for turn in whole.turns):
        return None
    return state.foreign_id


async def _start(call: Call, child: SessionId, fork_of: str | None) -> None:
    """Start the agent of a fork; the fork stays if that fails, and the error names it."""
    try:
        await call.sessions.resume(child, fork_of=fork_of)
    except RpcError as error:
        told = {**(error.data if isinstance(error.data, dict) else {}), "session_id": child}
        raise RpcError(error.code, f"forked as {child}, but {error.message}", told) from error


def _nothing_to_branch(parent: SessionId, why: str, head: int) -> RpcError:
    return RpcError(Code.BAD_ARGUMENT, why, {"session_id": parent, "path": "at_seq", "head": head})


async def delete(call: Call, params: SessionDelete) -> Any:
    """Delete a session; whoever follows it is told, and its id is never used again (P-20a)."""
    session_id = await call.session(params.session_id)
    await call.sessions.delete(session_id)
    call.gateway.forget(session_id)
    for client in tuple(call.gateway.clients):
        await client.bereave(session_id)
    return {"deleted": session_id}


async def interrupt(call: Call, params: SessionInterrupt) -> Any:
    """Stop the turn; its questions are withdrawn and the agent told before this is answered."""
    session_id = await call.session(params.session_id)
    live = await call.sessions.get_live(session_id)
    stopped = await live.interrupt(by=call.client.name)
    await call.sessions.questions.withdraw(session_id, "interrupted")
    return {"status": "interrupted" if stopped else "not_interrupted", "interrupted": stopped}


async def _row(call: Call, row: SessionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title or "",
        "started_at": row.created / 1e6,
        "last_active": row.updated / 1e6,
        "source": source_of(row),
        "latest_seq": row.head,
        **await _live(call, row),
    }


async def _live(call: Call, row: SessionRow) -> dict[str, Any]:
    """Return what a live session does, from the log alone (R075)."""
    owner = None
    if row.id not in call.sessions.live:
        owner = await call.sessions.ownership.owner(row.id)
        if owner is None:
            return {"status": "dormant"}
    state = await call.sessions.state(row.id)
    status = "needs_input" if state.requests else "running" if state.running else "idle"
    return {"status": status, "owner": owner} if owner else {"status": status}


def _shown(known: Overview | None) -> dict[str, Any]:
    """Return what was said in a session; nothing, if that takes longer than a list may."""
    if known is None:
        return {}
    return {"message_count": known.messages, "preview": " ".join(known.preview.split())}
