"""`hermes-gateway attach`: find the gateway, visit, say goodbye.

Above this module: the command line. Below it: `visit`, the reference client.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import typer

from eventlog import exits
from gateway.announcement import gateway_in
from gateway.attach.screen import Screen
from gateway.attach.visit import Visit, Wanted
from gateway.auth import FILE, VARIABLE, load_token
from gateway.client import Backoff, client_of
from gateway.errors import CannotConnect, Code, RpcError
from gateway.options import fail, tell
from gateway.transports import Transport, connect_websocket

BACKOFF: Final = Backoff(first=0.2, most=5.0)
"""A person waits: a gateway that is back is found within seconds."""


@dataclass(frozen=True, slots=True)
class Where:
    """A gateway: at *url*, or the one that serves the log in *home*, wherever that is just now."""

    home: Path
    url: str | None

    @asynccontextmanager
    async def dial(self) -> AsyncGenerator[Transport, None]:
        """Open a line; a gateway that was started again may be at another port."""
        url = self.url or gateway_in(self.home)
        if url is None:
            raise CannotConnect("a gateway", "none serves this log")
        async with connect_websocket(url, load_token(self.home)) as line:
            yield line


async def attach(session: str | None, agent: str | None, urls: Sequence[str], home: Path) -> None:
    """Visit *session*, or a new one of *agent*, or the newest; *home* has the token.

    Of several *urls* of gateways that share a log any one will do.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail("attach needs a terminal; hermes-replay --follow does without", exits.USAGE)
    places: Sequence[str | None] = urls or (None,)
    ways = [Where(home, url).dial for url in places]
    if not urls and gateway_in(home) is None:
        told = f"no gateway serves the log in {home}: start one with hermes-gateway serve, or give --url"
        fail(told, exits.FOUND)
    if not (os.environ.get(VARIABLE) or (home / FILE).is_file()):
        fail(f"no token: give it in {VARIABLE}, or the gateway's log with --log", exits.USAGE)
    logging.getLogger("gateway").addHandler(logging.NullHandler())  # the screen is the session's
    visit = Visit(Wanted(session, agent, str(Path.cwd())), color=_paints())
    async with (
        client_of(*ways, answerer=visit.queue.answer, backoff=BACKOFF) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_leave_when_told, visit.screen)
        await visit.run(client)
        tasks.cancel_scope.cancel()
    _say_goodbye(visit)


async def _leave_when_told(screen: Screen) -> None:
    """Give the terminal back as it was, whoever ends the visit."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            screen.leave()


def _say_goodbye(visit: Visit) -> None:
    match visit.failure:
        case RpcError(code=Code.SESSION_NOT_FOUND) as error:
            fail(str(error), exits.NOT_FOUND)
        case None if visit.session and visit.gone:
            tell(f"{visit.session} is no more: {visit.gone}")
        case None if visit.session:
            tell(f"{visit.name} goes on; hermes-gateway attach {visit.name} comes back to it")
        case None:
            raise typer.Exit
        case error:
            fail(str(error), exits.FOUND)


def _paints() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
