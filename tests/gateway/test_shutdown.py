"""Who leaves: the clients, all of them; the gateway, in a real process with a real signal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shlex import join

import anyio
import pytest

from eventlog import SessionId, SqliteStore, parse
from gateway.announcement import gateway_in
from gateway.auth import VARIABLE
from gateway.closing import recover
from gateway.errors import Closing
from gateway.transports import connect_websocket
from gateway.transports.transport import HUNG_UP, goodbye
from replay import render_text
from tests.gateway.stage import ASKING, QUIET, TOKEN, RawClient, ended, player, staged

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

CAPTURE, PROMPT = ASKING


async def test_sigterm_in_mid_turn(tmp_path: Path) -> None:
    """P-7, P-27: the turn and its question end with the reason in the log; the client is told so,
    then that the gateway goes (1001). Exit code 0, nothing lost, nothing left to settle.
    """
    serve = (sys.executable, "-m", "gateway", "serve", "--log", str(tmp_path))
    agent = f"a={join(player(CAPTURE).argv)}"
    command = (*serve, "--listen", "127.0.0.1:0", "--agent", agent)
    environment = {**os.environ, VARIABLE: TOKEN.reveal()}
    async with await anyio.open_process(command, env=environment) as process:
        assert process.stderr
        said = b""
        while b"ws://" not in said:
            said += await process.stderr.receive()
        url = gateway_in(tmp_path)
        assert url
        async with connect_websocket(url, TOKEN) as line:
            client = RawClient(line)
            await client.next()
            await client.ask("client.capabilities", {"server_requests": True, "acp_updates": True})
            session = await client.ask("session.create", {"cwd": str(tmp_path)})
            submit = {"session_id": session["session_id"], "text": PROMPT}
            receipt = await client.ask("prompt.submit", submit)
            asked = await client.hear("session/request_permission")

            process.terminate()
            heard = []
            try:
                while True:
                    heard.append(await client.next())
            except HUNG_UP:
                closing = goodbye(line)
        assert await process.wait() == 0

    assert closing
    assert closing[0] == Closing.GOING_AWAY
    assert gateway_in(tmp_path) is None
    async with SqliteStore.open(tmp_path) as log:
        lines = (await log.read(SessionId(session["session_id"]), limit=10_000)).lines
        assert await recover(log) == []
    told = [frame for frame in heard if b'"method":"event"' in frame]
    assert told[-1].endswith(lines[-1][1:] + b"}"), "the client heard the log to its end"
    events = [parse(text) for text in lines]
    (cancel,) = [e["payload"] for e in events if e["type"] == "request.cancel"]
    assert (cancel["id"], cancel["reason"]) == (asked.id, "shutdown")
    (end,) = [e["payload"] for e in events if e["type"] == "prompt.finished"]
    assert end["prompt"] == receipt["seq"]
    (exited,) = [e["payload"] for e in events if e["type"] == "agent.exited"]
    assert exited["reason"] == "shutdown"


async def test_nobody_there_is_no_end(tmp_path: Path) -> None:
    """R068, P-23: all clients leave in mid-turn; the turn goes on to its end, the session is not
    closed. Stopping a turn says by whom and why, in the log and in the text.
    """
    capture, (prompt,) = QUIET
    async with staged(tmp_path, player(capture, "--gap-ms", "5")) as stage:
        async with stage.client() as client:
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            submit = {"session_id": session_id, "text": prompt}
            receipt = await client.ask("prompt.submit", submit)
            await client.events(until=lambda event: event["seq"] > receipt["seq"] + 3)
        async with stage.client() as client:
            await client.ask("session.events.subscribe", {"session_id": session_id})
            heard = await client.events(until=ended(receipt["seq"]))
            assert heard[-1]["payload"]["result"]["stopReason"] == "end_turn"
            assert not {event["type"] for event in heard} & {"session.closed", "turn.interrupted"}

            receipt = await client.ask("prompt.submit", submit)
            await client.events(until=lambda event: event["seq"] > receipt["seq"] + 3)
            await client.ask("session.interrupt", {"session_id": session_id})
        recorded = await stage.log(session_id)
        (stopped,) = [event["payload"] for event in recorded if event["type"] == "turn.interrupted"]
        transcript = await stage.gateway.transcripts.at(SessionId(session_id))
    assert stopped["reason"] == "user"
    assert f"interrupt requested · by {stopped['by']} · user" in render_text(transcript)
