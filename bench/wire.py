"""The wire: catching up a long session (B-7), and what is live to a hundred clients (B-13).

Above this module: `python -m bench wire`. Below it: the gateway's own server on a real WebSocket,
and beside it the least that a server on the same library could do.

Both ends of every line run in this process: the ratios count, not the rates. Beside the rate stands
what an event cost the processor at both ends together, which a busy machine does not change as much.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import anyio
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, broadcast, serve

from bench.harness import Contender, Goal, percentiles
from eventlog import Event, Log, Page, SessionId, codec
from gateway.auth import Token
from gateway.serve import gateway_on
from gateway.server import Server
from gateway.transports import serve_websocket

EVENTS: Final = 100_000
CLIENTS: Final = 100
LIVE_EVENTS: Final = 100
SESSION: Final = SessionId("s-bench")
TOKEN: Final = Token("bench")
TEXT: Final = "x" * 200
PAGE: Final = 960 << 10
_NEXT: Final = re.compile(rb'"next":(\d+)')
_MORE: Final = b'"has_more":true'
"""The client reads no more of an answer than it must: what is measured is the server."""

Pages = Callable[[int], Awaitable[Page]]


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return who is measured, and the goals of store.md."""
    ours = Contender("since, spliced pages", partial(_catch_up, _ours))
    compact = Contender("since, compact pages", partial(_catch_up, _ours_compact))
    parsed = Contender("the same, parsed and printed again", partial(_catch_up, _parsed))
    single = Contender("one frame an event", partial(_catch_up, _one_by_one))
    live = Contender(f"append to the last of {CLIENTS}", _live)
    bare = Contender("bare broadcast", _bare)
    rate = "events/s"
    return [ours, compact, parsed, single, live, bare], [
        Goal(
            "catch-up over parsing again (B-7: ≥ 3)",
            lambda: ours.median(rate) / parsed.median(rate),
            lambda ratio: ratio >= 3,
        ),
        Goal(
            "catch-up over one frame an event (B-7: ≥ 8)",
            lambda: ours.median(rate) / single.median(rate),
            lambda ratio: ratio >= 8,
        ),
        Goal(
            "processor time of parsing again over catch-up's",
            lambda: parsed.median("ns processor") / ours.median("ns processor"),
        ),
        Goal(
            "processor time of one frame an event over catch-up's",
            lambda: single.median("ns processor") / ours.median("ns processor"),
        ),
        Goal(
            f"live p99 over a bare broadcast's to {CLIENTS} (B-13: ≤ 1.5)",
            lambda: live.median("µs p99") / bare.median("µs p99"),
            lambda ratio: ratio <= 1.5,
        ),
    ]


async def _catch_up(how: Callable[[Log, str], Awaitable[int]], folder: Path) -> dict[str, float]:
    """Fill a log, then time how long a client takes to have all of it."""
    async with _gateway(folder) as (log, url):
        await log.append(SESSION, [Event.of("session.opened", {"source": {"kind": "imported"}})])
        for _ in range(EVENTS // 1000):
            await log.append(SESSION, [Event.of("message.delta", {"text": TEXT})] * 1000)
        began, worked = perf_counter(), process_time()
        count = await how(log, url)
        worked = process_time() - worked
        return {"events/s": count / (perf_counter() - began), "ns processor": worked / count * 1e9}


async def _ours(_: Log, url: str, *, compact: bool = False) -> int:
    async with connect(url, max_size=None, compression=None) as line:
        await line.recv()
        await _ask(line, "client.capabilities", {"acp_updates": True, "compact": compact})
        cursor, more = 0, True
        while more:
            params = {"session_id": SESSION, "last_seen": cursor, "limit_bytes": PAGE}
            await _send(line, "session.events.since", params)
            answer = await line.recv(decode=False)
            cursor, more = int(_NEXT.findall(answer[-2000:])[-1]), _MORE in answer[-2000:]
        return cursor


async def _send(line: ClientConnection, method: str, params: dict[str, Any]) -> None:
    frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    await line.send(orjson.dumps(frame).decode())


async def _ours_compact(log: Log, url: str) -> int:
    return await _ours(log, url, compact=True)


async def _ask(line: ClientConnection, method: str, params: dict[str, Any]) -> Any:
    await _send(line, method, params)
    while "result" not in (answer := orjson.loads(await line.recv())):
        pass
    return answer["result"]


async def _parsed(log: Log, _: str) -> int:
    """Serve pages of the same size from parsed events: what splicing saves."""

    async def answer(connection: ServerConnection) -> None:
        cursor = 0
        while page := (
            await log.read(SESSION, after=cursor, limit=1 << 20, limit_bytes=PAGE)
        ).lines:
            events = [{"session_id": SESSION, **codec.loads(line)} for line in page]
            cursor = events[-1]["seq"]
            await connection.send(orjson.dumps({"result": {"events": events}}).decode())

    return await _count_pages(answer)


async def _one_by_one(log: Log, _: str) -> int:
    async def answer(connection: ServerConnection) -> None:
        cursor = 0
        while page := (await log.read(SESSION, after=cursor, limit=512)).lines:
            for line in page:
                await connection.send(orjson.dumps(codec.loads(line)).decode())
            cursor = codec.loads(page[-1])["seq"]

    return await _count_pages(answer)


async def _count_pages(answer: Callable[[ServerConnection], Awaitable[None]]) -> int:
    seen = 0
    async with serve(answer, "127.0.0.1", 0, max_size=None, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", max_size=None, compression=None) as line:
            while seen <= EVENTS:
                seen += (await line.recv(decode=False)).count(b'"seq":')
    return seen


async def _live(folder: Path) -> dict[str, float]:
    """Append one event after the other; time until the last client has it."""
    async with _gateway(folder) as (log, url):
        await log.append(SESSION, [Event.of("session.opened", {"source": {"kind": "imported"}})])
        async with _connected([url] * CLIENTS) as lines:
            for line in lines:
                await line.recv()
                await _ask(
                    line, "session.events.subscribe", {"session_id": SESSION, "last_seen": 1}
                )
                await line.recv()  # caught up

            event = Event.of("message.delta", {"text": TEXT})

            async def append() -> None:
                await log.append(SESSION, [event])

            return percentiles(await _until_the_last(append, lines))


async def _bare(_: Path) -> dict[str, float]:
    """Do the least: give the library one message for all, made beforehand, of the same size."""
    here: set[ServerConnection] = set()
    done = anyio.Event()

    async def keep(connection: ServerConnection) -> None:
        here.add(connection)
        await done.wait()

    message = "x" * 360
    async with serve(keep, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with _connected([f"ws://127.0.0.1:{port}"] * CLIENTS) as lines:
            while len(here) < CLIENTS:
                await anyio.lowlevel.checkpoint()

            async def send() -> None:
                broadcast(here, message)

            latencies = await _until_the_last(send, lines)
            done.set()
    return percentiles(latencies)


async def _until_the_last(
    send: Callable[[], Coroutine[Any, Any, None]], lines: Sequence[ClientConnection]
) -> list[float]:
    latencies = []
    for _ in range(LIVE_EVENTS):
        began = perf_counter()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            for line in lines:
                tasks.start_soon(line.recv)
        latencies.append((perf_counter() - began) * 1e6)
    return latencies


@asynccontextmanager
async def _connected(urls: Sequence[str]) -> AsyncGenerator[list[ClientConnection], None]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(connect(url, max_size=None, compression=None))
            for url in urls
        ]


@asynccontextmanager
async def _gateway(folder: Path) -> AsyncGenerator[tuple[Log, str], None]:
    async with gateway_on(folder, {}) as gateway:
        welcome = partial(Server(gateway).converse, asks=False)
        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:
            yield gateway.log, f"{address.url}?token={TOKEN.reveal()}"
