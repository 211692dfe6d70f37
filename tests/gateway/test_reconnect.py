"""A client that is cut off, wherever it is, ends with what it would have heard uncut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import codec
from gateway.jsonrpc import Notification, parse
from tests.gateway.stage import QUIET, RawClient, Stage, ended, player, staged

pytestmark = pytest.mark.anyio

CAPTURE, (PROMPT,) = QUIET


async def recorded_session(stage: Stage) -> tuple[str, int]:
    """Play one turn without anybody following it; return the session and its head."""
    async with stage.client() as client:
        session = await client.ask("session.create", {"cwd": "."})
        receipt = await client.ask(
            "prompt.submit", {"session_id": session["session_id"], "text": PROMPT}
        )
        heard = await client.events(until=ended(receipt["seq"]))
    return session["session_id"], heard[-1]["seq"]


def is_event(frame: bytes) -> bool:
    return b'"method":"event"' in frame and b'"seq":' in frame


async def stream(client: RawClient, session_id: str, last: int, count: int) -> list[bytes]:
    """Subscribe after *last*, and return the bytes of at most *count* events."""
    answer = await client.ask(
        "session.events.subscribe", {"session_id": session_id, "last_seen": last}
    )
    wanted = min(count, answer["latest_seq"] - last)
    frames = [frame for frame in client.frames if is_event(frame)]
    assert frames == []  # nothing overtakes the answer
    while len(frames) < wanted:
        if is_event(frame := await client.next()):
            frames.append(frame)
    return frames


async def test_cut_off_after_every_kth_frame(tmp_path: Path) -> None:
    """P-9, P-19, R048: for each k, dropped after every k-th frame, the bytes are the same."""
    async with staged(tmp_path, player(CAPTURE)) as stage:
        session_id, head = await recorded_session(stage)
        async with stage.client() as client:
            whole = await stream(client, session_id, 0, head)
        assert len(whole) == head

        for k in range(1, head + 1):
            pieces: list[bytes] = []
            while len(pieces) < head:
                async with stage.near(acp_updates=True) as client:
                    pieces += await stream(client, session_id, len(pieces), k)
            assert pieces == whole, f"dropped after every {k} frames"


@pytest.mark.parametrize("k", [1, 7, 40])
async def test_cut_off_while_the_turn_runs(tmp_path: Path, k: int) -> None:
    """P-9, P-23, R061, R062: the same live, over sockets, and each time only the gap is sent."""
    async with staged(tmp_path, player(CAPTURE, "--gap-ms", "2")) as stage:
        async with stage.client() as client:
            session = await client.ask("session.create", {"cwd": "."})
            session_id = session["session_id"]
            await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})

        pieces: list[bytes] = []
        while not pieces or b'"type":"prompt.finished"' not in pieces[-1]:
            async with stage.client() as client:
                await client.ask(
                    "session.events.subscribe", {"session_id": session_id, "last_seen": len(pieces)}
                )
                taken = 0
                while taken < k and not (pieces and b'"prompt.finished"' in pieces[-1]):
                    if is_event(frame := await client.next()):
                        pieces.append(frame)
                        taken += 1
                sent = [frame for frame in client.frames if is_event(frame)]
                assert sent == pieces[len(pieces) - taken :]  # nothing is sent a second time

        async with stage.client() as client:
            whole = await stream(client, session_id, 0, len(pieces))
        assert pieces == whole


async def test_live_and_since_are_the_same_bytes(tmp_path: Path) -> None:
    """P-11, P-13, R003: what `since` lists is what was sent live, and both are the log's line."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session = await client.ask("session.create", {"cwd": "."})
        session_id = session["session_id"]
        receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
        await client.events(until=ended(receipt["seq"]))
        live = [frame for frame in client.frames if is_event(frame)]

        await client.ask("session.events.since", {"session_id": session_id})
        answer = client.frames[-1]

        first = codec.loads(live[0])["params"]["seq"]
        for frame, line in zip(live, (await stage.lines(session_id))[first - 1 :], strict=True):
            params = frame.removeprefix(b'{"jsonrpc":"2.0","method":"event","params":')[:-1]
            assert params in answer
            assert params == b'{"session_id":"%b",' % session_id.encode() + line[1:]


async def test_turn_that_ended_meanwhile_is_over(tmp_path: Path) -> None:
    """R049: a client that lost its line right after the start hears the end, and knows no cursor."""
    async with staged(tmp_path, player(CAPTURE)) as stage:
        session_id, head = await recorded_session(stage)
        async with stage.client() as client:
            answer = await client.ask("session.events.subscribe", {"session_id": session_id})
            heard = await client.events(until=lambda params: params["seq"] == head)
            border = await client.hear("session.caught_up")

    assert answer["latest_seq"] == head
    assert heard[-1]["type"] == "prompt.finished"
    assert border.params == {"session_id": session_id, "seq": head}


async def test_caught_up_is_told_once_and_live_goes_on(tmp_path: Path) -> None:
    """P-19, R008: history, one border, then live events; nobody is told a border twice."""
    async with staged(tmp_path, player(CAPTURE)) as stage:
        session_id, head = await recorded_session(stage)
        async with stage.client() as client:
            await client.ask(
                "session.events.subscribe", {"session_id": session_id, "last_seen": head}
            )
            await client.hear("session.caught_up")
            receipt = await client.ask(
                "prompt.submit", {"session_id": session_id, "text": "And again"}
            )
            await client.events(until=ended(receipt["seq"]))
            heard = [_seq(frame) for frame in client.frames if is_event(frame)]
            borders = [f for f in client.frames if b'"session.caught_up"' in f]

    assert heard == list(range(head + 1, heard[-1] + 1))
    assert len(borders) == 1


async def test_snapshot_stands_behind_the_last_event_sent(tmp_path: Path) -> None:
    """P-21: the answer of activate says where the stream stands on this very connection."""
    async with (
        staged(tmp_path, player(CAPTURE, "--gap-ms", "1")) as stage,
        stage.client() as client,
    ):
        session = await client.ask("session.create", {"cwd": "."})
        session_id = session["session_id"]
        await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
        for _ in range(10):
            answer = await client.ask("session.activate", {"session_id": session_id})
            sent = [_seq(frame) for frame in client.frames if is_event(frame)]
            over = any(b'"type":"prompt.finished"' in frame for frame in client.frames)
            assert answer["latest_seq"] == sent[-1]
            assert answer["running"] is not over
            with anyio.move_on_after(0.01):
                await client.next()
        while not any(b'"type":"prompt.finished"' in frame for frame in client.frames):
            await client.next()
        sent = [_seq(frame) for frame in client.frames if is_event(frame)]

    assert sent == list(range(sent[0], sent[0] + len(sent)))


async def test_readers_do_not_take_from_each_other(tmp_path: Path) -> None:
    """R062, R052: two connections at once have a cursor each, and both hear everything."""
    async with staged(tmp_path, player(CAPTURE)) as stage:
        session_id, head = await recorded_session(stage)
        async with stage.client() as one, stage.client() as other:
            first = await stream(one, session_id, 0, head)
            second = await stream(other, session_id, 0, head)

    assert first == second


def _seq(frame: bytes) -> Any:
    match parse(frame):
        case Notification("event", dict(params)):
            return params["seq"]
    raise AssertionError(frame)
