"""What becomes of a client's answer to a question: it counts, it declines, or it comes too late.

Above this module: `connection`, methods. Below it: sessions, the log.

The first answer counts (P-28). What it settles is in the log before the asker hears of it; an
answer that settles nothing changes nothing, and is recorded as what it is. One that is no answer
to the question is declined, whoever gave it: the question waits for a better one (R077).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any, Final, Literal

from eventlog import GATEWAY, Event, Log, SessionId, WrongExpectedVersion, is_secret
from gateway.checking import check
from gateway.errors import Code, RpcError
from gateway.hermes_view import answer_of, lockable, method_of
from gateway.jsonrpc import Failure, Reply
from gateway.sessions import Sessions
from gateway.state import OpenRequest

log = logging.getLogger("gateway")

CANNOT_SHOW: Final = frozenset({int(Code.METHOD_NOT_FOUND), int(Code.NOT_SHOWN)})
"""Codes that say that this client cannot show the question, which waits for another (P-29)."""

TRIES: Final = 8
"""How often a lock is tried on top of what was looked at."""

Verdict = Literal["accepted", "declined", "malformed", "late"]


async def settle(
    sessions: Sessions,
    events: Log,
    session_id: SessionId,
    answer: Reply | Failure,
    *,
    by: str,
    acp: bool = True,
) -> Verdict:
    """Take an answer to a question of *session_id* from the client named *by*.

    *acp* is whether the client was asked in the agent's own words, or in Hermes's.
    """
    request_id = str(answer.id)
    state = await sessions.state(session_id)
    request = state.requests.get(request_id)
    if isinstance(answer, Failure) and answer.error.code in CANNOT_SHOW:
        if request:  # else it declines what is over: that is nobody's answer
            await _decline(sessions, events, session_id, request_id, answer.error.code, by=by)
        return "declined"
    said: Any = answer.error if isinstance(answer, Failure) else answer.result
    if request and isinstance(answer, Reply):
        try:
            said = _understood(request, said, acp=acp)
        except RpcError as error:
            log.info("%s: %s", by, error)
            await _decline(sessions, events, session_id, request_id, error.code, by=by)
            return "malformed"
    if request and await hand_over(sessions, session_id, request_id, said, by=by):
        return "accepted"
    method = request.method if request else state.settled.get(request_id)
    async with sessions.ownership.writing(session_id):
        await events.append(session_id, [late(request_id, method, answer, by)])
    return "late"


async def hand_over(
    sessions: Sessions, session_id: SessionId, request_id: str, said: Any, *, by: str
) -> bool:
    """Give the asker an answer; return whether it was the first, once that is in the log."""
    live = sessions.live.get(session_id)
    if live is not None and await live.host.answer(request_id, said, by=by):
        return True
    return await sessions.questions.answer(request_id, said, by=by)


async def lock(
    sessions: Sessions,
    events: Log,
    session_id: SessionId,
    request_id: str,
    chosen: tuple[str, Any],
    *,
    by: str,
) -> list[str] | None:
    """Lock one answer of a batch (P-30); return the questions left, or None: it is over.

    Raises:
        Fenced: the session is live on another gateway.
        RpcError: 4002, there is no such question; -32602, it is no answer to it.

    """
    for attempt in range(TRIES + 1):
        state = await sessions.state(session_id)
        request = state.requests.get(request_id)
        if request is None:
            return None
        known = _batch(request, chosen[0])
        _answer_to_batch(request, {chosen[0]: chosen[1]})
        told = {"id": request_id, "question_id": chosen[0], "answer": chosen[1], "by": by}
        # Only on top of what was looked at, so that no lock stands behind the request's end; in
        # a session that never rests it may, where it changes nothing.
        expected = state.seq if attempt < TRIES else None
        with suppress(WrongExpectedVersion):
            async with sessions.ownership.writing(session_id):
                locked = Event.of("request.locked", told)
                await events.append(session_id, [locked], expected=expected)
            break
    return await _settled_by_locks(sessions, session_id, request_id, known, by=by)


async def _settled_by_locks(
    sessions: Sessions, session_id: SessionId, request_id: str, known: list[str], *, by: str
) -> list[str]:
    """Answer a batch of which every question is locked; return those that are not."""
    request = (await sessions.state(session_id)).requests.get(request_id)
    left = [name for name in known if name not in request.locked] if request else []
    if request and not left:
        said = _answer_to_batch(request, request.locked)
        await hand_over(sessions, session_id, request_id, said, by=by)
    return left


async def approve(
    sessions: Sessions,
    session_id: SessionId,
    choice: str,
    *,
    only: str | None,
    every: bool,
    by: str,
) -> int:
    """Answer approvals: the one with the id *only*, else the oldest, or *every* one (P-31).

    Raises:
        Fenced: the session is live on another gateway.
        RpcError: -32602, an approval does not offer this choice.

    """
    await sessions.ownership.check(session_id)
    state = await sessions.state(session_id)
    waiting = [item for item in state.requests.values() if method_of(item.method) == "approval"]
    named = [item for item in waiting if only in (item.id, item.params.get("request_id"))]
    count = 0
    for request in waiting if every else named if only else waiting[:1]:
        said = answer_of(request.method, request.params, {"choice": choice})
        check(request, said)
        count += await hand_over(sessions, session_id, request.id, said, by=by)
    return count


def _batch(request: OpenRequest, question: str) -> list[str]:
    known = lockable(request.method, request.params)
    if known is None or question not in known:
        told = {"path": "question_id", "id": request.id}
        raise RpcError(Code.BAD_ARGUMENT, f"unknown question {question!r}", told)
    return known


async def foreign_answer(events: Log, request_id: str) -> None:
    """Record an answer to a question that this client was never asked, without its value."""
    if request_id.startswith("srq-"):
        await events.append(GATEWAY, [Event.of("request.late", {"id": request_id[:64]})])


def late(request_id: str, method: str | None, answer: Reply | Failure, by: str) -> Event:
    """Return the event of an answer that settles nothing; *method*: None if it is not known."""
    told: dict[str, Any] = {"id": request_id, "by": by}
    if method and not is_secret(method) and isinstance(answer, Reply):
        told["value"] = answer.result
    return Event.of("request.late", told)


def _understood(request: OpenRequest, said: Any, *, acp: bool) -> Any:
    """Return what the asker is answered: translated if need be, over what was locked, checked.

    Raises:
        RpcError: -32602, it is no answer to this question.

    """
    if request.locked and isinstance(said, dict) and isinstance(said.get("answers"), dict):
        said = {**said, "answers": {**request.locked, **said["answers"]}}
    if not acp:
        said = answer_of(request.method, request.params, said)
    check(request, said)
    return said


def _answer_to_batch(request: OpenRequest, answers: dict[str, Any]) -> Any:
    """Return the answer that *answers* are to the whole batch.

    Raises:
        RpcError: -32602, one of them is none.

    """
    said = answer_of(request.method, request.params, {"answers": dict(answers)})
    check(request, said)
    return said


async def _decline(
    sessions: Sessions, events: Log, session_id: SessionId, id_: str, code: int, *, by: str
) -> None:
    declined = {"id": id_, "code": int(code), "by": by}
    async with sessions.ownership.writing(session_id):
        await events.append(session_id, [Event.of("request.declined", declined)])
