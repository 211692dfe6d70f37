"""Methods that answer questions: locks and approvals (P-30, P-31).

Above this module: the table of methods. Below it: answers, sessions.
"""

from __future__ import annotations

from typing import Any

from eventlog import SessionId
from gateway.answers import approve, lock
from gateway.contracts import ApprovalPending, ApprovalReceived, ApprovalRespond, ClarifyLock
from gateway.errors import Code, RpcError
from gateway.methods.call import Call, approvals

CHOICES = ("once", "session", "always", "deny")


async def lock_answer(call: Call, params: ClarifyLock) -> Any:
    """Settle one answer of a batch, until all are settled; then the request is answered."""
    request_id = params.request_id
    session_id = call.client.session_asked(request_id) or await _session_of(call, request_id)
    if session_id is None:
        return {"status": "expired"}
    chosen = (params.question_id, params.answer)
    left = await lock(call.sessions, call.log, session_id, request_id, chosen, by=call.client.name)
    return {"status": "expired"} if left is None else {"status": "ok", "remaining": left}


async def respond(call: Call, params: ApprovalRespond) -> Any:
    """Answer an approval; without an id the oldest one. The default is the safe one."""
    session_id = await call.session(params.session_id)
    choice = params.choice or "deny"
    if choice not in CHOICES:
        known = ", ".join(CHOICES)
        told = {"path": "choice", "session_id": session_id}
        raise RpcError(Code.BAD_ARGUMENT, f"choice {choice!r} is none of {known}", told)
    count = await approve(
        call.sessions,
        session_id,
        choice,
        only=params.request_id,
        every=params.all is True,
        by=call.client.name,
    )
    return {"resolved": count}


async def pending(call: Call, params: ApprovalPending) -> Any:
    """Return the approvals that wait, oldest first."""
    session_id = await call.session(params.session_id)
    return {"approvals": approvals(await call.sessions.state(session_id), session_id)}


async def received(call: Call, params: ApprovalReceived) -> Any:
    """Hear that an approval is on a screen; return whether it still waits."""
    session_id = await call.session(params.session_id)
    state = await call.sessions.state(session_id)
    waiting = [item["request_id"] for item in approvals(state, session_id)]
    return {"acknowledged": params.request_id in waiting}


async def _session_of(call: Call, request_id: str) -> SessionId | None:
    """Return the live session in which a question is open: this client was not asked it here."""
    for session_id in tuple(call.sessions.live):
        if request_id in (await call.sessions.state(session_id)).requests:
            return session_id
    return None
