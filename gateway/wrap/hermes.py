"""`hermes-gateway wrap hermes`: put together what stands in front of a Hermes gateway.

Above this module: the command line. Below it: `front`, `upstream`, the log, the front door.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from eventlog import SqliteStore
from gateway.auth import Token
from gateway.background import background
from gateway.beside import keep_taking_in
from gateway.client import Backoff
from gateway.hermes_view import Views
from gateway.methods import Gateway
from gateway.recovering import try_to_recover
from gateway.sessions import sessions_of
from gateway.transcripts import Transcripts
from gateway.transports import (
    Address,
    Exit,
    Transport,
    connect_websocket,
    run_process,
    serve_websocket,
    stdio,
)
from gateway.wrap.front import Front
from gateway.wrap.upstream import Dial, Upstream

log = logging.getLogger("gateway")

UPSTREAM_TOKEN: Final = "HERMES_UPSTREAM_TOKEN"  # noqa: S105 - the name, not the secret
"""The environment variable that names the upstream gateway's token."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What is wrapped, where it is recorded, and how clients come in."""

    dial: Dial
    log: Path
    token: Token
    name: str = "gateway"
    host: str = "127.0.0.1"
    port: int | None = None
    """None: no WebSocket at all; 0: any free port."""
    stdio: bool = False
    allowed_origins: Collection[str] = field(default=())
    allowed_hosts: Collection[str] = field(default=())


@asynccontextmanager
async def front_on(
    path: Path, dial: Dial, *, name: str = "gateway", backoff: Backoff | None = None
) -> AsyncGenerator[tuple[Front, Upstream], None]:
    """Open the log at *path*, for clients of the gateway that *dial* reaches; run the upstream.

    Raises:
        EventLogError: it cannot be opened, or another process writes it.

    """
    async with (
        SqliteStore.open(path) as events,
        background() as tasks,
        sessions_of(events, {}) as sessions,
    ):
        upstream = Upstream(dial, events, sessions, f"hermes:{name}", backoff)
        tasks.start_soon(partial(try_to_recover, events, waiting=lambda: upstream.held))
        tasks.start_soon(keep_taking_in, path, events, log.warning)
        gateway = Gateway(events, sessions, Transcripts(events), Views(events))
        yield Front(gateway, upstream), upstream


async def wrap_hermes(serving: Serving, ready: Callable[[Address | None], None]) -> Exit | None:
    """Serve until told to stop; on stdio alone, until the client or the gateway's command ends.

    *ready* hears where the WebSocket is. Returns how the command ended, if that was the end.

    Raises:
        CannotStart: the command cannot be run.
        CannotConnect: nobody answers at the upstream's address, and nobody else is to be served.

    """
    end: Exit | None = None
    async with AsyncExitStack() as stack:
        front, upstream = await stack.enter_async_context(
            front_on(serving.log, serving.dial, name=serving.name)
        )
        address = None
        if serving.port is not None:
            address = await stack.enter_async_context(_websocket(serving, front))
        over = anyio.Event()
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                nonlocal end
                end = await upstream.run(anew=serving.port is not None)
                over.set()

            tasks.start_soon(run)
            tasks.start_soon(_until_told, over)
            if serving.stdio:
                line = await stack.enter_async_context(stdio())
                tasks.start_soon(_one_client, front, line, over)
            ready(address)
            await over.wait()
            with anyio.CancelScope(shield=True):
                await upstream.stop()
                await front.flush()  # clients hear how it ended before they hear goodbye
            tasks.cancel_scope.cancel()
    return end


def dial_command(argv: Sequence[str]) -> Dial:
    """Return what starts a gateway that speaks on stdio; its standard error passes on."""

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        async with run_process(argv, complain=_complain) as line:
            yield line

    return dial


def dial_socket(url: str) -> Dial:
    """Return what connects to a gateway's WebSocket."""
    token = os.environ.get(UPSTREAM_TOKEN, "").strip()

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        async with connect_websocket(url, Token(token) if token else None) as line:
            yield line

    return dial


def _complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _websocket(serving: Serving, front: Front) -> AbstractAsyncContextManager[Address]:
    return serve_websocket(
        serving.host,
        serving.port or 0,
        serving.token,
        partial(front.converse, asks=False),
        allowed_origins=serving.allowed_origins,
        allowed_hosts=serving.allowed_hosts,
    )


async def _one_client(front: Front, line: Transport, over: anyio.Event) -> None:
    await front.converse(line, asks=True)
    over.set()


async def _until_told(over: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("%s: going away", signal.Signals(number).name)
            over.set()
            return
