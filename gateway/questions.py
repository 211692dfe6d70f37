"""Questions that the gateway itself asks: recorded, answered once, given up at their deadline.

Above this module: whoever needs a person. Below it: the log, which alone says how one ended.

An agent's questions are its host's (`host`); what both ask is a fold of the log (`state`), and
clients see no difference. A value that must not be recorded is handed over here, in memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from secrets import token_hex
from time import time_ns
from typing import Any, Final, Literal

import anyio

from eventlog import Event, EventStore, Page, SessionId, is_secret, parse, subscribe
from gateway.errors import RpcError

log = logging.getLogger("gateway")

_ENDS: Final = (b'"type":"request.answered"', b'"type":"request.cancel"')

Ending = Literal["answered", "refused", "cancelled"]


@dataclass(frozen=True, slots=True)
class Settled:
    """How a question ended: with a result, with an error, or withdrawn for *reason* (P-27)."""

    how: Ending
    result: Any = None
    error: RpcError | None = None
    reason: str | None = None
    locked: dict[str, Any] = field(default_factory=dict)
    """Answers that were settled one by one before it was withdrawn (P-30)."""


@dataclass(slots=True)
class _Asked:
    session_id: SessionId
    method: str
    answering: bool = False
    answer: Any = None


class Questions:
    """Asks on the gateway's own behalf. *clock* gives nanoseconds since the Unix epoch."""

    def __init__(self, events: EventStore, clock: Callable[[], int] = time_ns) -> None:
        self._log = events
        self._clock = clock
        self._asked: dict[str, _Asked] = {}

    async def ask(
        self,
        session_id: SessionId,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - it is recorded as the deadline
    ) -> Settled:
        """Ask every client that can show it; return how it ended. *timeout* is in seconds."""
        id_ = f"srq-{token_hex(6)}"
        asked = self._asked[id_] = _Asked(session_id, method)
        if method == "approval":
            params = {"request_id": id_, **params}  # Hermes's clients answer by this one
        opened: dict[str, Any] = {"id": id_, "method": method, "params": params}
        if timeout is not None:
            opened["deadline"] = self._clock() // 1000 + round(timeout * 1e6)
        try:
            span = await self._log.append(session_id, [Event.of("request.opened", opened)])
            async with anyio.create_task_group() as tasks:
                if timeout is not None:
                    tasks.start_soon(self._expire, id_, timeout)
                settled = await self._end(session_id, id_, span.last, asked)
                tasks.cancel_scope.cancel()
        finally:
            del self._asked[id_]
        return settled

    async def answer(self, request_id: str, said: Any, *, by: str) -> bool:
        """Take what a client said: a result, or an `RpcError`. Return whether it was the first."""
        asked = self._asked.get(request_id)
        if asked is None or asked.answering:
            return False
        asked.answering, asked.answer = True, said
        told: dict[str, Any] = {"id": request_id, "method": asked.method, "by": by}
        if is_secret(asked.method):
            told["redacted"] = True
        elif isinstance(said, RpcError):
            told["error"] = {"code": int(said.code), "message": said.message}
        else:
            told["result"] = said
        try:
            await self._log.append(asked.session_id, [Event.of("request.answered", told)])
        except BaseException:
            asked.answering, asked.answer = False, None  # nobody has answered yet
            raise
        return True

    async def withdraw(self, session_id: SessionId, reason: str) -> None:
        """End every question of a session that nobody has answered."""
        for id_, asked in tuple(self._asked.items()):
            if asked.session_id == session_id:
                await self._cancel(id_, reason)

    async def withdraw_all(self, reason: str) -> None:
        """End every question that nobody has answered."""
        for id_ in tuple(self._asked):
            await self._cancel(id_, reason)

    async def _expire(self, id_: str, seconds: float) -> None:
        await anyio.sleep(seconds)
        await self._cancel(id_, "timeout")

    async def _cancel(self, id_: str, reason: str) -> None:
        asked = self._asked.get(id_)
        if asked is None or asked.answering:
            return
        asked.answering = True
        cancel = {"id": id_, "method": asked.method, "reason": reason}
        try:
            await self._log.append(asked.session_id, [Event.of("request.cancel", cancel)])
        except BaseException:
            asked.answering = False
            raise

    async def _end(self, session_id: SessionId, id_: str, opened: int, asked: _Asked) -> Settled:
        """Return what the log says first of the end of the question."""
        locked: dict[str, Any] = {}
        pages = subscribe(self._log, session_id, after=opened)
        async with aclosing(pages):
            async for page in pages:
                for text in page.lines if isinstance(page, Page) else ():
                    if id_.encode() not in text:
                        continue
                    envelope = parse(text)
                    payload = envelope["payload"]
                    if payload.get("id") != id_:
                        continue
                    if envelope["type"] == "request.locked":
                        locked[str(payload.get("question_id"))] = payload.get("answer")
                    if envelope["type"] == "request.cancel":
                        return Settled("cancelled", reason=payload.get("reason"), locked=locked)
                    if envelope["type"] == "request.answered":
                        return _answered(asked.answer)
        raise AssertionError("a subscription has no end")


def _answered(said: Any) -> Settled:
    if isinstance(said, RpcError):
        return Settled("refused", error=said)
    return Settled("answered", result=said)
