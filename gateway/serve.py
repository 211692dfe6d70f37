"""Put a gateway together: open the log, settle it, serve until told to stop.

Above this module: the command line. Below it: everything else in this package.
"""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from os import getpid
from pathlib import Path
from socket import gethostname
from typing import Any

import anyio

from eventlog import Log, LogAddress, LogUnavailable, open_log
from gateway.agent_spec import AgentSpec
from gateway.auth import Token
from gateway.background import background
from gateway.beside import keep_taking_in
from gateway.checkpoints import TurnEnds
from gateway.closing import recover
from gateway.hermes_view import Views
from gateway.housekeeping import Housekeeping
from gateway.methods import Gateway
from gateway.recovering import try_to_recover
from gateway.server import Server
from gateway.sessions import Sessions, sessions_of
from gateway.transcripts import Transcripts
from gateway.transports import Address, Transport, serve_websocket, stdio

log = logging.getLogger("gateway")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a gateway is told when it starts."""

    log: Path | LogAddress
    agents: Mapping[str, AgentSpec]
    token: Token
    host: str = "127.0.0.1"
    port: int | None = 8765
    """None: no WebSocket at all; 0: any free port."""
    stdio: bool = False
    allowed_origins: Collection[str] = field(default=())
    allowed_hosts: Collection[str] = field(default=())


@asynccontextmanager
async def gateway_on(
    where: Path | LogAddress, agents: Mapping[str, AgentSpec], *, owner: str | None = None
) -> AsyncGenerator[Gateway, None]:
    """Open the log at *where* for serving; *owner* is how other gateways on it know this one.

    Raises:
        EventLogError: it cannot be opened, or another process writes it.

    """
    async with (
        open_log(where, owner=owner) as events,
        gateway_over(events, agents) as gateway,
        background() as tasks,
    ):
        if isinstance(where, Path):
            tasks.start_soon(keep_taking_in, where, events, log.warning)
        yield gateway


@asynccontextmanager
async def gateway_over(
    events: Log, agents: Mapping[str, AgentSpec]
) -> AsyncGenerator[Gateway, None]:
    """Serve an open log: settled before anyone sees it (P-40), and after.

    What another gateway works on is left alone; what one that died has left is taken over.
    """
    transcripts = Transcripts(events)
    async with background() as tasks, sessions_of(events, agents) as sessions:
        gateway = Gateway(events, sessions, transcripts, Views(events))
        turns = TurnEnds(transcripts, gateway.overviews)
        if sessions.ownership.shared:
            await sessions.ownership.take_over()
        else:
            for session_id in await recover(events):
                log.warning("%s was cut off when the gateway last ended", session_id)
        tasks.start_soon(turns.run)
        tasks.start_soon(Housekeeping(events, transcripts).run)
        tasks.start_soon(partial(try_to_recover, events, waiting=lambda: sessions.held))
        tasks.start_soon(sessions.ownership.run)
        sessions.turned = turns.note
        yield gateway
    if not sessions.ownership.shared:
        await _settle(events, sessions)


async def _settle(events: Log, sessions: Sessions) -> None:
    """Note that nothing is open; if that is not so, or cannot be noted, the next opening looks."""
    if sessions.unsettled:
        return
    try:
        await events.settle()
    except LogUnavailable as error:
        log.warning("that all is in order could not be noted: %s", error)


async def serve(settings: Settings, ready: Callable[[Address | None], None]) -> None:
    """Serve until SIGTERM or SIGINT, or until the one client on stdio hangs up.

    *ready* hears where the WebSocket is, once everything is.
    """
    owner = f"{gethostname()}:{settings.port}, process {getpid()}" if settings.port else None
    async with (
        gateway_on(settings.log, settings.agents, owner=owner) as gateway,
        AsyncExitStack() as lines,
    ):
        server = Server(gateway)
        address = None
        if settings.port is not None:
            address = await lines.enter_async_context(_websocket(settings, gateway, server))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_until_told, tasks.cancel_scope)
            if settings.stdio:
                line = await lines.enter_async_context(stdio())
                tasks.start_soon(_one_client, server, line, tasks.cancel_scope)
            # fifty thousand objects that never go: the collector took 20 ms to walk them, now and then
            gc.collect()
            gc.freeze()
            ready(address)
            await anyio.sleep_forever()
        with anyio.CancelScope(shield=True):
            await gateway.sessions.stop_all()
            await server.flush()  # clients hear how their turns ended before they hear goodbye


def _websocket(settings: Settings, gateway: Gateway, server: Server) -> Any:
    return serve_websocket(
        settings.host,
        settings.port or 0,
        settings.token,
        partial(server.converse, asks=False),
        allowed_origins=settings.allowed_origins,
        allowed_hosts=settings.allowed_hosts,
        status=lambda: {"live_sessions": len(gateway.sessions.live)},
    )


async def _one_client(server: Server, line: Transport, scope: anyio.CancelScope) -> None:
    await server.converse(line, asks=True)
    scope.cancel()


async def _until_told(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("%s: going away", signal.Signals(number).name)
            scope.cancel()
            return
