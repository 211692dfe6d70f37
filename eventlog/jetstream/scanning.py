"""The last messages of many subjects at once, or all messages of one.

Above this module: `catalogue`, `leases`, `pruning`. Below it: `link`, `look`.

A consumer of the server's sends them. It may stand on a server that lags behind; it is believed
when it has come as far as the stream had when the scan began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import anyio
from nats.aio.msg import Msg

from eventlog.jetstream.link import ATTEMPT, Link, Message, Refused, Silent
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import Pieces
from eventlog.jetstream.subjects import Subjects
from eventlog.jetstream.timing import until

_AGAIN: Final = 0.2
_IDLE: Final = 30_000_000_000
"""Nanoseconds after which a server forgets a consumer that nobody listens to."""


class _Heard:
    """What a consumer has sent."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.seq = 0
        self.pending = -1
        self.news = anyio.Event()

    async def hear(self, message: Msg) -> None:
        """Take a message; its reply subject says where it stands, and how many follow."""
        if not message.reply.startswith("$JS.ACK."):
            return
        parts = message.reply.split(".")
        seq, pending = int(parts[-4]), int(parts[-1])
        self.messages.append(Message(message.subject, seq, message.headers or {}, message.data))
        self.seq, self.pending = seq, pending
        self.news.set()


class Scanner:
    """Scans a log."""

    def __init__(self, link: Link, looks: Looks, pieces: Pieces, *, lags: bool) -> None:
        self._link = link
        self._looks = looks
        self._pieces = pieces
        self._subjects = Subjects(link.stream)
        self._lags = lags
        """Whether there are servers that may lag behind."""

    async def last(self, subjects: Sequence[str], *, headers_only: bool = True) -> list[Message]:
        """Return the last message of every subject that *subjects* stand for.

        Raises:
            LogUnavailable: they could not be had within the deadline.

        """
        found = await self._scan(subjects, "last_per_subject", headers_only=headers_only)
        return list({one.subject: one for one in found}.values())

    async def all(self, subject: str) -> list[Message]:
        """Return every message of one subject, without bodies.

        Raises:
            LogUnavailable: they could not be had within the deadline.

        """
        return await self._scan([subject], "all", headers_only=True)

    async def _scan(
        self, subjects: Sequence[str], policy: str, *, headers_only: bool
    ) -> list[Message]:
        due = await self._looks.now()
        end = until(self._link.address.deadline)
        while True:
            try:
                found = await self._once(subjects, policy, due, headers_only=headers_only)
            except (Silent, Refused) as error:
                if anyio.current_time() > end:
                    raise self._link.unavailable(f"it cannot be read: {error}") from None
            else:
                return [one for one in found if one.subject != self._subjects.mark]
            await anyio.sleep(_AGAIN)

    async def _once(
        self, subjects: Sequence[str], policy: str, due: int, *, headers_only: bool
    ) -> list[Message]:
        inbox, heard = self._link.inbox(), _Heard()
        listening = await self._link.listen(inbox, heard.hear)
        name = ""
        try:
            config = self._config([*subjects, self._subjects.mark], policy, inbox)
            config["config"]["headers_only"] = headers_only
            made = await self._link.api(f"CONSUMER.CREATE.{self._link.stream}", config)
            name = made["name"]
            if heard.pending < 0:
                heard.pending = int(made["num_pending"])
            await self._until(heard, due)
        finally:
            with anyio.CancelScope(shield=True):
                await listening.unsubscribe()
                if name:
                    await self._drop(name)
        return heard.messages

    async def _until(self, heard: _Heard, due: int) -> None:
        """Wait until everything has come that the stream held at *due*."""
        marked = False
        while heard.pending or (self._lags and heard.seq < due):
            if not heard.pending and not marked:
                due = await self._pieces.store(self._subjects.mark, b"")
                marked = True
            if heard.news.is_set():
                heard.news = anyio.Event()
            with anyio.move_on_after(ATTEMPT) as waiting:
                await heard.news.wait()
            if waiting.cancelled_caught:
                raise Silent("a server has stopped sending")

    async def _drop(self, name: str) -> None:
        try:
            await self._link.api(f"CONSUMER.DELETE.{self._link.stream}.{name}")
        except (Silent, Refused):
            return  # the server forgets it by itself

    def _config(self, subjects: Sequence[str], policy: str, inbox: str) -> dict[str, Any]:
        return {
            "stream_name": self._link.stream,
            "config": {
                "deliver_policy": policy,
                "ack_policy": "none",
                "max_deliver": 1,
                "mem_storage": True,
                "num_replicas": 1,
                "deliver_subject": inbox,
                "filter_subjects": list(subjects),
                "inactive_threshold": _IDLE,
            },
        }
