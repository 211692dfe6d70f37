"""What becomes of a client's answer to a question: it counts, it declines, or it comes too late.

Above this module: `connection`. Below it: sessions, the log.

The first answer counts (P-28). What it settles is in the log before the agent hears of it; an
answer that settles nothing changes nothing, and is recorded as what it is.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import GATEWAY, Event, Log, SessionId, is_secret
from gateway.errors import Code
from gateway.jsonrpc import Failure, Reply
from gateway.sessions import Sessions

CANNOT_SHOW: Final = frozenset({int(Code.METHOD_NOT_FOUND), int(Code.NOT_SHOWN)})
"""Codes that say that this client cannot show the question, which waits for another (P-29)."""


async def settle(
    sessions: Sessions, events: Log, session_id: SessionId, answer: Reply | Failure, *, by: str
) -> None:
    """Take an answer to a question of *session_id* from the client named *by*."""
    request_id = str(answer.id)
    state = await sessions.state(session_id)
    request = state.requests.get(request_id)
    live = sessions.live.get(session_id)
    if isinstance(answer, Failure) and answer.error.code in CANNOT_SHOW:
        if request:  # else it declines what is over: that is nobody's answer
            declined = {"id": request_id, "code": answer.error.code, "by": by}
            await events.append(session_id, [Event.of("request.declined", declined)])
        return
    said = answer.error if isinstance(answer, Failure) else answer.result
    if request is None or live is None or not await live.host.answer(request_id, said, by=by):
        method = request.method if request else state.settled.get(request_id)
        await events.append(session_id, [_late(request_id, method, answer, by)])


async def foreign_answer(events: Log, request_id: str) -> None:
    """Record an answer to a question that this client was never asked, without its value."""
    if request_id.startswith("srq-"):
        await events.append(GATEWAY, [Event.of("request.late", {"id": request_id[:64]})])


def _late(request_id: str, method: str | None, answer: Reply | Failure, by: str) -> Event:
    late: dict[str, Any] = {"id": request_id, "by": by}
    if method and not is_secret(method) and isinstance(answer, Reply):
        late["value"] = answer.result
    return Event.of("request.late", late)
