"""A client that takes frames of at most 1 MiB, and misses nothing for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import connect

from eventlog import Event, SessionId
from gateway.client import Asked, Backoff, client_of
from gateway.errors import RpcError
from gateway.follower import Parked
from gateway.methods import Gateway
from gateway.serve import gateway_on
from gateway.server import Server
from gateway.transports import serve_websocket
from gateway.transports.websocket import WebSocketTransport
from replay import digest, state_of
from tests.gateway.stage import TOKEN, RawClient, bare

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SESSION = SessionId("s-1")
FRAME = 1 << 20
OPENED = Event.of(
    "session.opened",
    {"source": {"kind": "hosted", "name": "a"}, "agent": {"name": "a"}, "protocol": 1},
)


def says(text: str) -> Event:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return Event.of("acp.session_update", {"update": update})


def turn(seq: int, *events: Event) -> list[Event]:
    """Return a turn whose prompt stands at *seq*."""
    content = [{"type": "text", "text": "go"}]
    end = Event.of("prompt.finished", {"prompt": seq, "result": {"stopReason": "end_turn"}})
    return [Event.of("prompt.submitted", {"content": content}), *events, end]


@asynccontextmanager
async def small_frames(folder: Path) -> AsyncGenerator[tuple[Gateway, Any], None]:
    """Serve a log in *folder*; yield a way to dial that breaks on a frame over 1 MiB."""
    async with gateway_on(folder, {}) as gateway:
        welcome = partial(Server(gateway).converse, asks=False)
        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:

            @asynccontextmanager
            async def dial() -> AsyncGenerator[WebSocketTransport, None]:
                url = f"{address.url}?token={TOKEN.reveal()}"
                async with connect(url, max_size=FRAME, compression=None) as connection:
                    yield WebSocketTransport(connection)

            yield gateway, dial


async def fill(gateway: Gateway, size: int) -> int:
    """Record a session with strings that no frame can hold, and *size* bytes of others."""
    long = ["image " * 500_000, '"\\' * 300_000, "é丽\U0001f600" * 150_000]
    await gateway.log.append(SESSION, [OPENED])
    head = 1
    for number, text in enumerate(long):
        own = Event.of("message.delta", {"own": {"$blob": "mine", "n": number}, "text": "x"})
        head = (await gateway.log.append(SESSION, turn(head + 1, says(text), own))).last
    for _ in range(size // 1_000_000):
        head = (await gateway.log.append(SESSION, turn(head + 1, *[says("y" * 20_000)] * 50))).last
    return head


@pytest.mark.parametrize(
    "size",
    [20 << 20, pytest.param(200 << 20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
)
async def test_the_reference_client_takes_a_long_session_in_small_frames(
    tmp_path: Path, size: int
) -> None:
    """P-3, P-34, P-26, R147: history with strings of megabytes, then live; then, when it was pruned,
    from a snapshot whose head and entries no frame can hold: the digest is the gateway's each time,
    and the line never breaks.
    """
    async with small_frames(tmp_path) as (gateway, dial):
        head = await fill(gateway, size)
        numbers: list[int] = []
        async with client_of(dial) as client:
            follower = await client.follow(
                SESSION, seen=lambda envelope, _live: numbers.append(envelope["seq"])
            )
            await follower.until(lambda me: me.caught_up)
            await gateway.log.append(SESSION, turn(head + 1, says("live " * 400_000)))
            await follower.until(lambda me: me.seq == head + 3)
            assert client.lines == 1
        assert numbers == list(range(1, head + 4))
        whole = digest(await gateway.transcripts.at(SESSION))
        assert digest(follower.transcript) == whole

        await gateway.log.prune(SESSION, state_of(await gateway.transcripts.at(SESSION, head)))
        async with client_of(dial) as client:
            again = await client.follow(SESSION)
            await again.until(lambda me: me.caught_up)
            assert (client.lines, again.resets) == (1, 1)
        assert digest(again.transcript) == whole


async def test_a_large_question_is_asked_in_a_small_frame(tmp_path: Path) -> None:
    """P-3, P-17, P-27, P-34: its large strings are fetched, and the answerer sees it as it was."""
    text = "new text " * 300_000
    asked = {"toolCall": {"toolCallId": "t", "rawInput": {"text": text, "$blob": "own"}}}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    opened = {
        "id": "srq-000000000001",
        "method": "session/request_permission",
        "params": {**asked, "options": options},
    }
    heard = anyio.Event()
    seen: list[Asked] = []

    async def answer(question: Asked) -> Any:
        seen.append(question)
        heard.set()
        raise RpcError(-32601, "not here")

    async with small_frames(tmp_path) as (gateway, dial):
        await gateway.log.append(SESSION, [OPENED, Event.of("request.opened", opened)])
        async with client_of(dial, answerer=answer, backoff=Backoff(first=60)) as client:
            await client.follow(SESSION)
            await heard.wait()
            page = await client.request("session.events.since", {"session_id": SESSION})
            assert client.lines == 1
    assert seen[0].params["toolCall"] == asked["toolCall"]
    (item,) = page["open_requests"]
    assert item["params"]["toolCall"]["rawInput"]["text"]["size"] == len(text)


async def pages(client: RawClient, **capped: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor, more = 0, True
    while more:
        page = await client.ask(
            "session.events.since", {"session_id": SESSION, "last_seen": cursor, **capped}
        )
        found += page["events"]
        cursor, more = page["next"], page["has_more"]
    return found


async def test_pages_for_a_hermes_client_are_cut_where_they_are_full() -> None:
    """P-3, P-11, P-15: what it is told grows in translation, as each turn's end repeats its text;
    no page is longer for it, and pages of any size give the same.
    """
    events = [OPENED]
    for _ in range(20):
        events += turn(len(events) + 1, *[says("z" * 50_000)] * 6)
    async with bare(*events) as stage, stage.near() as client:
        await client.ask("session.events.subscribe", {"session_id": SESSION})
        streamed = await client.events(until=lambda params: params["seq"] == len(events))
        client.frames.clear()
        whole = await pages(client, limit_bytes=FRAME)
        assert max(map(len, client.frames)) < FRAME
        by_one = await pages(client, limit=1)
    assert [item["type"] for item in streamed].count("message.complete") == 20
    assert whole == by_one == streamed


def test_what_waits_is_bounded() -> None:
    """What is too much is let go and said to be; the first one waits whatever its size."""
    parked = Parked(room=10)
    for number in range(3):
        parked.put(number, 5)
    assert parked.overflowed
    assert parked.first() == 0
    parked.drop_first()
    parked.put(7, 1)
    assert parked.first() == 1
    parked.drop_first()
    assert not parked
    parked.clear()
    assert not parked.overflowed
