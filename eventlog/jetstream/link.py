"""The connection to the servers: ask, collect, listen; every failure is an error of the log.

Above this module: everything of this adapter. Below it: nats-py.

What is asked ends within a time limit. While a server is gone the client looks for another;
who listens is told when it has found one (`again`), because something may have been missed.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop, wait
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Final, NamedTuple

import anyio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from eventlog import codec
from eventlog.address import LogAddress
from eventlog.errors import LogUnavailable, Malformed
from eventlog.jetstream.connecting import Connection, connect
from eventlog.jetstream.timing import InTime, left, until

ATTEMPT: Final = 2.0
"""Seconds that one question may take; a server that is being cut off answers later, or never."""

_SOON: Final = 0.15
"""Seconds until another server is asked as well."""

TOGETHER: Final = 12
"""Batches of the server's that one process sends at a time; a stream takes 50 of all processes."""

ASKED: Final = 64
"""Questions for messages under way at once: of ten thousand none would be answered in time."""

_SETTLING: Final = 15.0
"""Seconds that a server is given before another is gone to: coming to one under load takes some."""

_USELESS: Final = 3.0
"""Seconds until another server is tried."""


class Refused(Exception):
    """The servers have answered that they will not."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("description", "refused")))
        self.status = int(error.get("code", 0))
        self.code = int(error.get("err_code", 0))


class Silent(Exception):
    """Nobody has answered: whether it was done is not known."""


class Message(NamedTuple):
    """One stored message."""

    subject: str
    seq: int
    headers: Mapping[str, str]
    body: bytes


class Collected(NamedTuple):
    """Messages that were asked for together."""

    messages: list[Message]
    as_of: int
    """Where the stream ended for who answered; 0 if that was not asked."""


class _Collecting:
    """Messages that one server sends, the first of those who were asked."""

    def __init__(self, first: Future[Collected]) -> None:
        self.messages: list[Message] = []
        self.first = first


class Link:
    """A connection, and one log's stream at its other end."""

    def __init__(self, client: Client, address: LogAddress) -> None:
        self._client = client
        self.address = address
        self.stream = address.name
        self._inbox = client.new_inbox()
        self._numbers = count()
        self._collecting: dict[str, _Collecting] = {}
        self.together = anyio.CapacityLimiter(TOGETHER)
        """Who may be sending messages that are stored all or none."""
        self._served = anyio.current_time()
        self._moved = self._served - _SETTLING
        self._few = anyio.Semaphore(ASKED, fast_acquire=True)
        self.again: list[Callable[[], None]] = []
        """Called when the connection is there again."""

    @property
    def largest(self) -> int:
        """Bytes that a message may have, with its headers."""
        return int(self._client.max_payload)

    @property
    def version(self) -> str:
        """The server's."""
        found = self._client.connected_server_version
        return f"{found.major}.{found.minor}.{found.patch}"

    @classmethod
    @asynccontextmanager
    async def open(cls, address: LogAddress) -> AsyncGenerator[Link, None]:
        """Connect to one of the servers.

        Raises:
            LogUnavailable: none can be reached, or they do not know who this is.

        """
        client = Connection()
        link: Link | None = None

        async def reconnected() -> None:
            for call in link.again if link else ():
                call()

        await connect(client, address, reconnected)
        try:
            link = cls(client, address)
            await client.subscribe(f"{link._inbox}.*", cb=link._collected)
            yield link
        finally:
            with anyio.CancelScope(shield=True), suppress(NatsError, OSError):
                await client.close()  # whom it would tell may be gone

    def served(self) -> None:
        """Note that the server has been of use."""
        self._served = anyio.current_time()

    async def useless(self) -> None:
        """Go to another server, if there is one: this one may be cut off and not know."""
        now = anyio.current_time()
        idle = now - max(self._served, self._moved) > _USELESS
        if len(self.address.servers) > 1 and idle and now - self._moved > _SETTLING:
            self._moved = now
            await self._client.force_reconnect()

    async def ask(
        self,
        subject: str,
        body: bytes = b"",
        *,
        headers: dict[str, str] | None = None,
        within: float = ATTEMPT,
    ) -> Msg:
        """Return the answer to one message.

        Raises:
            Silent: there was none in time.

        """
        try:
            return await self._client.request(subject, body, timeout=within, headers=headers)
        except NoRespondersError:
            raise Silent("nobody serves it at present") from None
        except (NatsError, OSError) as error:
            raise Silent(str(error) or type(error).__name__) from error

    async def tell(self, subject: str, body: bytes, headers: dict[str, str]) -> None:
        """Send a message that nobody answers.

        Raises:
            Silent: it could not be sent.

        """
        try:
            await self._client.publish(subject, body, headers=headers)
        except (NatsError, OSError) as error:
            raise Silent(str(error)) from error

    async def api(
        self, verb: str, body: Mapping[str, Any] | None = None, *, within: float = ATTEMPT
    ) -> dict[str, Any]:
        """Return what JetStream answers to a question about the stream, as `STREAM.INFO`.

        Raises:
            Refused: it answers that it will not.
            Silent: it does not answer.

        """
        text = codec.dumps(body) if body else b""
        answer = await self.ask(f"$JS.API.{verb}", text, within=left(within))
        return answered(answer.data)

    async def collect(self, wanted: Mapping[str, Any]) -> Collected:
        """Return the messages that a direct get gives, whoever of the servers answers first.

        The question may have gone to one that was stopped or cut off; who does not begin to
        answer soon is not waited for alone.

        Raises:
            Silent: nobody answers, in time.

        """
        with anyio.move_on_after(ATTEMPT) as turn:
            await self._few.acquire()
        if turn.cancelled_caught:
            raise Silent("too many ask at the same time")
        try:
            return await self._collect(wanted)
        finally:
            self._few.release()

    async def _collect(self, wanted: Mapping[str, Any]) -> Collected:
        first: Future[Collected] = get_running_loop().create_future()
        asked: list[str] = []
        end = until(ATTEMPT)
        try:
            while not first.done():
                if anyio.current_time() > end:
                    raise Silent("no server answers")
                if not any(self._collecting[number].messages for number in asked[-1:]):
                    asked.append(await self._ask_for(wanted, first))
                with anyio.move_on_after(_SOON):
                    await wait([first])
            return first.result()
        except (NatsError, OSError) as error:
            raise Silent(str(error)) from error
        finally:
            for number in asked:
                del self._collecting[number]
            first.cancel()

    async def _ask_for(self, wanted: Mapping[str, Any], first: Future[Collected]) -> str:
        number = str(next(self._numbers))
        self._collecting[number] = _Collecting(first)
        subject = f"$JS.API.DIRECT.GET.{self.stream}"
        reply = f"{self._inbox}.{number}"
        await self._client.publish(subject, codec.dumps(wanted), reply=reply)
        return number

    async def listen(self, subject: str, call: Callable[[Msg], Awaitable[None]]) -> Any:
        """Call *call* for every message of *subject*; return what can be unsubscribed.

        Raises:
            Silent: there is no connection.

        """
        try:
            return await self._client.subscribe(subject, cb=call)
        except (NatsError, OSError) as error:
            raise Silent(str(error)) from error

    def inbox(self) -> str:
        """Return a subject that nobody else has."""
        return str(self._client.new_inbox())

    def in_time(self, reason: str = "the servers have not answered") -> InTime:
        """Cut what runs in this block when a call has to end, with LogUnavailable."""
        return InTime(self.address.deadline, self.unavailable, reason)

    def unavailable(self, reason: object, *, lasting: bool = False) -> LogUnavailable:
        """Return an error that names the log."""
        return LogUnavailable(str(self.address), str(reason), lasting=lasting)

    async def _collected(self, message: Msg) -> None:
        found = self._collecting.get(message.subject.rpartition(".")[2])
        if found is None or found.first.done():
            return  # too late: nobody waits any more
        headers = message.headers or {}
        status = headers.get("Status")
        if status is None:
            seq = int(headers["Nats-Sequence"])
            found.messages.append(Message(headers["Nats-Subject"], seq, headers, message.data))
        elif status in {"204", "404"}:
            as_of = int(headers.get("Nats-UpTo-Sequence", 0))
            found.first.set_result(Collected(found.messages, as_of))
        else:
            found.first.set_exception(Silent(headers.get("Description", status)))


def answered(text: bytes) -> dict[str, Any]:
    """Return what an answer of JetStream says.

    Raises:
        Refused: that it will not.
        Silent: what came is no answer: the line was being changed, say.

    """
    try:
        found: dict[str, Any] = codec.loads(text)
    except Malformed:
        raise Silent("the answer cannot be read") from None
    if error := found.get("error"):
        raise Refused(error)
    return found
