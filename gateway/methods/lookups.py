"""Small methods about sessions: titles, lists, history, use (protocol §5).

Above this module: the table of methods. Below it: the log; what is told is computed from it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import anyio.to_thread

from eventlog import Event, SessionId, SessionRow
from gateway.contracts import (
    SessionActiveList,
    SessionEventsStats,
    SessionHistory,
    SessionMostRecent,
    SessionStatus,
    SessionTitle,
    SessionUsage,
)
from gateway.errors import Code, RpcError
from gateway.hermes_view import rows_of, usage_of
from gateway.methods.call import Call

NO_LIMIT: Final = 2**53 - 1
"""What stands for no limit where Hermes has one."""


async def active_list(call: Call, params: SessionActiveList) -> Any:
    """Return the live sessions, the one of the newest event first, with what each does (R075)."""
    current = params.current_session_id
    rows = [
        await _active(call, session_id, current=session_id == current)
        for session_id in tuple(call.sessions.live)
    ]
    return {"sessions": sorted(rows, key=lambda row: -row["last_active"])}


async def most_recent(call: Call, _: SessionMostRecent) -> Any:
    """Name the session of the newest event, if there is any."""
    for row in await call.log.sessions(limit=1):
        started = row.created / 1e6
        told = {"title": row.title or "", "started_at": started, "source": source_of(row)}
        return {"session_id": row.id, **told}
    return {"session_id": None}


async def title(call: Call, params: SessionTitle) -> Any:
    """Return the title of a session, after changing it if one is given."""
    session_id = await call.conversation(params.session_id)
    if params.title is None:
        row = await call.log.session(session_id)
        return {"title": (row and row.title) or "", "session_key": session_id}
    wanted = params.title.strip()
    if not wanted:
        told = {"path": "title", "session_id": session_id}
        raise RpcError(Code.BAD_ARGUMENT, "a title needs a character", told)
    event = Event.of("session.title", {"session_id": session_id, "title": wanted})
    async with call.sessions.ownership.writing(session_id):
        await call.log.append(session_id, [event])
    return {"title": wanted, "session_key": session_id, "pending": False}


async def history(call: Call, params: SessionHistory) -> Any:
    """Return the conversation as rows, as of the newest event."""
    session_id = await call.session(params.session_id)
    transcript = await call.gateway.transcripts.at(session_id)
    rows = await anyio.to_thread.run_sync(rows_of, transcript)
    return {"count": len(rows.messages), "messages": rows.messages}


async def usage(call: Call, params: SessionUsage) -> Any:
    """Return what a session has used."""
    session_id = await call.session(params.session_id)
    return usage_of(await call.gateway.transcripts.at(session_id))


async def status(call: Call, params: SessionStatus) -> Any:
    """Describe a session in a few lines. Times are in UTC."""
    session_id = await call.session(params.session_id)
    transcript = await call.gateway.transcripts.at(session_id)
    info, used = transcript.info, usage_of(transcript)
    named = " ".join(filter(None, (info.agent or info.name, info.agent_version)))
    lines = {
        "Session ID": session_id,
        "Path": info.cwd,
        "Title": transcript.title,
        "Agent": named,
        "Model": " ".join(
            filter(None, (info.model, f"({info.provider})" if info.provider else ""))
        ),
        "Created": _minute(transcript.t0),
        "Last Activity": _minute(transcript.t1),
        "Tokens": f"{used['total']:,}",
        "Agent Running": "Yes" if rows_of(transcript).running else "No",
    }
    told = [f"{name}: {value}" for name, value in lines.items() if value]
    return {"output": "\n".join(["Session status", "", *told])}


async def stats(call: Call, _: SessionEventsStats) -> Any:
    """Count what the log holds; it has none of the limits that Hermes's ring has."""
    rows = await call.log.sessions()
    return {
        "sessions": len(rows),
        "events": sum(row.head - row.floor for row in rows),
        "bytes": await call.log.size(),
        "max_per_session": NO_LIMIT,
        "max_bytes_per_session": NO_LIMIT,
        "max_bytes_process": NO_LIMIT,
    }


def source_of(row: SessionRow) -> str:
    """Return how a session came into the log."""
    match row.opened:
        case {"source": {"kind": str(kind)}}:
            return kind
    return "unknown"


async def _active(call: Call, session_id: SessionId, *, current: bool) -> dict[str, Any]:
    state = await call.sessions.state(session_id)
    known = await call.gateway.overviews.of(session_id, state.seq)
    return {
        "id": session_id,
        "session_key": session_id,
        "current": current,
        "title": known.title,
        "model": known.model,
        "preview": " ".join(known.preview.split()),
        "message_count": known.messages,
        "started_at": known.began / 1e6,
        "last_active": known.latest / 1e6,
        "status": "waiting" if state.requests else "working" if state.running else "idle",
    }


def _minute(ts: int) -> str:
    return datetime.fromtimestamp(ts / 1e6, UTC).strftime("%Y-%m-%d %H:%M")
