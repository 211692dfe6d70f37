"""`hermes-gateway wrap hermes` as a program: commands, sockets, signals."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from eventlog import SessionId, codec, open_reader, parse
from gateway.auth import Token, load_token
from gateway.gateway_player import GatewayPlayer
from gateway.transports import (
    Exit,
    Transport,
    connect_websocket,
    run_process,
    serve_websocket,
)
from tests.gateway.wrap.bench import lines_of
from tests.gateway.wrap.house import HERMES, Window, event, gateway, opening
from tests.gateway.wrap.test_hermes import QUESTION, STREAMING, SUBMIT, from_upstream

pytestmark = pytest.mark.anyio

WRAP = [sys.executable, "-m", "gateway", "wrap", "hermes"]
UPSTREAM = Token("the-upstreams-own-token")


async def recorded(log: Path, session_id: str) -> list[Any]:
    """Return every event of a session."""
    async with open_reader(log) as reader:
        return [parse(line) for line in await lines_of(reader, SessionId(session_id))]


async def test_a_command_is_wrapped_on_stdio(tmp_path: Path) -> None:
    """A client starts us as it would start the gateway; when it hangs up, the gateway's process
    ends with us, and the log says so (P-1, P-4, P-5)."""
    play = [sys.executable, "-m", "gateway", "play", str(HERMES / "01_basic_turn.jsonl")]
    command = [*WRAP, "--log", str(tmp_path), "--", *play, "--as", "gateway"]
    async with run_process(command) as line:
        window = Window(line)
        ready = codec.loads(await line.receive())
        assert ready["params"]["type"] == "gateway.ready"
        assert ready["params"]["payload"]["skin"]["name"] == "default"
        name = (await window.ask("session.create", cols=100))["session_id"]
        await window.ask("prompt.submit", session_id=name, text="hello there")
        await window.event("message.complete")
        await line.send_eof()
        assert await line.exited() == Exit(0)

    log = await recorded(tmp_path, name)
    assert log[0]["payload"]["source"] == {"kind": "wrapped", "name": "gateway"}
    assert log[-1]["type"] == "agent.exited"


async def test_a_gateway_that_does_not_start_ends_us_alike(tmp_path: Path) -> None:
    """On stdio alone there is nothing to serve without it: its exit code is ours."""
    command = [
        *WRAP,
        "--log",
        str(tmp_path),
        "--",
        sys.executable,
        "-S",
        "-c",
        "raise SystemExit(3)",
    ]
    async with run_process(command) as line:
        assert await line.exited() == Exit(3)


@asynccontextmanager
async def upstream(player: GatewayPlayer) -> AsyncGenerator[str, None]:
    """Serve a recorded gateway on a WebSocket; give its address, token included."""

    async def welcome(line: Transport) -> None:
        await player.serve(line)

    async with serve_websocket("127.0.0.1", 0, UPSTREAM, welcome) as address:
        yield f"{address.url}?token={UPSTREAM.reveal()}"


@asynccontextmanager
async def program(log: Path, url: str) -> AsyncGenerator[tuple[Process, str, list[str]], None]:
    """Run us in front of the gateway at *url*; give the process, our address, what it says."""
    options = ["--log", str(log), "--listen", "127.0.0.1:0", "--upstream", url]
    async with await anyio.open_process([*WRAP, *options]) as process:
        assert process.stderr
        said: list[str] = []
        found = anyio.Event()

        async def listen() -> None:
            assert process.stderr
            async for text in TextReceiveStream(process.stderr):
                said.append(text)
                if "listening on ws:" in "".join(said) and said[-1].endswith("\n"):
                    found.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await found.wait()
            address = "".join(said).partition("listening on ws:")[2].split()[0]
            try:
                yield process, f"ws:{address}", said
            finally:
                if process.returncode is None:
                    process.kill()
                await process.wait()


@asynccontextmanager
async def window_at(log: Path, address: str) -> AsyncGenerator[Window, None]:
    """Connect as a client."""
    async with connect_websocket(address, load_token(log, {})) as line:
        window = Window(line)
        await window.event("gateway.ready")
        await window.ask("client.capabilities", server_requests=True)
        yield window


async def test_a_question_outlives_our_own_sudden_death(tmp_path: Path) -> None:
    """We are killed with SIGKILL while the gateway waits for an answer and goes on talking;
    started again, we ask for what follows the last event that the log has, the question is open
    under its id, and its answer reaches the gateway (P-32, P-39)."""
    heard = ("in", {"id": QUESTION["id"], "result": {}})
    steps: list[Any] = [
        *opening(),
        SUBMIT,
        STREAMING,
        event(1),
        QUESTION,
        event(2),
        heard,
        event(3),
    ]
    player = gateway(*steps)
    async with upstream(player) as url:
        async with program(tmp_path, url) as (process, address, _):
            async with window_at(tmp_path, address) as window:
                name = (await window.ask("session.create"))["session_id"]
                await window.ask("prompt.submit", session_id=name, text="go")
                await window.asked("clarify")
            process.send_signal(signal.SIGKILL)
            await process.wait()
        async with program(tmp_path, url) as (process, address, said):
            async with window_at(tmp_path, address) as window:
                await window.ask("session.events.subscribe", session_id=name, last_seen=0)
                asked = await window.asked("clarify")
                await window.answer(asked["id"], result={"answers": {"q0": "this"}})
                await window.until(lambda frame: "origin" in (frame.get("params") or {}))
                while len(from_upstream(window.events)) < 3:
                    await window.next()
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

    log = await recorded(tmp_path, name)
    assert [item["origin"] for item in from_upstream(log)] == [
        f"eeeeeeee.aaaa0001:{n}" for n in (1, 2, 3)
    ]
    assert player.answered[QUESTION["id"]]["result"] == {"answers": {"q0": "this"}}
    assert UPSTREAM.reveal() not in "".join(said)
    assert "agent.exited" not in [item["type"] for item in log]
