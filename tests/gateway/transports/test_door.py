"""Who comes in over a socket, and what the others learn: nothing (P-7, R146)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from eventlog import codec
from gateway.auth import Token
from gateway.errors import CannotConnect, PeerGone
from gateway.jsonrpc import Notification, Reply, Request, dump, parse
from gateway.outbox import Outbox
from gateway.peer import Call, Peer
from gateway.transports import (
    HUNG_UP,
    Address,
    Transport,
    connect_websocket,
    goodbye,
    serve_websocket,
)

pytestmark = pytest.mark.anyio

TOKEN = Token("correct-horse")


async def _greet(line: Transport) -> None:
    """Say first what an authenticated peer hears first, then answer."""

    async def echo(call: Call) -> Any:
        return {"method": call.method, "params": call.params}

    peer = Peer(line, echo)
    await peer.notify("event", {"type": "gateway.ready"})
    await peer.run()


@asynccontextmanager
async def _door(**options: Any) -> AsyncGenerator[Address, None]:
    with anyio.fail_after(20):
        async with serve_websocket("127.0.0.1", 0, TOKEN, _greet, **options) as address:
            yield address


async def _outcome(url: str, headers: Sequence[tuple[str, str]], **options: Any) -> object:
    """Return the first frame that comes, or the status or close code that came instead."""
    try:
        async with connect(url, additional_headers=headers, proxy=None, **options) as socket:
            return codec.loads(await socket.recv())["params"]["type"]
    except InvalidStatus as error:
        return error.response.status_code
    except ConnectionClosed as error:
        return error.rcvd.code if error.rcvd else None


ORIGINS = {
    "none": None,
    "null": "null",
    "file": "file://",
    "listed": "https://app.example",
    "same": "http://127.0.0.1",
    "evil": "http://evil.example",
    "near": "https://app.example.evil.example",
}
MAY_COME = {"none", "null", "file", "listed"}


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("way", ["no token", "wrong header", "wrong query", "header", "query"])
async def test_only_the_token_from_a_harmless_origin_gets_in(origin: str, way: str) -> None:
    """The handshake matrix: token and Origin, every pair of them (R146)."""
    named = ORIGINS[origin]
    headers = [("Origin", named)] if named else []
    text = "wrong" if "wrong" in way else TOKEN.reveal()
    async with _door(allowed_origins=["https://app.example"], patience=0.01) as address:
        url = address.url + (f"?x=1&token={text}" if "query" in way else "")
        if "header" in way:
            headers.append(("Authorization", f"Bearer {text}"))
        outcome = await _outcome(url, headers)
    if origin not in MAY_COME:
        assert outcome == 403
    elif way in ("header", "query"):
        assert outcome == "gateway.ready"
    else:
        assert outcome == 1008


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("127.0.0.1", True),
        ("localhost:80", True),
        ("LOCALHOST", True),
        ("[::1]:80", True),
        ("box.lan:9000", True),
        ("evil.example", False),
        ("evil.example:80", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("path", ["/api/ws", "/api/health", "/api/status"])
async def test_a_host_that_is_not_listed_is_not_served(
    host: str, path: str, *, served: bool
) -> None:
    """A name that was bent to this address is refused, also when Origin agrees with it (R146)."""
    async with _door(allowed_hosts=["box.lan"]) as address:
        head = await _http(
            address,
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Authorization: Bearer {TOKEN.reveal()}\r\n\r\n",
        )
    expected = (b" 101 " if path == "/api/ws" else b" 200 ") if served else b" 403 "
    assert expected in head.partition(b"\r\n")[0]


async def _http(address: Address, asked: str) -> bytes:
    async with await anyio.connect_tcp(address.host, address.port) as stream:
        await stream.send(asked.encode())
        return await stream.receive()


async def test_two_hosts_are_no_host() -> None:
    """A request that names two is not guessed at."""
    async with _door() as address:
        head = await _http(
            address, "GET /api/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
        )
    assert b" 403 " in head.partition(b"\r\n")[0]


async def test_health_and_status_tell_no_secrets() -> None:
    """They answer anybody here, and only they: other paths hold nothing (P-7)."""

    def status() -> dict[str, Any]:
        return {"sessions": 2}

    async with _door(status=status) as address:
        health = await _http(address, "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        shown = await _http(address, "GET /api/status?token=x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        other = await _http(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert health.endswith(b'\r\n\r\n{"status":"ok"}\n')
    assert shown.endswith(b'\r\n\r\n{"status":"ok","sessions":2}\n')
    assert b" 404 " in other.partition(b"\r\n")[0]
    assert TOKEN.reveal().encode() not in health + shown + other


async def test_the_first_frame_may_name_the_token() -> None:
    """It is answered like any request, behind `gateway.ready`, and goes no further (P-5, P-7)."""
    async with _door() as address, connect(address.url, proxy=None) as socket:
        first = dump(Request("a1", "gateway.authenticate", {"token": TOKEN.reveal()})).decode()
        await socket.send(first + "\n" + dump(Request("a2", "gateway.ping")).decode())
        frames = [parse(await socket.recv(decode=False)) for _ in range(3)]
        assert frames == [
            Notification("event", {"type": "gateway.ready"}),
            Reply("a1", {"method": "gateway.authenticate", "params": {}}),
            Reply("a2", {"method": "gateway.ping", "params": {}}),
        ]


@pytest.mark.parametrize(
    "frame",
    [
        '{"jsonrpc":"2.0","id":1,"method":"gateway.authenticate","params":{"token":"wrong"}}',
        '{"jsonrpc":"2.0","id":1,"method":"gateway.authenticate","params":{"token":null}}',
        '{"jsonrpc":"2.0","id":1,"method":"gateway.authenticate"}',
        '{"jsonrpc":"2.0","id":1,"method":"gateway.ping","params":{"token":"correct-horse"}}',
        "{not json",
    ],
)
async def test_any_other_first_frame_gets_nothing(frame: str) -> None:
    """No error text, no answer: the socket is closed with 1008 (P-7)."""
    async with _door() as address, connect(address.url, proxy=None) as socket:
        await socket.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 1008


async def test_a_binary_message_is_refused() -> None:
    """Frames are text; a peer that sends something else is told so and closed."""
    async with (
        _door() as address,
        connect(f"{address.url}?token={TOKEN.reveal()}", proxy=None) as socket,
    ):
        await socket.recv()
        await socket.send(b'{"jsonrpc":"2.0","id":1,"method":"m"}')
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 1003


async def test_a_giant_frame_costs_its_sender_alone() -> None:
    """Over the limit is 1009; the others do not notice (P-3, R147)."""
    async with (
        _door() as address,
        connect_websocket(address.url, TOKEN) as other,
        connect_websocket(address.url, TOKEN) as giant,
    ):
        await giant.receive()
        await giant.send(b"x" * ((16 << 20) + 1))
        with pytest.raises(HUNG_UP):
            await giant.receive()
        said = goodbye(giant)
        assert said
        assert said[0] == 1009
        await other.receive()
        await other.send(dump(Request(1, "m")))
        assert isinstance(parse(await other.receive()), Reply)


async def test_several_frames_in_a_message_are_several_frames() -> None:
    """Hermes's clients coalesce; what is sent is one frame a message (P-1)."""
    async with (
        _door() as address,
        connect(f"{address.url}?token={TOKEN.reveal()}", proxy=None) as socket,
    ):
        await socket.recv()
        frames = [dump(Request(number, "m")).decode() for number in range(3)]
        await socket.send("\n".join(frames) + "\n\n")
        answers = [parse(await socket.recv(decode=False)) for _ in frames]
        assert [getattr(answer, "id", None) for answer in answers] == [0, 1, 2]


async def test_leaving_is_announced() -> None:
    """When the door closes, everyone is told 1001 (P-7)."""
    ready = anyio.Event()
    goodbyes: list[tuple[int, str] | None] = []

    async def stay(url: str) -> None:
        async with connect_websocket(url, TOKEN) as line:
            await line.receive()
            ready.set()
            with pytest.raises(HUNG_UP):
                await line.receive()
            goodbyes.append(goodbye(line))

    async with anyio.create_task_group() as tasks, _door() as address:
        tasks.start_soon(stay, address.url)
        await ready.wait()
    assert goodbyes == [(1001, "going away")]


async def test_a_socket_that_reads_nothing_is_closed_with_1013() -> None:
    """A reader that stands still costs its own connection, and the close code says why (P-20)."""
    given_up = anyio.Event()

    async def flood(line: Transport) -> None:
        peer = Peer(line, _silent, outbox=Outbox(patience=0.2))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            with pytest.raises(PeerGone):
                await _pour(peer)
            given_up.set()

    async def read_to_the_end(line: Transport) -> None:
        while True:
            await line.receive()

    with anyio.fail_after(20):
        async with (
            serve_websocket("127.0.0.1", 0, TOKEN, flood) as address,
            connect_websocket(address.url, TOKEN) as line,
        ):
            await given_up.wait()
            with pytest.raises(HUNG_UP):
                await read_to_the_end(line)
            assert goodbye(line) == (1013, "too slow")


async def _silent(call: Call) -> None:
    """Have nothing to say."""


async def _pour(peer: Peer) -> None:
    """Send events until the line drops."""
    while True:
        await peer.notify("event", {"text": "x" * 60_000})


async def test_nobody_there_is_told_without_the_token() -> None:
    """The error names where, and not the query."""
    async with _door() as address:
        pass
    with pytest.raises(CannotConnect, match=r"ws://127\.0\.0\.1:\d+/api/ws: ") as refused:
        async with connect_websocket(f"{address.url}?token=s3cret", TOKEN):
            pass
    assert "s3cret" not in str(refused.value)


async def test_no_log_line_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    """Not even with every logger at its most talkative (P-7)."""
    caplog.set_level(logging.DEBUG)
    for name in ("gateway", "gateway.websocket", "websockets", "websockets.server"):
        caplog.set_level(logging.DEBUG, logger=name)
    async with _door(patience=0.01) as address:
        await _outcome(f"{address.url}?token={TOKEN.reveal()}", [])
        await _outcome(f"{address.url}?token=wr0ng", [])
        await _outcome(address.url, [("Authorization", f"Bearer {TOKEN.reveal()}")])
        async with connect_websocket(address.url) as line:
            first = Request(1, "gateway.authenticate", {"token": TOKEN.reveal()})
            await line.send(dump(first))
            await line.receive()
    server = [record for record in caplog.records if record.name != "websockets.client"]
    assert server
    shown = " ".join(record.getMessage() for record in server)
    assert TOKEN.reveal() not in shown
    assert "wr0ng" not in shown
