"""Storing messages of a session, one or several all or none, until it is known whether they are.

Above this module: `writer`, `leases`, `pruning`. Below it: `link`, `look`, `stored`.

Every message that moves a session's end says which one it follows; the servers refuse it if
another has come. Where no answer came, what follows that one says what happened: if it is the
message it is stored; if nothing has come it is sent again, saying the same, so that it can be
stored once at most; if something else has come it never will be. A refusal is looked at in the
same way: who says it may not know that others have replaced it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final
from uuid import uuid4

import anyio

from eventlog.errors import LogUnavailable
from eventlog.jetstream.codes import FULL, WRONG_SEQUENCE
from eventlog.jetstream.link import Link, Refused, Silent, answered
from eventlog.jetstream.look import Looks
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import CRC, EXPECTED, FIRST, LAST, WRITER
from eventlog.jetstream.timing import until

MOST: Final = 1_000
"""Messages that a server stores all or none."""

_BATCH: Final = "Nats-Batch-Id"
_NUMBER: Final = "Nats-Batch-Sequence"
_COMMIT: Final = "Nats-Batch-Commit"

_DUPLICATE: Final = 10201
_TOO_LARGE: Final = {10054, 10199}

_SOON: Final = 1.0
"""Seconds until such an answer counts: it may be of one server that leads no more."""

_AGAIN: Final = 0.1
"""Seconds until what was not answered is looked at, and sent again."""


_HEADERS: Final = 4_096
"""Bytes, more than headers ever take: adding them up would be felt."""


class Conflict(Exception):
    """Something else has been stored: a session's end, or something beside it, has moved."""


@dataclass(slots=True)
class Outgoing:
    """A message to be stored."""

    subject: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def follows(self, at: int) -> Outgoing:
        """Let it be stored only if *at* is the stream's number of its subject's last message."""
        self.headers[EXPECTED] = str(at)
        return self


class Publisher:
    """Stores messages."""

    def __init__(self, link: Link, looks: Looks) -> None:
        self._link = link
        self._looks = looks

    async def publish(self, session: Session, messages: Sequence[Outgoing]) -> int:
        """Store *messages*, all or none; return the stream's number of the last of them.

        The last one is of the session's events, after what is known of these.

        Raises:
            Conflict: nothing was stored, and never will be.
            LogUnavailable: whether it was stored is not known, or it cannot be.

        """
        try:
            stored = await self._attempt(messages)
        except (_Elsewhere, Refused, Silent) as problem:
            with self._link.in_time("it cannot be written: no server has answered"):
                return await self._insist(session, messages, problem)
        self._link.served()
        return stored

    async def _insist(
        self, session: Session, messages: Sequence[Outgoing], problem: Exception
    ) -> int:
        """Find out what became of *messages*, and send them again until that is known."""
        begun, end = anyio.current_time(), until()
        before = _followed(messages)
        pending = False
        while True:
            if isinstance(problem, Silent):
                pending = True
                await self._link.useless()
            if (at := await self._settle(session, messages, before)) is not None:
                return at
            # what stands beside them may have moved, if nothing that was sent is under way
            beside = isinstance(problem, _Elsewhere) and len(messages) > 1 and not pending
            if session.end_at != before or beside:
                raise Conflict
            full = isinstance(problem, Refused) and problem.code in FULL
            if anyio.current_time() > min(end, begun + (_SOON if full else inf)):
                raise self._link.unavailable(f"it cannot be written at present: {problem}")
            await anyio.sleep(_AGAIN)
            try:
                return await self._attempt(messages)
            except (_Elsewhere, Refused, Silent) as again:
                problem = again

    async def _settle(
        self, session: Session, messages: Sequence[Outgoing], before: int
    ) -> int | None:
        """Look what follows; return where the last of *messages* is, if they do."""
        await self._looks.fresh(session)
        if session.end_at <= before:
            return None
        events = [one for one in messages if one.subject == messages[-1].subject]
        found = await self._looks.following(events[0].subject, before)
        sent = events[0].headers
        if any(found.headers.get(key) != sent[key] for key in (WRITER, FIRST, LAST, CRC)):
            return None
        return found.seq + len(events) - 1  # what is stored all or none stands together

    async def _attempt(self, messages: Sequence[Outgoing]) -> int:
        try:
            if len(messages) > 1:
                async with self._link.together:
                    found = answered(await self._all(messages))
            else:
                found = answered(await self._one(messages[0]))
        except Refused as refused:
            if refused.code in WRONG_SEQUENCE or refused.code == _DUPLICATE:
                raise _Elsewhere(str(refused)) from None
            if refused.code in _TOO_LARGE:
                raise self._too_large(str(refused)) from None
            raise
        if found.get("duplicate"):
            raise _Elsewhere("a message of the same id is there")
        return int(found["seq"])

    async def _one(self, message: Outgoing) -> bytes:
        self._check(message)
        answer = await self._link.ask(message.subject, message.body, headers=message.headers)
        return bytes(answer.data)

    async def _all(self, messages: Sequence[Outgoing]) -> bytes:
        """Send messages as a batch of the server's; return the answer to the last."""
        if len(messages) > MOST:
            raise self._too_large(f"{len(messages)} messages, {MOST} are possible")
        id_ = uuid4().hex
        for number, message in enumerate(messages, 1):
            self._check(message)
            headers = {**message.headers, _BATCH: id_, _NUMBER: str(number)}
            if number == len(messages):
                headers[_COMMIT] = "1"
            if number in {1, len(messages)}:
                answer = await self._link.ask(message.subject, message.body, headers=headers)
                if answer.data and number == 1:
                    return bytes(answer.data)
            else:
                await self._link.tell(message.subject, message.body, headers)
        return bytes(answer.data)

    def _check(self, message: Outgoing) -> None:
        if len(message.body) + _HEADERS < self._link.largest:
            return
        size = len(message.body) + sum(
            len(key) + len(text) for key, text in message.headers.items()
        )
        if size + 512 > self._link.largest:
            raise self._too_large(f"{size} bytes")

    def _too_large(self, reason: str) -> LogUnavailable:
        return self._link.unavailable(
            f"an append is too large for the servers ({reason}); raise their max_payload"
            f" ({self._link.largest} bytes), or append less at a time"
        )


def _followed(messages: Sequence[Outgoing]) -> int:
    """Return what the first message of the session's events is to follow."""
    events = messages[-1].subject
    return next(int(one.headers[EXPECTED]) for one in messages if one.subject == events)


class _Elsewhere(Exception):
    """The servers say that something follows what these messages should follow."""
