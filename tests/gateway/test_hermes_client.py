"""A Hermes client that knows nothing of ACP: it follows, loses its line, catches up, answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from eventlog import SessionId
from eventlog.vocabulary import HERMES
from gateway.hermes_view import View
from tests.gateway.stage import QUIET, RawClient, Stage, player, prompts, staged

pytestmark = pytest.mark.anyio

CAPTURE, (PROMPT,) = QUIET
TOOLS = "kimi-tools"


def is_event(frame: bytes) -> bool:
    return b'"method":"event"' in frame and b'"seq":' in frame


def of(frames: list[bytes]) -> list[bytes]:
    return [frame for frame in frames if is_event(frame)]


def done(event: dict[str, Any]) -> bool:
    return bool(event["type"] == "message.complete")


@asynccontextmanager
async def worked(
    folder: Path, capture: str
) -> AsyncGenerator[tuple[Stage, str, list[bytes]], None]:
    """A session in which a Hermes client has followed a turn from the start; what it heard."""
    async with staged(folder, player(capture)) as stage:
        async with stage.client(acp_updates=False) as client:
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            params = {"session_id": session_id, "content": prompts(capture)[0]}
            await client.ask("prompt.submit", params)
            await turn(client)
            live = of(client.frames)
        yield stage, session_id, live


async def turn(client: RawClient) -> None:
    """Follow a turn to its end, permitting what is asked."""
    while True:
        frame = await client.next()
        if b'"method":"approval"' in frame:
            id_ = frame[frame.index(b"srq-") :][:16]
            await client.say(b'{"jsonrpc":"2.0","id":"%b","result":{"choice":"once"}}' % id_)
        if b'"type":"message.complete"' in frame:
            return


async def subscribed(client: RawClient, session_id: str, last: int) -> list[bytes]:
    """Subscribe after *last*; return the events of history."""
    params = {"session_id": session_id, "last_seen": last}
    await client.ask("session.events.subscribe", params)
    await client.hear("session.caught_up")
    return of(client.frames)


@pytest.mark.parametrize("capture", [CAPTURE, TOOLS])
async def test_history_is_what_was_live(tmp_path: Path, capture: str) -> None:
    """P-11, P-19, P-6: from any cut, the bytes of catching up are those that were sent live."""
    async with worked(tmp_path, capture) as (stage, session_id, live):
        lines = await stage.lines(session_id)
        whole = View(session_id).see(lines)
        assert len(live) <= len(whole)
        for cut in {0, 1, 5, len(lines) // 2, len(lines) - 1}:
            async with stage.near(server_requests=True) as client:
                caught = await subscribed(client, session_id, cut)
            since = await stage_since(stage, session_id, cut)
            expected = [frame for frame in frames_of(session_id, whole) if seq(frame) > cut]
            assert caught == expected
            assert since == [frame[len(HEAD) : -1] for frame in expected]
        sent = [frame for frame in frames_of(session_id, whole) if frame in live]
        assert sent == live
    assert all(kind in HERMES for kind in kinds(live))


HEAD = b'{"jsonrpc":"2.0","method":"event","params":'


def frames_of(session_id: str, lines: list[bytes]) -> list[bytes]:
    return [HEAD + b'{"session_id":"%b",' % session_id.encode() + line[1:] + b"}" for line in lines]


def seq(frame: bytes) -> int:
    return int(frame.split(b'"seq":', 1)[1].split(b",", 1)[0])


def kinds(frames: list[bytes]) -> set[str]:
    return {frame.split(b'"type":"', 1)[1].split(b'"', 1)[0].decode() for frame in frames}


async def stage_since(stage: Stage, session_id: str, cut: int) -> list[bytes]:
    """Return the objects that `since` lists, page by page, as the bytes that came."""
    found: list[bytes] = []
    cursor, more = cut, True
    async with stage.near(server_requests=True) as client:
        while more:
            params = {"session_id": session_id, "last_seen": cursor, "limit": 7}
            page = await client.ask("session.events.since", params)
            body = client.frames[-1].split(b'"events":[', 1)[1].rsplit(b'],"count"', 1)[0]
            head = b'{"session_id":"%b","seq":' % session_id.encode()
            found += [head + item.removesuffix(b",") for item in body.split(head)[1:]]
            cursor, more = page["next"], page["has_more"]
    return found


async def test_a_turn_as_hermes_tells_it(tmp_path: Path) -> None:
    """P-6: its tools start and end, its text streams, its end completes the message."""
    async with worked(tmp_path, TOOLS) as (_, _, live):
        told = [frame.split(b'"type":"', 1)[1].split(b'"', 1)[0].decode() for frame in live]

    assert told.count("tool.start") == told.count("tool.complete") > 0
    assert told.count("message.start") == told.count("message.complete") == 1
    assert {"message.delta", "reasoning.delta", "todo.updated", "request.cancel"} <= set(told)


async def test_a_client_that_reads_acp_is_not_touched(tmp_path: Path) -> None:
    """P-6, P-11: with `acp_updates` the log's own lines are sent, beside a Hermes client."""
    async with worked(tmp_path, CAPTURE) as (stage, session_id, _):
        lines = await stage.lines(session_id)
        async with stage.near(acp_updates=True) as client:
            caught = await subscribed(client, session_id, 0)

    assert caught == frames_of(session_id, lines)


async def test_delivery_that_was_paused_goes_on_unchanged(tmp_path: Path) -> None:
    """P-21, P-19: a snapshot in the middle of a stream neither doubles nor loses a word."""
    async with staged(tmp_path, player(CAPTURE, "--gap-ms", "3")) as stage:
        async with stage.client(acp_updates=False) as client:
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
            for _ in range(20):
                await client.ask("session.activate", {"session_id": session_id})
            await turn(client)
            live = of(client.frames)
        page = await stage.gateway.log.read(SessionId(session_id), limit=10_000)

    whole = frames_of(session_id, View(session_id).see(page.lines))
    begin = whole.index(live[0])
    assert live == whole[begin : begin + len(live)]
