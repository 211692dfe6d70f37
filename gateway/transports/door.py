"""The gateway's front door: one port, one path for sockets, two for questions about health.

Above this module: the server, which is given a line once somebody may come in. Below it:
websockets, `auth`.

Whoever does not know the token gets nothing: no frame, no error text, a close code (P-7).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request as Asked
from websockets.http11 import Response

from eventlog import codec
from gateway.auth import Token
from gateway.errors import BadFrame, Closing
from gateway.jsonrpc import Notification, Request, dump, parse
from gateway.transports.transport import HUNG_UP, Transport, hang_up
from gateway.transports.websocket import MAX_MESSAGE, WebSocketTransport, quiet_logger

log = logging.getLogger("gateway")

PATH: Final = "/api/ws"
PATIENCE: Final = 5.0
"""Seconds in which a socket without a token has to name one."""

_GOODBYE: Final = 10.0
"""Seconds in which every conversation has to come to its end when the door is closed."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
HARMLESS_ORIGINS: Final = frozenset({"null", "file://"})
"""What pages send that came from no site: the Desktop's."""

Welcome = Callable[[Transport], Awaitable[None]]
"""Talks to whoever came in; the line is closed when it returns."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the door is."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """What a client connects to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ws://{host}:{self.port}{PATH}"

    @property
    def near(self) -> str:
        """What a client on this machine connects to."""
        own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return Address(own, self.port).url


@dataclass(frozen=True, slots=True)
class Door:
    """Decides who comes in, by Host, by Origin and by token."""

    token: Token
    hosts: frozenset[str]
    origins: frozenset[str]
    welcome: Welcome
    status: Callable[[], Mapping[str, Any]]
    patience: float = PATIENCE
    lines: set[WebSocketTransport] = field(default_factory=set)

    def look(self, connection: ServerConnection, asked: Asked) -> Response | None:
        """Answer what is no socket, refuse what comes from elsewhere, let the rest go on."""
        if not self._known_host(asked.headers):
            return connection.respond(HTTPStatus.FORBIDDEN, "This host is not served here.\n")
        match asked.path.partition("?")[0]:
            case "/api/health":
                return _json({"status": "ok"})
            case "/api/status":
                return _json({"status": "ok", **self.status()})
            case "/api/ws" if self._harmless_origin(asked.headers):
                return None
            case "/api/ws":
                return connection.respond(HTTPStatus.FORBIDDEN, "This origin is not allowed.\n")
        return connection.respond(HTTPStatus.NOT_FOUND, "There is nothing here.\n")

    async def open(self, connection: ServerConnection) -> None:
        """Let in whoever knows the token."""
        line = WebSocketTransport(connection)
        self.lines.add(line)
        try:
            await self._admit(line, connection)
        finally:
            self.lines.discard(line)

    async def close(self) -> None:
        """Say goodbye to everyone, and wait for no one for long."""
        async with anyio.create_task_group() as tasks:
            for line in tuple(self.lines):
                tasks.start_soon(hang_up, line, Closing.GOING_AWAY, "going away")

    async def _admit(self, line: WebSocketTransport, connection: ServerConnection) -> None:
        presented = _presented(connection.request)
        if presented:
            knows = any(self.token.matches(text) for text in presented)
        else:
            knows = await self._tells(line)
        if knows:
            await self.welcome(line)
            await line.aclose()
        else:
            log.info("a socket was refused: no valid token")
            await hang_up(line, Closing.NOT_ALLOWED, "not allowed")

    async def _tells(self, line: WebSocketTransport) -> bool:
        """Whether the first frame names the token; it goes on without it, to be answered."""
        with anyio.move_on_after(self.patience):
            try:
                frame = parse(await line.receive())
            except (*HUNG_UP, BadFrame):
                return False
            match frame:
                case Request(_, "gateway.authenticate", {"token": presented}) | Notification(
                    "gateway.authenticate", {"token": presented}
                ) if self.token.matches(presented):
                    if isinstance(frame, Request):
                        line.unread(dump(Request(frame.id, frame.method)))
                    return True
        return False

    def _known_host(self, headers: Headers) -> bool:
        named = headers.get_all("Host")
        return len(named) == 1 and _without_port(named[0]).lower() in self.hosts

    def _harmless_origin(self, headers: Headers) -> bool:
        named = headers.get_all("Origin")
        return not named or (len(named) == 1 and named[0].lower() in self.origins)


@asynccontextmanager
async def serve_websocket(
    host: str,
    port: int,
    token: Token,
    welcome: Welcome,
    *,
    allowed_origins: Collection[str] = (),
    allowed_hosts: Collection[str] = (),
    status: Callable[[], Mapping[str, Any]] = dict,
    patience: float = PATIENCE,
) -> AsyncGenerator[Address, None]:
    """Serve sockets at `/api/ws` for as long as the context is open; port 0 takes a free one.

    On leaving every socket is closed with 1001. *status* must hold no secrets: it is shown to
    whoever asks.

    Raises:
        OSError: the address is taken, or not ours.

    """
    named = f"[{host}]" if ":" in host else host
    door = Door(
        token,
        frozenset({*LOOPBACK, *(name.lower() for name in (named, *allowed_hosts))}),
        frozenset({*HARMLESS_ORIGINS, *(name.lower() for name in allowed_origins)}),
        welcome,
        status,
        patience,
    )
    async with serve(
        door.open,
        host,
        port,
        process_request=door.look,
        compression=None,
        logger=quiet_logger(),
        max_size=MAX_MESSAGE,
        ping_timeout=None,
        server_header=None,
    ) as server:
        bound, free = next(iter(server.sockets)).getsockname()[:2]
        try:
            yield Address(bound, free)
        finally:
            with anyio.move_on_after(_GOODBYE, shield=True):
                server.close(close_connections=False)
                await door.close()
                await server.wait_closed()


def _presented(asked: Asked | None) -> list[str]:
    """Return the tokens that the handshake names: in its header, or in its query."""
    if asked is None:
        return []
    words = [value.split(maxsplit=1) for value in asked.headers.get_all("Authorization")]
    bearers = [pair[1] for pair in words if len(pair) == 2 and pair[0].lower() == "bearer"]
    return bearers + parse_qs(asked.path.partition("?")[2]).get("token", [])


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _json(value: Mapping[str, Any]) -> Response:
    body = codec.dumps(value) + b"\n"
    headers = Headers(
        {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Connection": "close",
        }
    )
    return Response(HTTPStatus.OK, "OK", headers, body)
