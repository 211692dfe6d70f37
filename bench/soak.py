"""Hours in miniature: a million events recorded, followed and caught up, in flat memory (R156, R162).

Above this module: `python -m bench soak`. Below it: the gateway's own server on a real WebSocket.

One client follows live and is slower than the log, one catches up again and again by pages, one
only pings. All of them and the gateway are this process: its memory is everyone's. `BENCH_EVENTS`
makes it shorter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any, Final

import anyio
import orjson
from websockets.asyncio.client import ClientConnection, connect

from bench.harness import Contender, Goal
from eventlog import Event, Log, SessionId
from gateway.auth import Token
from gateway.serve import gateway_on
from gateway.server import Server
from gateway.transports import serve_websocket

EVENTS: Final = int(os.environ.get("BENCH_EVENTS", "1000000"))
BATCH: Final = 500
LEAD: Final = EVENTS // 5
"""Events after which everything that is ever kept has been met once."""
FRAME: Final = 1 << 20
SESSION: Final = SessionId("s-soak")
TOKEN: Final = Token("bench")
_RESIDENT: Final = re.compile(r"VmRSS:\s+(\d+) kB")


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return the soak, and what it is to show."""
    soak = Contender(f"{EVENTS:,} events", _soak)
    return [soak], [
        Goal(
            "memory at the end over memory after a fifth (≤ 1.15)",
            lambda: soak.median("MiB at the end") / soak.median("MiB after a fifth"),
            lambda ratio: ratio <= 1.15,
        ),
        Goal(
            "p99 of pings, in ms, while others catch up (R162: < 200)",
            lambda: soak.median("ms ping p99"),
            lambda latency: latency < 200,
        ),
    ]


async def _soak(folder: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    pings: list[float] = []
    began = perf_counter()
    async with gateway_on(folder, {}) as gateway:
        await gateway.log.append(SESSION, [Event.of("session.opened", {"title": "soak"})])
        welcome = partial(Server(gateway).converse, asks=False)
        async with (
            serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address,
            anyio.create_task_group() as tasks,
        ):
            url = f"{address.url}?token={TOKEN.reveal()}"
            for client in (_catch_up, partial(_ping, pings)):
                tasks.start_soon(_visit, url, client)
            tasks.start_soon(_record, gateway.log)
            await _visit(url, partial(_follow, figures))
            tasks.cancel_scope.cancel()
    latencies = {"ms ping p99": quantiles(pings, n=100)[98], "ms slowest ping": max(pings)}
    return {**figures, **latencies, "events/s": EVENTS / (perf_counter() - began)}


async def _record(log: Log) -> None:
    """Record in the rhythm of an agent that never rests."""
    event = Event.of("message.delta", {"text": "x" * 200})
    for _ in range(EVENTS // BATCH):
        await log.append(SESSION, [event] * BATCH)


async def _visit(url: str, use: Callable[[ClientConnection], Awaitable[None]]) -> None:
    async with connect(url, max_size=FRAME, compression=None) as line:
        await line.recv()
        await _ask(line, "client.capabilities", {"acp_updates": True})
        await use(line)


async def _follow(figures: dict[str, float], line: ClientConnection) -> None:
    """Hear every event; note the memory after a fifth of them, and at the end."""
    await _ask(line, "session.events.subscribe", {"session_id": SESSION, "last_seen": 0})
    heard = 0
    while heard < EVENTS:
        heard += b'"method":"event"' in (await line.recv(decode=False))[:60]
        if heard == LEAD:
            figures["MiB after a fifth"] = _resident()
    figures["MiB at the end"] = _resident()


async def _catch_up(line: ClientConnection) -> None:
    """Read the whole session by pages, again and again."""
    last = 0
    while True:
        params = {"session_id": SESSION, "last_seen": last, "limit_bytes": FRAME}
        answer = await _ask(line, "session.events.since", params)
        last = answer["next"] if answer["has_more"] else 0
        await anyio.lowlevel.checkpoint()


async def _ping(pings: list[float], line: ClientConnection) -> None:
    while True:
        await anyio.sleep(0.05)
        before = perf_counter()
        await _ask(line, "gateway.ping", {})
        pings.append((perf_counter() - before) * 1e3)


async def _ask(line: ClientConnection, method: str, params: dict[str, Any]) -> Any:
    frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    await line.send(orjson.dumps(frame).decode())
    while "result" not in (answer := orjson.loads(await line.recv())):
        pass
    return answer["result"]


def _resident() -> float:
    """Return the memory that this process holds, in MiB."""
    found = _RESIDENT.search(Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0
