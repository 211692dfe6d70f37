"""What may be larger than a message: large strings, kept states; stored in pieces.

Above this module: `reader`, `writer`, `keeping`, `pruning`. Below it: `link`, `look`.

Pieces are stored before the message that says they are there, so that it is never wrong. What
was stored and never referred to goes with its session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from eventlog.jetstream.codes import WRONG_SEQUENCE
from eventlog.jetstream.link import Link, Message, Refused, Silent, answered
from eventlog.jetstream.look import Looks
from eventlog.jetstream.publishing import Outgoing
from eventlog.jetstream.stored import EXPECTED, ROLLUP
from eventlog.jetstream.timing import until

SIZE: Final = 512 * 1024
"""Bytes of a piece; a server takes messages of 1 MiB if nobody says otherwise."""

_TOGETHER: Final = 8
_AGAIN: Final = 0.25

Name = Callable[[int], str]
"""Returns the subject of a piece."""


class Pieces:
    """Stores and fetches what is in pieces."""

    def __init__(self, link: Link, looks: Looks) -> None:
        self._link = link
        self._looks = looks

    async def put(self, name: Name, body: bytes) -> int:
        """Store *body*; return in how many pieces.

        Raises:
            LogUnavailable: it could not be stored within the deadline.

        """
        parts = [body[start : start + SIZE] for start in range(0, len(body), SIZE)] or [b""]
        for number, part in enumerate(parts):
            await self.store(name(number), part)
        return len(parts)

    async def store(self, subject: str, body: bytes) -> int:
        """Store one message in the place of what was there; again if need be.

        Raises:
            LogUnavailable: it could not be stored within the deadline.

        """
        end = until(self._link.address.deadline)
        while True:
            try:
                answer = await self._link.ask(subject, body, headers={ROLLUP: "sub"})
                return int(answered(answer.data)["seq"])
            except (Silent, Refused) as error:
                if anyio.current_time() > end:
                    raise self._link.unavailable(f"it cannot be written: {error}") from None
            await anyio.sleep(_AGAIN)

    async def ensure(self, subject: str) -> None:
        """Store an empty message where there is none.

        Raises:
            LogUnavailable: it could not be stored within the deadline.

        """
        try:
            answer = await self._link.ask(subject, headers={EXPECTED: "0"})
            answered(answer.data)
        except Silent:
            await self.store(subject, b"")
        except Refused as refused:
            if refused.code not in WRONG_SEQUENCE:
                await self.store(subject, b"")

    async def replace(self, message: Outgoing) -> int | None:
        """Store a message that says what it follows; None if something else does.

        Raises:
            LogUnavailable: whether it is stored is not known.

        """
        end = until(self._link.address.deadline)
        while True:
            try:
                answer = await self._link.ask(
                    message.subject, message.body, headers=message.headers
                )
                return int(answered(answer.data)["seq"])
            except (Silent, Refused) as error:
                if isinstance(error, Refused) and error.code in WRONG_SEQUENCE:
                    last = await self._last(message.subject)
                    # whoever says so without a majority may be wrong: nothing follows yet
                    if last is None or str(last.seq) != message.headers[EXPECTED]:
                        return last.seq if last and _same(last, message) else None
                if anyio.current_time() > end:
                    raise self._link.unavailable(f"it cannot be written: {error}") from None
            await anyio.sleep(_AGAIN)

    async def _last(self, subject: str) -> Message | None:
        due = await self._looks.now()
        return next(iter((await self._looks.latest([subject], due)).messages), None)

    async def get(self, name: Name, count: int, due: int, *, first: int = 0) -> bytes | None:
        """Return pieces *first* to *count*, as of *due*; None if one is not there.

        Raises:
            LogUnavailable: no server that has come as far answers within the deadline.

        """
        found: list[bytes] = []
        for start in range(first, count, _TOGETHER):
            subjects = [name(number) for number in range(start, min(start + _TOGETHER, count))]
            some = await self._looks.latest(subjects, due)
            bodies = {one.subject: one.body for one in some.messages}
            if len(bodies) < len(subjects):
                return None
            found += (bodies[subject] for subject in subjects)
        return b"".join(found)

    async def purge(self, subject: str, *, before: int | None = None) -> None:
        """Remove all messages of *subject*, or those with smaller numbers in the stream.

        Raises:
            LogUnavailable: it could not be removed within the deadline.

        """
        end = until(self._link.address.deadline)
        wanted = {"filter": subject} | ({} if before is None else {"seq": before})
        while True:
            try:
                await self._link.api(f"STREAM.PURGE.{self._link.stream}", wanted)
            except (Silent, Refused) as error:
                if anyio.current_time() > end:
                    raise self._link.unavailable(f"it cannot be removed: {error}") from None
            else:
                return
            await anyio.sleep(_AGAIN)

    async def subjects(self, wanted: str) -> list[str]:
        """Return the subjects that *wanted* stands for, of which there are messages.

        Raises:
            LogUnavailable: nobody says so who knows what a majority has.

        """
        due = await self._looks.now()
        end = until(self._link.address.deadline)
        found: list[str] = []
        while True:
            body = {"subjects_filter": wanted, "offset": len(found)}
            try:
                answer = await self._link.api(f"STREAM.INFO.{self._link.stream}", body)
            except (Silent, Refused) as error:
                reason = str(error)
            else:
                reason = "its leader does not know what a majority has"
                if int(answer["state"]["last_seq"]) >= due:
                    some = answer["state"].get("subjects") or {}
                    found += some
                    if not some or len(found) >= int(answer.get("total", 0)):
                        return found
                    continue
            if anyio.current_time() > end:
                raise self._link.unavailable(f"it cannot be read: {reason}")
            await anyio.sleep(_AGAIN)


def _same(found: Message, sent: Outgoing) -> bool:
    """Whether a message is one that was sent, though its answer was lost."""
    return found.body == sent.body and found.headers.get(EXPECTED) == sent.headers[EXPECTED]
