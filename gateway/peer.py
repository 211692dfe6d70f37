"""One end of a JSON-RPC conversation. Both ends ask, both ends answer.

Above this module: the server, the agent's host, the reconnecting client. Below it: `jsonrpc`,
`outbox`, a `Transport`.

What it promises about order:

- Frames leave in the order in which they were given to it.
- Frames are heard in the order in which they came. A notification is attended to before the next
  frame is looked at; an answer is handed over in its place among the notifications; a request
  starts a task of its own, so a slow one holds up nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from enum import Enum
from itertools import count
from typing import Any, Final, NamedTuple

import anyio
from anyio.abc import TaskGroup

from gateway.errors import BadFrame, Closing, Code, FrameTooLong, PeerGone, RpcError
from gateway.jsonrpc import (
    MAX_DEPTH,
    Failure,
    Notification,
    Params,
    Raw,
    Reply,
    Request,
    RequestId,
    dump,
    parse,
)
from gateway.outbox import Outbox
from gateway.transports import HUNG_UP, Transport, at_once, half_open, hang_up, taken

log = logging.getLogger("gateway")

GRACE: Final = 2.0
"""Seconds that running requests have to end, and answers to leave, when the peer stops talking."""

Call = Request | Notification
Handler = Callable[[Call], Awaitable[Any]]
"""Answers a request or attends to a notification. It may return `Raw`, an `Answer` or `LATER`."""


class Later(Enum):
    """A request that is answered by other means, with `send_raw`, or never."""

    LATER = "later"


LATER: Final = Later.LATER

Stray = Callable[[Reply | Failure], Awaitable[None]]
"""Hears answers that nobody waits for: late ones, and those to nothing that was asked."""


class Answer(NamedTuple):
    """A result (or an `RpcError`), and what to do once it stands in line.

    What *then* sends comes behind it.
    """

    result: Any
    then: Callable[[], object]


class _Pending:
    """A question on its way."""

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.answer: Reply | Failure | None = None

    def settle(self, answer: Reply | Failure | None) -> None:
        self.answer = answer
        self.settled.set()


class Peer:
    """`async with create_task_group() as tasks: tasks.start_soon(peer.run)`, then ask away.

    What is sent before `run` waits for it, and leaves first. The transport stays its owner's to
    close. With *lenient*, nonsense is ignored and not answered: an agent's banner is no question.
    """

    def __init__(
        self,
        transport: Transport,
        handler: Handler,
        *,
        stray: Stray | None = None,
        max_depth: int = MAX_DEPTH,
        lenient: bool = False,
        outbox: Outbox | None = None,
    ) -> None:
        self._transport = transport
        self._handler = handler
        self._stray = stray
        self._max_depth = max_depth
        self._lenient = lenient
        self._outbox = outbox or Outbox()
        self._ids = count(1)
        self._pending: dict[RequestId, _Pending] = {}

    async def request(
        self,
        method: str,
        params: Params | Raw | None = None,
        *,
        id: RequestId | None = None,  # noqa: A002 - the frame's own word
        timeout: float | None = None,  # noqa: ASYNC109 - it says when the question is given up
    ) -> Any:
        """Ask, and return the result. *timeout* is in seconds.

        Raises:
            RpcError: the peer said no.
            PeerGone: the line dropped first.
            TimeoutError: no answer came in time; a later one is stray.

        """
        id_ = next(self._ids) if id is None else id
        if id_ in self._pending:
            raise ValueError(f"{id_!r} is already being asked")
        pending = self._pending[id_] = _Pending()
        try:
            self._say(Request(id_, method, params or {}))
            if self._outbox.closed:
                raise PeerGone(method)
            with anyio.fail_after(timeout):
                await pending.settled.wait()
        finally:
            del self._pending[id_]
        match pending.answer:
            case Reply(result=result):
                return result
            case Failure(error=error):
                raise error
        raise PeerGone(method)

    async def notify(self, method: str, params: Params | Raw | None = None) -> None:
        """Tell, and do not wait for more than room in the send buffer (P-20).

        Raises:
            PeerGone: the line has dropped.

        """
        await self.send_raw(dump(Notification(method, params or {})), method)

    async def send_raw(self, frame: bytes, method: str = "a frame") -> None:
        """Send a frame that is already made, as soon as the send buffer has room for it.

        Raises:
            PeerGone: the line has dropped.

        """
        await self._outbox.put(frame)
        if self._outbox.closed:
            raise PeerGone(method)

    def send_at_once(self, frame: bytes) -> bool:
        """Send a frame that is already made if nothing is in its way; return whether that was so."""
        return self._outbox.put_at_once(frame)

    async def flushed(self) -> None:
        """Return once everything that was given to be sent has left."""
        await self._outbox.emptied()

    async def quiet(self) -> None:
        """Return once no answer waits to leave: a large one that is said now stands alone."""
        await self._outbox.quiet()

    async def hang_up(self, code: int = Closing.NORMAL, reason: str = "") -> None:
        """End the conversation at once; `run` returns."""
        await hang_up(self._transport, code, reason)

    async def run(self) -> None:
        """Hear the peer out: return when it has hung up, or was hung up on for being slow."""
        try:
            async with anyio.create_task_group() as line:
                line.start_soon(self._write)
                line.start_soon(self._watch, line)
                await self._converse()
                line.cancel_scope.cancel()
        finally:
            self._lose()

    async def _converse(self) -> None:
        async with anyio.create_task_group() as running:
            said_goodbye = await self._listen(running)
            patient = said_goodbye and half_open(self._transport)
            running.cancel_scope.deadline = anyio.current_time() + (GRACE if patient else 0)
        if patient:
            with anyio.move_on_after(GRACE):
                await self._outbox.emptied()

    async def _listen(self, running: TaskGroup) -> bool:
        """Hear frames until there are no more; return whether the peer ended in good order."""
        while True:
            try:
                await self._hear(await self._transport.receive(), running)
            except FrameTooLong as error:
                self._say(
                    Failure(None, RpcError(Code.INVALID_REQUEST, f"Invalid request: {error}"))
                )
            except anyio.EndOfStream:
                return True
            except HUNG_UP:
                return False

    async def _hear(self, data: bytes, running: TaskGroup) -> None:
        try:
            frame = parse(data, max_depth=self._max_depth)
        except BadFrame as error:
            if error.id is not None or not self._lenient:
                self._say(Failure(error.id, error))
            return
        match frame:
            case Request():
                running.start_soon(self._answer, frame)
            case Notification():
                await self._attend(frame)
                return
            case Reply(id_) | Failure(id_) if id_ in self._pending:
                self._pending[id_].settle(frame)
            case _ if self._stray:
                await self._stray(frame)
            case _:
                log.info("an answer to nothing that was asked: %s", frame.id)
        await anyio.lowlevel.checkpoint()  # whom this frame woke goes before the next frame

    async def _answer(self, request: Request) -> None:
        then = None
        try:
            result = await self._handler(request)
            if isinstance(result, Answer):
                result, then = result
            if result is LATER:
                return
            refused = isinstance(result, RpcError)
            self._say(Failure(request.id, result) if refused else Reply(request.id, result))
        except RpcError as error:
            self._say(Failure(request.id, error))
        except Exception:
            log.exception("%s failed", request.method)
            failed = RpcError(Code.INTERNAL_ERROR, f"Internal error in {request.method}")
            self._say(Failure(request.id, failed))
        if then:
            then()

    async def _attend(self, notification: Notification) -> None:
        try:
            heard = await self._handler(notification)
            if isinstance(heard, Answer):  # nobody waits for it, but what comes of it
                heard.then()
        except RpcError as error:
            log.info("%s was not heard: %s", notification.method, error)
        except Exception:
            log.exception("%s failed", notification.method)

    def _say(self, frame: Request | Reply | Failure) -> None:
        self._outbox.put_now(dump(frame))

    async def _write(self) -> None:
        try:
            await self._outbox.drain(self._transport.send, at_once(self._transport))
        except HUNG_UP:
            self._lose()

    async def _watch(self, line: TaskGroup) -> None:
        slow = await self._outbox.stalled(lambda: taken(self._transport))
        log.warning("a peer is too slow: %s", slow)
        line.cancel_scope.cancel()
        self._lose()
        with anyio.CancelScope(shield=True):
            await self.hang_up(Closing.TOO_SLOW, "too slow")

    def _lose(self) -> None:
        """Nothing leaves any more, so no answer can come to what was asked."""
        self._outbox.close()
        for pending in self._pending.values():
            pending.settle(None)
