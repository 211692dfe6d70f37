"""What grows with a log, and what must not: memory, the time to a ping, a gateway's sessions."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import anyio
import pytest

from eventlog import Event, SessionId
from tests.gateway.stage import RawClient, Stage, staged

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

EVENT: Final = Event.of("message.delta", {"text": "x" * 16_000})
PAGE: Final = 960 << 10


def resident() -> int:
    """Return the bytes of memory that this process has."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found
    return int(found[1]) * 1024


async def fill(stage: Stage, sessions: int, events: int) -> list[SessionId]:
    ids = [SessionId(f"s-{number}") for number in range(sessions)]
    async with anyio.create_task_group() as tasks:
        for id_ in ids:
            tasks.start_soon(partial(stage.gateway.log.append, id_, [EVENT] * events))
    return ids


async def everything(client: RawClient, session_id: str) -> int:
    """Read a session by pages; return how many events it has, none of them missing."""
    last, more = 0, True
    while more:
        params = {"session_id": session_id, "last_seen": last, "limit_bytes": PAGE}
        page = await client.ask("session.events.since", params)
        assert [event["seq"] for event in page["events"]] == list(range(last + 1, page["next"] + 1))
        last, more = page["next"], page["has_more"]
        client.frames.clear()
    return last


async def test_memory_is_bounded_by_no_session(tmp_path: Path) -> None:
    """R156: what is recorded and read again, 96 MB in sixty sessions, all of it from the first event
    on, leaves less than a third of that in memory, the clients' included.
    """
    async with staged(tmp_path) as stage, stage.client() as client:
        warm = await fill(stage, 1, 64)
        await everything(client, warm[0])
        before = resident()
        for part in range(20):
            ids = [SessionId(f"p{part}-{number}") for number in range(3)]
            for id_ in ids:
                await stage.gateway.log.append(id_, [EVENT] * 100)
            for id_ in ids:
                assert await everything(client, id_) == 100
        assert resident() - before < 32 << 20


async def test_a_ping_does_not_wait_for_a_long_catch_up(tmp_path: Path) -> None:
    """R162, P-5: while two clients read 32 MB, by pages and as a stream, and a third asks for the
    transcript, a ping takes less than 200 ms.
    """
    async with (
        staged(tmp_path) as stage,
        stage.client() as pages,
        stage.client() as stream,
        stage.client(blobs=True) as folded,
        stage.client() as pinging,
        anyio.create_task_group() as tasks,
    ):
        (session_id,) = await fill(stage, 1, 2_000)
        over = anyio.Event()

        async def read() -> None:
            await everything(pages, session_id)
            over.set()

        async def follow() -> None:
            params = {"session_id": session_id, "last_seen": 0}
            await stream.ask("session.events.subscribe", params)
            await stream.hear("session.caught_up")

        tasks.start_soon(read)
        tasks.start_soon(follow)
        tasks.start_soon(folded.ask, "session.transcript", {"session_id": session_id})
        waits = []
        while not over.is_set():
            began = anyio.current_time()
            await pinging.ask("gateway.ping")
            waits.append(anyio.current_time() - began)
    assert len(waits) > 5
    assert median(waits) < 0.2


async def test_a_thousand_sessions_of_one_gateway(tmp_path: Path) -> None:
    """P-9, P-19, R156: a thousand sessions in one log on disk, all of them followed by one client
    and written at once: each event comes once, in its session's order.
    """
    async with staged(tmp_path) as stage, stage.client() as client:
        ids = [SessionId(f"s-{number}") for number in range(1_000)]
        log = stage.gateway.log

        async def write(id_: SessionId) -> None:
            for number in range(3):
                await log.append(id_, [Event.of("notice", {"message": f"{id_} {number}"})])

        for id_ in ids:
            await log.append(id_, [Event.of("notice", {"message": f"{id_} -1"})], expected=0)
        for id_ in ids:
            await client.ask("session.events.subscribe", {"session_id": id_, "last_seen": 0})
        async with anyio.create_task_group() as tasks:
            for id_ in ids:
                tasks.start_soon(write, id_)
        heard: dict[str, list[str]] = {id_: [] for id_ in ids}
        pattern = re.compile(rb'"session_id":"(s-\d+)","seq":\d+.*"message":"([^"]*)"')
        while sum(map(len, heard.values())) < 4 * len(ids):
            for frame in client.frames:
                if found := pattern.search(frame):
                    heard[found[1].decode()].append(found[2].decode())
            client.frames.clear()
            if sum(map(len, heard.values())) < 4 * len(ids):
                await client.next()
    assert all(
        told == [f"{id_} {number}" for number in range(-1, 3)] for id_, told in heard.items()
    )
