"""Many clients, many sessions, long sessions; and clients that wish nobody well."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from eventlog import Event, SessionId
from gateway.client import Backoff, client_of
from gateway.follower import Follower, Seen
from gateway.jsonrpc import Request, dump
from gateway.methods import Gateway
from gateway.outbox import Outbox
from gateway.serve import gateway_on
from gateway.server import Server
from gateway.transports import connect_websocket, serve_websocket
from tests.gateway.stage import QUIET, TOKEN, RawClient, Stage, bare, ended, player, staged

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

CAPTURE, (PROMPT,) = QUIET
SESSION = SessionId("s-long")
FRAME = 1 << 20
TEXT = "x" * 20_000
PATIENCE = 0.6
"""Seconds that a stalled client has here; 30 in earnest."""


def is_event(frame: bytes) -> bool:
    return b'"method":"event"' in frame and b'"seq":' in frame


@asynccontextmanager
async def impatient(folder: Path) -> AsyncGenerator[Stage, None]:
    """Serve a log in *folder* to clients that are given up soon."""
    async with gateway_on(folder, {}) as gateway:
        server = Server(gateway, outbox=partial(Outbox, patience=PATIENCE))
        welcome = partial(server.converse, asks=False)
        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:
            yield Stage(gateway, server, address.url)


async def fill(gateway: Gateway, size: int) -> int:
    """Record a session of at least *size* bytes; return its head."""
    await gateway.log.append(SESSION, [Event.of("session.opened", {"source": {"kind": "hosted"}})])
    head = 1
    for _ in range(size // (50 * len(TEXT)) + 1):
        events = [Event.of("message.delta", {"text": TEXT})] * 50
        head = (await gateway.log.append(SESSION, events)).last
    return head


async def test_a_hundred_clients_of_one_session(tmp_path: Path) -> None:
    """P-9, P-28, R062: each of a hundred hears the same bytes, all of them, in order."""
    async with staged(tmp_path, player(CAPTURE)) as stage, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(stage.client()) for _ in range(100)]
        first = clients[0]
        session = await first.ask("session.create", {"cwd": "."})
        for client in clients:
            await client.ask("session.events.subscribe", {"session_id": session["session_id"]})
        submit = {"session_id": session["session_id"], "text": PROMPT}
        receipt = await first.ask("prompt.submit", submit)

        async def listen(client: RawClient) -> None:
            await client.events(until=ended(receipt["seq"]))

        async with anyio.create_task_group() as tasks:
            for client in clients:
                tasks.start_soon(listen, client)
        heard = {
            b"\n".join(frame for frame in client.frames if is_event(frame))
            for client in clients[1:]
        }
        lines = await stage.lines(session["session_id"])
    assert len(heard) == 1
    frames = next(iter(heard)).split(b"\n")
    assert len(frames) == len(lines)
    assert all(frame.endswith(text[1:] + b"}") for frame, text in zip(frames, lines, strict=True))


async def test_a_thousand_sessions_on_one_line() -> None:
    """P-9, P-19: a client follows a thousand sessions; each has its history, its border, its live
    events, and none has another's.
    """
    ids = [SessionId(f"s-{number}") for number in range(1_000)]
    async with bare() as stage, stage.near(acp_updates=True) as client:
        log = stage.gateway.log
        for id_ in ids:
            await log.append(id_, [Event.of("notice", {"message": f"old {id_}"})])
        for id_ in ids:
            await client.ask("session.events.subscribe", {"session_id": id_, "last_seen": 0})
        for id_ in ids:
            await log.append(id_, [Event.of("notice", {"message": f"new {id_}"})])
        while sum(map(is_event, client.frames)) < 2 * len(ids):
            await client.next()
        frames = b"\n".join(client.frames)
    for id_ in ids:
        old, border, new = (
            frames.index(text % id_.encode())
            for text in (
                b'"old %b"',
                b'"session.caught_up","params":{"session_id":"%b"',
                b'"new %b"',
            )
        )
        assert old < border
        assert old < new


def noting(numbers: list[int]) -> Seen:
    """Return what keeps the number of every event."""
    return lambda envelope, _: numbers.append(envelope["seq"])


def both_turns_are_over(me: Follower) -> bool:
    """Whether two turns have begun and ended."""
    turns = me.transcript.turns
    return len(turns) == 2 and turns[1].ended is not None


async def test_five_sessions_come_back_together(tmp_path: Path) -> None:
    """R051, P-24: a line that carries five sessions drops in mid-delivery; on the next one each goes
    on from where it was, live again, and a prompt to each is acknowledged.
    """
    async with staged(tmp_path, player(CAPTURE, "--gap-ms", "2")) as stage:
        dial = partial(connect_websocket, stage.url, TOKEN)
        numbers: dict[str, list[int]] = {}
        async with client_of(dial, backoff=Backoff(first=0.02, most=0.1)) as client:
            followers = []
            for _ in range(5):
                session = await client.request("session.create", {"cwd": "."})
                heard = numbers.setdefault(session["session_id"], [])
                followers.append(
                    await client.follow(
                        session["session_id"],
                        seen=noting(heard),
                    )
                )
            for follower in followers:
                await client.submit(follower.session_id, PROMPT)
            await followers[0].until(lambda me: me.seq > 20)
            await client.drop()
            for follower in followers:
                assert (await client.submit(follower.session_id, "And again"))["seq"] > 0
            for follower in followers:
                await follower.until(both_turns_are_over)
    assert client.lines == 2
    assert all(heard == list(range(1, len(heard) + 1)) for heard in numbers.values())


@pytest.mark.parametrize(
    "size",
    [20 << 20, pytest.param(200 << 20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
)
async def test_long_session_in_small_frames(tmp_path: Path, size: int) -> None:
    """P-3, P-15, R147: a client that takes frames of at most 1 MiB catches up all of a long session,
    by pages and as a stream, and a ping is answered in between.
    """
    async with gateway_on(tmp_path, {}) as gateway:
        head = await fill(gateway, size)
        welcome = partial(Server(gateway).converse, asks=False)
        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:
            url = f"{address.url}?token={TOKEN.reveal()}"
            assert await by_pages(url) == head
            assert await as_a_stream(url) == head


async def test_pages_of_many_small_events(tmp_path: Path) -> None:
    """P-3, P-15, R147: a page of thousands of small events, each with a long name, is no larger."""
    async with gateway_on(tmp_path, {}) as gateway:
        name = SessionId("s-" + "n" * 120)
        for _ in range(10):
            await gateway.log.append(name, [Event.of("message.delta", {"text": "word"})] * 2_000)
        welcome = partial(Server(gateway).converse, asks=False)
        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:
            assert await by_pages(f"{address.url}?token={TOKEN.reveal()}", name) == 20_000


async def by_pages(url: str, session_id: SessionId = SESSION) -> int:
    """Catch up with `since`; return the last event, when none was missing."""
    last, more = 0, True
    async with connect(url, max_size=FRAME, compression=None) as line:
        await line.recv()
        await line.send(dump(Request(1, "client.capabilities", {"acp_updates": True})).decode())
        await line.recv()
        while more:
            params = {"session_id": session_id, "last_seen": last, "limit_bytes": FRAME}
            await line.send(dump(Request(2, "session.events.since", params)).decode())
            answer = await line.recv(decode=False)
            for number in re.findall(rb'"seq":(\d+),"ts"', answer):
                assert int(number) == last + 1
                last += 1
            more = b'"has_more":true' in answer
    return last


async def as_a_stream(url: str) -> int:
    """Catch up with `subscribe`, pinging now and then; return the last event."""
    last, pongs = 0, 0
    async with connect(url, max_size=FRAME, compression=None) as line:
        await line.recv()
        await line.send(dump(Request(1, "client.capabilities", {"acp_updates": True})).decode())
        params = {"session_id": SESSION, "last_seen": 0}
        await line.send(dump(Request(2, "session.events.subscribe", params)).decode())
        while b'"session.caught_up"' not in (frame := await line.recv(decode=False)):
            if is_event(frame):
                assert b'"seq":%d,' % (last + 1) in frame[:120]
                last += 1
                if last % 100 == 1:
                    await line.send(dump(Request(3, "gateway.ping")).decode())
            pongs += b'"id":3' in frame
    assert pongs >= last // 200
    return last


async def test_stalled_client_costs_nobody_else(tmp_path: Path) -> None:
    """P-20: one that takes no byte is given up after the time allowed; meanwhile recording goes on,
    and another client hears every event.
    """
    async with impatient(tmp_path) as stage:
        head = await fill(stage.gateway, 20 << 20)
        url = f"{stage.url}?token={TOKEN.reveal()}"
        stalled = await connect(url, max_size=None, max_queue=1, compression=None)
        params = {"session_id": SESSION, "last_seen": 0}
        await stalled.send(dump(Request(1, "client.capabilities", {"acp_updates": True})).decode())
        await stalled.send(dump(Request(2, "session.events.subscribe", params)).decode())
        async with stage.client() as client:
            await client.ask("session.events.subscribe", {**params, "last_seen": head})
            given_up = False
            while not given_up:
                span = await stage.gateway.log.append(
                    SESSION, [Event.of("notice", {"message": "x"})]
                )
                (event,) = await client.events(until=lambda _: True)
                assert event["seq"] == span.last
                given_up = len(stage.gateway.clients) == 1
        with pytest.raises(ConnectionClosed):
            await hear_out(stalled)


async def test_one_who_asks_and_never_listens(tmp_path: Path) -> None:
    """P-2, P-20: a flood of nonsense whose answers nobody takes ends that line, and no other."""
    async with impatient(tmp_path) as stage, stage.client() as client:
        url = f"{stage.url}?token={TOKEN.reveal()}"
        hostile = await connect(url, max_size=None, max_queue=1, compression=None)
        with pytest.raises(ConnectionClosed), anyio.fail_after(60):
            await flood(hostile, client)
        await client.ask("gateway.ping")


async def hear_out(line: ClientConnection) -> None:
    """Take what comes until the line is gone."""
    while True:
        await line.recv()


async def flood(hostile: ClientConnection, other: RawClient) -> None:
    """Send nonsense for ever; the other client is answered each time."""
    nonsense = "\n".join(["{"] * 2_000)
    while True:
        await hostile.send(nonsense)
        await other.ask("gateway.ping")


async def test_half_open_lines_hold_up_nobody(tmp_path: Path) -> None:
    """P-7: connections that never finish their handshake, or say nothing after it, are sent nothing."""
    async with impatient(tmp_path) as stage, AsyncExitStack() as stack:
        port = int(stage.url.split(":")[2].split("/")[0])
        halves: list[SocketStream] = []
        for _ in range(50):
            half = await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port))
            await half.send(b"GET /api/ws HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            halves.append(half)
        silent = await stack.enter_async_context(connect_websocket(stage.url))
        async with stage.client() as client:
            await client.ask("gateway.ping")
        with anyio.move_on_after(0.1) as waiting:
            await silent.receive()
        assert waiting.cancelled_caught
        assert len(stage.gateway.clients) <= 1
