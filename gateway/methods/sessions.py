"""Methods that start, list, resume and end sessions (protocol §5).

Above this module: the table of methods. Below it: sessions.
"""

from __future__ import annotations

from typing import Any

from eventlog import SessionRow
from gateway.contracts import (
    SessionActivate,
    SessionClose,
    SessionCreate,
    SessionInterrupt,
    SessionList,
    SessionResume,
)
from gateway.methods.call import Call
from gateway.peer import Answer

LIST_LIMIT = 200
"""Sessions that a list holds unless another number is asked for (as in Hermes)."""


async def create(call: Call, params: SessionCreate) -> Answer:
    """Start an agent for a new session, and attach the client to it."""
    live = await call.sessions.create(params.agent, params.cwd, params.title)
    return await call.snapshot(live.session_id)


async def resume(call: Call, params: SessionResume) -> Answer:
    """Make a session live again if it was hosted here, and attach the client to it."""
    session_id = await call.session(params.session_id)
    await call.sessions.resume(session_id)
    return await call.snapshot(session_id)


async def activate(call: Call, params: SessionActivate) -> Answer:
    """Attach the client to a live session."""
    session_id = await call.session(params.session_id)
    call.sessions.get_live(session_id)
    return await call.snapshot(session_id)


async def list_(call: Call, params: SessionList) -> Any:
    """Return the sessions, the one of the newest event first."""
    rows = await call.log.sessions(limit=params.limit or LIST_LIMIT)
    return {"sessions": [await _row(call, row) for row in rows]}


async def close(call: Call, params: SessionClose) -> Any:
    """End a live session; its log stays, and it can be resumed."""
    session_id = await call.session(params.session_id)
    return {"closed": await call.sessions.close(session_id), "messages": []}


async def interrupt(call: Call, params: SessionInterrupt) -> Any:
    """Stop the turn; its questions are withdrawn and the agent told before this is answered."""
    session_id = await call.session(params.session_id)
    live = call.sessions.get_live(session_id)
    stopped = await live.interrupt(by=call.client.name)
    return {"status": "interrupted" if stopped else "not_interrupted", "interrupted": stopped}


async def _row(call: Call, row: SessionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title or "",
        "preview": "",
        "started_at": row.created / 1e6,
        "last_active": row.updated / 1e6,
        "message_count": 0,
        "source": _source(row),
        "latest_seq": row.head,
        "status": await _status(call, row),
    }


def _source(row: SessionRow) -> str:
    match row.opened:
        case {"source": {"kind": str(kind)}}:
            return kind
    return "unknown"


async def _status(call: Call, row: SessionRow) -> str:
    """Return what a live session does, from the log alone (R075)."""
    if row.id not in call.sessions.live:
        return "dormant"
    state = await call.sessions.state(row.id)
    if state.requests:
        return "needs_input"
    return "running" if state.running else "idle"
