"""Serve the clients of a wrapped Hermes gateway: from the log what it has, from upstream the rest.

Above this module: `hermes`. Below it: `upstream`, `passing`, the project's own connections.

Events, questions and catching up are the same code as for hosted agents, and read the same log.
Every other method, known or not, is the gateway's to judge (P-2); only the session's id is
translated, between the durable one that clients have and what the gateway calls it now (P-22).
"""

from __future__ import annotations

import logging
from importlib.metadata import version
from itertools import count
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from eventlog import GATEWAY, Envelope, HistoryTruncated, Page, SessionId, subscribe
from gateway.answers import foreign_answer
from gateway.connection import Connection
from gateway.errors import Closing, PeerGone, RpcError
from gateway.jsonrpc import Failure, Notification, Reply
from gateway.methods import Call, Gateway
from gateway.peer import Call as Frame
from gateway.peer import Peer
from gateway.server import FEATURES, FLUSH, answer
from gateway.transports import Transport, hang_up
from gateway.turns import Turns
from gateway.wrap.passing import Passage
from gateway.wrap.upstream import Upstream

log = logging.getLogger("gateway")

OWN: Final = frozenset(
    {
        "client.capabilities",
        "gateway.authenticate",
        "gateway.ping",
        "session.blob",
        "session.events.since",
        "session.events.subscribe",
        "session.events.unsubscribe",
        "session.transcript",
    }
)
"""Methods that are answered here, from the log."""

_OURS: Final = frozenset(
    {"agent.exited", "agent.noise", "gateway.ready", "log.gap", "request.late"}
)
"""Events of no session that clients are not told: they are about this line, not theirs."""


class Window(Connection):
    """One client, whose answers go to the gateway."""

    def __init__(
        self, name: str, gateway: Gateway, upstream: Upstream, tasks: TaskGroup, *, asks: bool
    ) -> None:
        super().__init__(name, gateway.log, gateway.sessions, gateway.views, tasks, asks=asks)
        self._upstream = upstream
        self.queue = anyio.Lock()
        """Calls that are passed on leave in the order in which they came."""

    async def _take(self, answer: Reply | Failure) -> None:
        id_ = str(answer.id)
        if session_id := self._asked.get(id_):
            await self._upstream.settle(session_id, answer, by=self.name)
        else:
            await foreign_answer(self._log, id_)


class Front:
    """Answers every client of one wrapped gateway."""

    def __init__(self, gateway: Gateway, upstream: Upstream) -> None:
        self.gateway = gateway
        self._upstream = upstream
        self._names = count(1)
        self._clients: set[Window] = set()
        upstream.followed = self._followed

    async def converse(self, transport: Transport, *, asks: bool) -> None:
        """Serve the client at the other end of *transport* until it hangs up.

        It is greeted when there is a gateway to speak of, and hung up on if there is none.
        """
        try:
            ready = await self._ready()
        except RpcError as error:
            log.warning("a client was sent away: %s", error)
            await hang_up(transport, Closing.GOING_AWAY, "no gateway")
            return
        async with anyio.create_task_group() as tasks:
            name = f"client-{next(self._names)}"
            client = Window(name, self.gateway, self._upstream, tasks, asks=asks)
            call = Call(self.gateway, client)

            async def hear(frame: Frame) -> Any:
                if frame.method in OWN:
                    return await turns.take(frame.method, lambda: answer(call, frame))
                passage = Passage(self._upstream, call, client.queue)
                if isinstance(frame, Notification):
                    return await passage.tell(frame)
                return await passage.ask(frame)

            client.peer = Peer(transport, hear, stray=client.answered)
            turns = Turns(client.peer.quiet)
            head = (await self.gateway.log.read(GATEWAY, limit=0)).head
            await client.peer.notify("event", {"type": "gateway.ready", "payload": ready})
            self._clients.add(client)
            tasks.start_soon(self._tell, client, head)
            tasks.start_soon(client.watch)
            try:
                await client.peer.run()
            finally:
                self._clients.discard(client)
            tasks.cancel_scope.cancel()

    async def flush(self) -> None:
        """Return when every client has been sent what there is for it, or is too slow."""
        with anyio.move_on_after(FLUSH):
            async with anyio.create_task_group() as tasks:
                for client in tuple(self._clients):
                    tasks.start_soon(client.flush)

    def _followed(self) -> frozenset[SessionId]:
        return frozenset().union(*(client.places.followed for client in self._clients))

    async def _ready(self) -> dict[str, Any]:
        said = await self._upstream.introduced()
        return {
            "skin": said.get("skin") or {},
            "change_events": said.get("change_events") is True,
            "replay_epoch": self.gateway.log.epoch,
            "heartbeat": True,
            "server": {"name": "hermes-gateway", "version": version("hermes-replay")},
            "features": list(FEATURES),
        }

    async def _tell(self, client: Window, after: int) -> None:
        """Tell a client what belongs to no session, as the gateway does: without numbers (P-12).

        One that follows `@gateway` is told there.
        """
        while True:
            try:
                async for item in subscribe(self.gateway.log, GATEWAY, after=after):
                    if isinstance(item, Page):
                        for envelope in item.envelopes():
                            if GATEWAY not in client.places:
                                await _tell(client.peer, envelope)
            except HistoryTruncated as error:
                after = error.floor
            except PeerGone:
                return


async def _tell(peer: Peer, envelope: Envelope) -> None:
    if envelope["type"] not in _OURS:
        told = {"type": envelope["type"], "session_id": "", "payload": envelope["payload"]}
        await peer.notify("event", told)
