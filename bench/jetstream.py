"""The log on three servers that sync always, beside what its users would do without us (B-14).

Above this module: the command line. Below it: `cluster_worker`, servers, the log.

Both sides use one cluster, in turn, in the same run: a stream of ours, and a stream of three
copies into which every event is published as a message of its own.
"""

from __future__ import annotations

import sys
from asyncio import gather
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import nats
from anyio.abc import Process

from bench.cluster_worker import BURST, EVENT, bursts
from bench.harness import Contender, Goal, percentiles
from bench.peers.server import PAYLOAD
from eventlog import Log, SessionId, codec, open_log
from tests.nats.cluster import Cluster, servers

SESSIONS = 32
ROUNDS = 10
"""Bursts of each session."""
SINGLE = 300
CURVE = (1, 10, 100, 1_000, 10_000)
CURVE_BURST = 16
"""Events of a burst at every point of the curve: a message has what a burst has."""
AT_LEAST = 40_000
"""Events of a point of the curve."""
GATEWAYS = (1, 2, 3)


@asynccontextmanager
async def _cluster(folder: Path) -> AsyncGenerator[Cluster, None]:
    async with servers(folder / "servers", nodes=3, links=False) as cluster:
        yield cluster


@asynccontextmanager
async def _ours(cluster: Cluster) -> AsyncGenerator[Log, None]:
    async with open_log(f"{cluster.url}/ours?deadline=60&lease=60") as log:
        yield log


@asynccontextmanager
async def _bare(cluster: Cluster) -> AsyncGenerator[Any, None]:
    """Open a stream of three copies, for messages of others."""
    client = await nats.connect(cluster.url.split(","), dont_randomize=True)
    try:
        stream = client.jetstream(timeout=60, publish_async_max_pending=1 << 20)
        await stream.add_stream(name="bare", subjects=["bare.*"], num_replicas=3)
        yield stream
    finally:
        await client.close()


async def writing(folder: Path) -> dict[str, float]:
    """Let 32 sessions write bursts of 64, each burst when the last is durable; read it all back."""
    names = [SessionId(f"s{number}") for number in range(SESSIONS)]
    count = SESSIONS * ROUNDS * BURST
    async with _cluster(folder) as cluster, _ours(cluster) as log, _bare(cluster) as stream:
        for name in names:
            await log.leases.acquire(name)
        ours = await _timed(lambda: bursts(log, names, ROUNDS))
        bare = await _timed(lambda: _bursts_of_messages(stream, names))
        ours_read = await _timed(lambda: _read(log, names))
        bare_read = await _timed(lambda: _read_messages(stream, names))
    return {
        "events/s written, ours": count / ours,
        "events/s written, a message each": count / bare,
        "events/s read, ours": count / ours_read,
        "events/s read, a message each": count / bare_read,
    }


async def _bursts_of_messages(stream: Any, names: list[SessionId]) -> None:
    async def session(name: str) -> None:
        for _ in range(ROUNDS):
            await gather(*(stream.publish(f"bare.{name}", PAYLOAD) for _ in range(BURST)))

    await gather(*map(session, names))


async def _read(log: Log, names: list[SessionId]) -> None:
    """Read every session in pages, with checksum and gap test, as a client catches up."""
    for name in names:
        cursor, head = 0, 1
        while cursor < head:
            page = await log.read(name, after=cursor, limit=512, limit_bytes=65_536)
            cursor, head = page.next, page.head
        assert head == ROUNDS * BURST


async def _read_messages(stream: Any, names: list[SessionId]) -> None:
    for name in names:
        reader = await stream.subscribe(f"bare.{name}", ordered_consumer=True)
        for _ in range(ROUNDS * BURST):
            assert (await reader.next_msg(timeout=30)).data
        await reader.unsubscribe()


async def single(folder: Path) -> dict[str, float]:
    """Append one event after the other beside one bare publish after the other, in turn."""
    name = SessionId("s")
    ours, bare = [], []
    async with _cluster(folder) as cluster, _ours(cluster) as log, _bare(cluster) as stream:
        await _lead(cluster, "ours", "bare")
        await log.leases.acquire(name)
        await log.append(name, [EVENT])
        for _ in range(SINGLE):
            ours.append(1e6 * await _timed(lambda: log.append(name, [EVENT])))
            bare.append(1e6 * await _timed(lambda: stream.publish("bare.s", PAYLOAD)))
    told = {"ours": percentiles(ours), "a bare publish": percentiles(bare)}
    return {
        f"{figure}, {who}": value for who, found in told.items() for figure, value in found.items()
    }


async def _lead(cluster: Cluster, *streams: str) -> None:
    """Let one server lead *streams*, the one to which both sides are connected: neither goes far."""
    first = cluster.nodes[0]
    wanted = codec.dumps({"placement": {"preferred": first.name}})
    client = await nats.connect(first.url)
    try:
        for name in streams:
            with anyio.fail_after(30):
                while await cluster.leader(name) is not first:
                    api = f"$JS.API.STREAM.LEADER.STEPDOWN.{name}"
                    await client.request(api, wanted, timeout=5)
                    await anyio.sleep(0.5)
    finally:
        await client.close()


def many(sessions: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what lets that many sessions write, all at once, bursts of 16."""

    async def run(folder: Path) -> dict[str, float]:
        names = [SessionId(f"s{number}") for number in range(sessions)]
        rounds = max(1, AT_LEAST // sessions // CURVE_BURST)
        async with _cluster(folder) as cluster, _ours(cluster) as log:
            empty = _memory(cluster)
            making = await _timed(lambda: bursts(log, names, 1, 1))
            grown = _memory(cluster) - empty
            taken = await _timed(lambda: bursts(log, names, rounds, CURVE_BURST))
        found = {"events/s": sessions * rounds * CURVE_BURST / taken}
        if sessions >= 1_000:
            found["new sessions/s"] = sessions / making
            found["bytes of memory a session and server"] = grown / sessions / 3
        return found

    return run


def _memory(cluster: Cluster) -> int:
    """Return the bytes of memory that the servers have."""
    total = 0
    for node in cluster.nodes:
        assert node.process
        status = Path(f"/proc/{node.process.pid}/status").read_text("utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
        total += int(line.split()[1]) * 1024
    return total


def gateways(count: int) -> Callable[[Path], Awaitable[dict[str, float]]]:
    """Return what lets that many processes write sessions of their own, 32 in all."""

    async def run(folder: Path) -> dict[str, float]:
        async with _cluster(folder) as cluster, AsyncExitStack() as ends:
            async with _ours(cluster):
                pass  # it is made
            workers = []
            for number in range(count):
                mine = [f"s{each}" for each in range(SESSIONS) if each % count == number]
                log = f"{cluster.url}/ours?deadline=60&lease=60"
                command = (sys.executable, "-m", "bench.cluster_worker", log, str(ROUNDS), *mine)
                workers.append(
                    await ends.enter_async_context(await anyio.open_process(command, stderr=None))
                )
            for worker in workers:
                await _said(worker, b"ready\n")
            taken = await _timed(lambda: _together(workers))
        return {"events/s": SESSIONS * ROUNDS * BURST / taken}

    return run


async def _together(workers: list[Process]) -> None:
    async with anyio.create_task_group() as tasks:
        for worker in workers:
            assert worker.stdin
            await worker.stdin.send(b"go\n")
            tasks.start_soon(_said, worker, b"done\n")


async def _said(worker: Process, text: bytes) -> None:
    assert worker.stdout
    said = b""
    with anyio.fail_after(120):
        while said != text:
            said += await worker.stdout.receive()
            assert text.startswith(said), said


async def _timed(do: Callable[[], Awaitable[object]]) -> float:
    """Return how long it takes, in seconds."""
    before = perf_counter()
    await do()
    return perf_counter() - before


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    bulk = Contender("three servers, 32 sessions in bursts of 64", writing)
    one = Contender("three servers, one at a time", single)
    curve = [Contender(f"ours, {count:,} sessions", many(count)) for count in CURVE]
    several = [Contender(f"ours, {count} gateways", gateways(count)) for count in GATEWAYS]

    def over(contender: Contender, figure: str, ours: str, other: str) -> Callable[[], float]:
        return lambda: (
            contender.median(f"{figure}, {ours}") / contender.median(f"{figure}, {other}")
        )

    goals = [
        Goal(
            "B-14: events/s written over a message an event (≥ 8)",
            over(bulk, "events/s written", "ours", "a message each"),
            lambda ratio: ratio >= 8,
        ),
        Goal(
            "B-14: events/s read over a message an event (≥ 5)",
            over(bulk, "events/s read", "ours", "a message each"),
            lambda ratio: ratio >= 5,
        ),
        *(
            Goal(
                f"B-14: {figure} of a durable append over a bare publish (≤ 1.3)",
                over(one, figure, "ours", "a bare publish"),
                lambda ratio: ratio <= 1.3,
            )
            for figure in ("µs p50", "µs p99")
        ),
        Goal(
            "B-14: events/s of 10,000 sessions over those of 100",
            lambda: curve[-1].median("events/s") / curve[2].median("events/s"),
        ),
        Goal(
            "B-14: events/s of 3 gateways over those of 1",
            lambda: several[-1].median("events/s") / several[0].median("events/s"),
        ),
    ]
    return [bulk, one, *curve, *several], goals
