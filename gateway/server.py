"""Serve one client: greet it, answer its calls, until it hangs up.

Above this module: `serve` and its transports. Below it: methods, contracts, a peer.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from typing import Any, Final

import anyio

from eventlog import EventLogError, Fenced, InvalidSessionId, LogUnavailable
from gateway.connection import Connection
from gateway.contracts import read_params
from gateway.errors import Code, PeerGone, RpcError
from gateway.jsonrpc import Raw
from gateway.methods import METHODS, Call, Gateway
from gateway.outbox import Outbox
from gateway.peer import Call as Frame
from gateway.peer import Peer
from gateway.transports import Transport
from gateway.turns import Turns

FEATURES: Final = (
    "session.events.subscribe",
    "session.events.paging",
    "session.transcript",
    "durable_epoch",
)

FLUSH: Final = 2.0
"""Seconds that clients have to take what is left for them when the gateway stops."""


class Server:
    """Answers every client of one gateway, each through an outbox of its own."""

    def __init__(self, gateway: Gateway, *, outbox: Callable[[], Outbox] = Outbox) -> None:
        self._gateway = gateway
        self._outbox = outbox
        self._names = count(1)
        self._ready = {
            "skin": {},
            "change_events": False,
            "replay_epoch": gateway.log.epoch,
            "heartbeat": True,
            "server": {"name": "hermes-gateway", "version": version("hermes-replay")},
            "features": list(FEATURES),
        }

    async def converse(self, transport: Transport, *, asks: bool) -> None:
        """Serve the client at the other end of *transport* until it hangs up.

        *asks* is whether it is sent questions before it has said that it can take them (P-6).
        """
        async with anyio.create_task_group() as tasks:
            gateway = self._gateway
            name = f"client-{next(self._names)}"
            client = Connection(
                name,
                gateway.log,
                gateway.sessions,
                gateway.views,
                tasks,
                asks=asks,
                forget=gateway.forget,
            )
            call = Call(gateway, client)

            async def hear(frame: Frame) -> Any:
                named = (
                    str(frame.params.get("session_id")) if isinstance(frame.params, dict) else ""
                )
                return await turns.take(frame.method, lambda: answer(call, frame), session=named)

            client.peer = Peer(transport, hear, stray=client.answered, outbox=self._outbox())
            turns = Turns(client.peer.quiet)
            await client.peer.notify("event", {"type": "gateway.ready", "payload": self._ready})
            gateway.clients.add(client)
            tasks.start_soon(client.watch)
            try:
                await client.peer.run()
            finally:
                gateway.clients.discard(client)
            tasks.cancel_scope.cancel()

    async def flush(self) -> None:
        """Return when every client has been sent what there is for it, or is too slow."""
        with anyio.move_on_after(FLUSH):
            async with anyio.create_task_group() as tasks:
                for client in tuple(self._gateway.clients):
                    tasks.start_soon(client.flush)


async def answer(call: Call, frame: Frame) -> Any:
    """Return the result of one call.

    Raises:
        RpcError: it was refused; the code says why (protocol §9).

    """
    method = METHODS.get(frame.method)
    if method is None:
        raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {frame.method[:100]}")
    params = frame.params
    assert not isinstance(params, Raw)  # noqa: S101 - only what we send is raw
    try:
        return await method(call, read_params(frame.method, params))
    except RpcError as error:
        raise error.brief() from error
    except LogUnavailable as error:
        raise RpcError(Code.LOG_UNAVAILABLE, str(error)) from error
    except Fenced as error:
        where = {"session_id": error.session_id, "owner": error.owner}
        raise RpcError(Code.NOT_LIVE, str(error), where) from error
    except InvalidSessionId as error:
        raise RpcError(Code.INVALID_PARAMS, str(error), {"path": "session_id"}) from error
    except PeerGone as error:
        told = f"the agent is gone: {error}"
        raise RpcError(Code.NOT_LIVE, told) from error
    except EventLogError as error:
        raise RpcError(Code.INTERNAL_ERROR, str(error)) from error
