"""The reference client: follows sessions over a line that may drop at any frame (protocol §10).

Above this module: the demo, tests, a terminal client. Below it: followers, a peer, a way to dial.

Whatever happens to the line, each follower's `seen` hears every event of its session once, in
order. What was being asked when the line dropped fails with `PeerGone`; a prompt is the exception:
`submit` sends it again under the same ref until it is acknowledged (P-24).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import anyio

from eventlog import START, SessionId
from gateway.background import background
from gateway.backoff import Backoff
from gateway.errors import CannotConnect, Closing, Code, PeerGone, RpcError
from gateway.fetching import refers, whole
from gateway.followed import Followed
from gateway.follower import Follower, Seen
from gateway.jsonrpc import Failure, Notification, Reply, Request, dump
from gateway.peer import Call, Peer
from gateway.transports import Transport, goodbye

__all__ = ["HEARTBEAT", "Answerer", "Asked", "Backoff", "Client", "Dial", "client_of"]

log = logging.getLogger("gateway")

Dial = Callable[[], AbstractAsyncContextManager[Transport]]
"""Opens a line to the gateway, authenticated; raises `CannotConnect` when there is none."""

HEARTBEAT: Final = 15.0
"""Seconds between two pings; a line on which one is not answered in twice that is dropped."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the gateway asks this client."""

    id: str
    method: str
    params: dict[str, Any]
    session_id: SessionId


Answerer = Callable[[Asked], Awaitable[Any]]
"""Returns the answer. It is cancelled when the question is settled elsewhere."""


class Client:
    """Made by `client_of`; survives any number of lines."""

    def __init__(self, ways: Sequence[Dial], answerer: Answerer | None, backoff: Backoff) -> None:
        self._ways = ways
        self._answerer = answerer
        self._backoff = backoff
        self._followed = Followed(self._put)
        self._asked: dict[str, anyio.CancelScope] = {}
        self._peer: Peer | None = None
        self._connected = anyio.Event()
        self.lines = 0
        """How many lines there have been."""
        self.retry_at: float | None = None
        """When it dials again, by anyio's clock, while it waits to."""
        self.trouble = ""
        """Why the last line dropped, or could not be had."""
        self.degraded: str | None = None
        """Why the gateway records nothing at present, if so (S-9)."""
        self.refused = False
        """The gateway does not let this client in: its token is not the gateway's (P-7)."""

    @property
    def older(self) -> bool:
        """Whether the gateway keeps no log: after a break a session may have to be read whole."""
        return self._followed.older is True

    def lasting(self, session_id: SessionId) -> str:
        """Return the id by which a followed session is found again, whatever becomes of the line."""
        return self._followed.elder.lasting(session_id) if self.older else session_id

    @property
    def connected(self) -> bool:
        """Whether there is a line of use."""
        return self._peer is not None

    async def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Ask, as soon as there is a line.

        Raises:
            RpcError: the gateway said no.
            PeerGone: the line dropped before the answer came.

        """
        await self._connected.wait()
        if self._peer is None:
            raise PeerGone(method)
        if self.older:
            return await self._followed.elder.request(self._peer, method, params or {})
        return await self._peer.request(method, params)

    async def submit(self, session_id: str, text: str) -> dict[str, Any]:
        """Send a prompt; return its receipt. It is sent again if the line drops, and taken once.

        Raises:
            RpcError: the session cannot take it.
            PeerGone: the line dropped, and an older gateway would take it twice.

        """
        params = {"session_id": session_id, "text": text}
        ref = {"submission_ref": uuid4().hex}
        once = False  # an older gateway knows no refs
        while True:
            await self._connected.wait()
            once = once or self.older
            try:
                told = params if once else params | ref
                receipt: dict[str, Any] = await self.request("prompt.submit", told)
            except PeerGone:
                if once:
                    raise
                continue
            except RpcError as error:
                if once or error.code != Code.UNKNOWN_KEY:
                    raise
                once = True
                continue
            return receipt

    async def follow(
        self,
        session_id: str,
        *,
        after: int = START,
        epoch: str | None = None,
        seen: Seen = lambda _envelope, _live: None,
    ) -> Follower:
        """Follow a session from *after*.

        Returns its follower, subscribed if there is a line; otherwise the next line subscribes it.
        """
        id_ = SessionId(session_id)
        follower = Follower(id_, after=after, epoch=epoch, seen=seen)
        await self._followed.add(follower)
        return follower

    async def drop(self) -> None:
        """Lose the line, as if a cable had been pulled; the client dials again."""
        if self._peer:
            await self._peer.hang_up(Closing.GOING_AWAY)

    async def run(self) -> None:
        """Keep a line to a gateway until cancelled; where one is gone, the next is tried at once."""
        attempt = way = 0
        while True:
            try:
                async with self._ways[way]() as line:
                    attempt = 0 if await self._converse(line) else attempt
                    self._hear_goodbye(goodbye(line))
            except CannotConnect as error:
                log.info("no line: %s", error)
                self.trouble = str(error)
            attempt, way = attempt + 1, (way + 1) % len(self._ways)
            rounds, others = divmod(attempt, len(self._ways))
            if others:
                continue
            delay = self._backoff.delay(rounds)
            self.retry_at = anyio.current_time() + delay
            await anyio.sleep(delay)
            self.retry_at = None

    async def _converse(self, line: Transport) -> bool:
        """Talk until the line drops; return whether it was ever of use."""
        peer = Peer(line, self._hear)
        useful = False

        async def listen() -> None:
            await peer.run()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            try:
                await self._introduce(peer)
                useful = True
                self._peer = peer
                self._connected.set()
                await self._followed.begin(peer, tasks)
                await self._keep_alive(peer)
            except PeerGone as error:
                log.info("%s", error)
        self._peer = None
        self._followed.end()
        self.degraded = None
        self._connected = anyio.Event()
        return useful

    def _hear_goodbye(self, told: tuple[int, str] | None) -> None:
        code, reason = told or (0, "")
        self.refused = code == Closing.NOT_ALLOWED
        self.trouble = reason or "the line dropped"

    async def _introduce(self, peer: Peer) -> None:
        self.lines += 1
        asks = {"server_requests": self._answerer is not None}
        for can in ({**asks, "acp_updates": True, "blobs": True}, asks):
            try:
                await peer.request("client.capabilities", can)
            except RpcError as error:  # an older gateway: it serves what it knows
                log.info("the gateway did not take our capabilities: %s", error)
            else:
                return

    async def _keep_alive(self, peer: Peer) -> None:
        while True:
            await anyio.sleep(HEARTBEAT)
            try:
                await peer.request("gateway.ping", timeout=2 * HEARTBEAT)
            except RpcError:  # an older gateway does not know it; that, too, is a sign of life
                pass
            except TimeoutError:
                await peer.hang_up()

    async def _hear(self, call: Call) -> Any:
        match call:
            case Notification("event", dict(params)):
                self._hear_event(params)
            case Notification("session.caught_up", {"session_id": str(id_), "seq": int(seq)}):
                self._followed.reached(id_, seq)
            case Notification("session.deleted", {"session_id": str(id_)}):
                self._followed.deleted(id_)
            case Notification("log.degraded" | "log.recovered", dict(told)):
                self.degraded = told.get("reason")
            case Notification("session.events.reset", {"session_id": str(id_)}):
                self._followed.again(id_)
            case Request(str(id_), method, dict(params)) if self._answerer:
                return await self._answer(id_, method, params)
            case Request(_, method):
                raise RpcError(Code.METHOD_NOT_FOUND, f"this client cannot show {method}")
        return None

    def _hear_event(self, params: dict[str, Any]) -> None:
        match params:
            case {"type": "request.answered" | "request.cancel", "payload": {"id": str(id_)}}:
                if scope := self._asked.get(id_):
                    scope.cancel()
            case _:
                pass
        self._followed.hear(params)

    async def _answer(self, id_: str, method: str, params: dict[str, Any]) -> Any:
        assert self._answerer  # noqa: S101 - checked by the caller
        session_id = self._followed.asked(id_, method, params)
        with anyio.CancelScope() as scope:
            self._asked[id_] = scope
            try:
                if refers(params):
                    params = await whole(self.request, session_id, params)
                answer = await self._answerer(Asked(id_, method, params, session_id))
                self._followed.answered(id_, answer)
                return answer
            finally:
                if self._asked.get(id_) is scope:
                    del self._asked[id_]
        raise RpcError(Code.NOT_SHOWN, "settled elsewhere")

    def _put(self, id_: str, method: str, params: dict[str, Any]) -> None:
        """Ask what an older gateway says is still open, unless it is being asked."""
        if self._answerer and id_ not in self._asked:
            self._followed.start(self._reply, id_, method, params)

    async def _reply(self, peer: Peer, id_: str, method: str, params: dict[str, Any]) -> None:
        answer: Reply | Failure
        try:
            answer = Reply(id_, await self._answer(id_, method, params))
        except RpcError as error:
            answer = Failure(id_, error)
        with suppress(PeerGone):  # on the next line it is asked again
            await peer.send_raw(dump(answer))


@asynccontextmanager
async def client_of(
    *ways: Dial, answerer: Answerer | None = None, backoff: Backoff | None = None
) -> AsyncGenerator[Client, None]:
    """Keep a client connected, by any of *ways*, for as long as the context is open."""
    client = Client(ways, answerer, backoff or Backoff())
    async with background() as tasks:
        tasks.start_soon(client.run)
        yield client
