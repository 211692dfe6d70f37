"""Agents that do not answer: whoever waits hears of it in time, and nothing stays open."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

import anyio
import pytest

from gateway.errors import RpcError
from gateway.transports import run_process
from tests.gateway.stage import RawClient, actor, ended, said, scripted, staged

pytestmark = pytest.mark.anyio

SOON = 0.4
"""Seconds that an agent gets in these tests, for what it never does."""

LONGER = 1.5
"""Seconds for what it does, also on a busy machine."""

DEAF = "import time; time.sleep(600)"
"""An agent that reads nothing and says nothing."""

CLOSED = "import os, time; os.close(1); time.sleep(600)"
"""An agent that has closed its output, and goes on."""

SILENT_EXIT = "import sys; sys.stdin.readline()"
"""An agent that ends when it is spoken to."""


@pytest.mark.parametrize("method", ["initialize", "session/new"])
async def test_who_does_not_begin_is_ended(tmp_path: Path, method: str) -> None:
    """P-38, R049: an agent that answers neither is ended, and whoever asked is told; the next one
    is not held up."""
    agent = actor({"hangs": [method]}, opening=SOON)
    async with staged(tmp_path, agent, actor_named("other")) as stage, stage.client() as client:
        with pytest.raises(RpcError, match="did not answer in time"):
            await client.ask("session.create", {"cwd": ".", "agent": "actor"})
        assert not stage.gateway.sessions.live
        await client.ask("session.create", {"cwd": ".", "agent": "other"})


@pytest.mark.parametrize(
    ("script", "seconds", "why"),
    [(DEAF, SOON, "in time"), (CLOSED, 30.0, "it exited"), (SILENT_EXIT, 30.0, "it exited")],
    ids=["deaf", "closed", "silent exit"],
)
async def test_who_says_nothing_is_ended(
    tmp_path: Path, script: str, seconds: float, why: str
) -> None:
    """R049: whether it hangs, closes its output or ends, the error says which."""
    agent = replace(scripted("mute", script), opening=seconds)
    async with staged(tmp_path, agent) as stage, stage.client() as client:
        with pytest.raises(RpcError, match=why):
            await client.ask("session.create", {"cwd": "."})
        assert not stage.gateway.sessions.live


@pytest.mark.parametrize(("trouble", "why"), [("hangs", "in time"), ("crashes", "it exited")])
@pytest.mark.parametrize("method", ["session/resume", "session/load"])
async def test_who_does_not_resume_is_ended(
    tmp_path: Path, method: str, trouble: str, why: str
) -> None:
    """P-38: a session whose agent hangs or crashes over its past can be resumed again later."""
    able: dict[str, Any] = (
        {"sessionCapabilities": {"resume": {}}}
        if method == "session/resume"
        else {"loadSession": True}
    )
    async with staged(tmp_path, actor(able)) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
    frail = actor({**able, trouble: [method]}, opening=SOON if trouble == "hangs" else 30.0)
    async with staged(tmp_path, frail) as stage, stage.client() as client:
        with pytest.raises(RpcError, match=why):
            await client.ask("session.resume", where)
    async with staged(tmp_path, actor(able)) as stage, stage.client() as client:
        await client.ask("session.resume", where)
        assert where["session_id"] in stage.gateway.sessions.live
        events = await stage.log(where["session_id"])

    asked = [e["payload"]["method"] for e in events if e["type"] == "acp.call"]
    assert set(asked) == {method}


@pytest.mark.parametrize("shared", [False, True])
async def test_a_turn_that_is_not_ended_is_ended(tmp_path: Path, *, shared: bool) -> None:
    """P-31, P-40: an agent that goes on after a cancel is ended after a while; the log says why, and
    the session can be resumed."""
    agent = actor(shared=shared, stopping=SOON)
    async with staged(tmp_path, agent) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        receipt = await client.ask("prompt.submit", {**where, "text": "hang"})
        await client.events(until=lambda event: event["type"] == "acp.session_update")
        assert (await client.ask("session.interrupt", where))["interrupted"]
        heard = await client.events(until=ended(receipt["seq"]))
        await client.ask("session.resume", where)
        receipt = await client.ask("prompt.submit", {**where, "text": "say back"})
        again = await client.events(until=ended(receipt["seq"]))
        events = await stage.log(where["session_id"])

    exited = next(e["payload"] for e in events if e["type"] == "agent.exited")
    assert exited["reason"] == "cancel_ignored"
    assert f"within {SOON:g} s" in heard[-1]["payload"]["error"]["message"]
    assert again[-1]["payload"]["result"] == {"stopReason": "end_turn"}


async def test_a_turn_that_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    """P-31: a cancel that is heard costs nobody its agent, however long that lives on."""
    async with staged(tmp_path, actor(stopping=LONGER)) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        receipt = await client.ask("prompt.submit", {**where, "text": "wait"})
        await client.ask("session.interrupt", where)
        await client.events(until=ended(receipt["seq"]))
        receipt = await client.ask("prompt.submit", {**where, "text": "wait"})
        await stage.gateway.sessions.live[where["session_id"]].agent.peer.flushed()
        with pytest.raises(TimeoutError):
            await patience(stage.gateway.sessions.live[where["session_id"]].gone)
        assert (await client.ask("session.interrupt", where))["interrupted"]
        await client.events(until=ended(receipt["seq"]))
        events = await stage.log(where["session_id"])

    assert "agent.exited" not in [event["type"] for event in events]


async def patience(gone: Any) -> None:
    """Wait for longer than an agent gets."""
    with anyio.fail_after(1.3 * LONGER):
        await gone.wait()


@pytest.mark.parametrize("phase", ["initialize", "session/new", "prompt", "idle"])
async def test_a_crash_in_any_phase(tmp_path: Path, phase: str) -> None:
    """P-38, R049: whenever an agent crashes, whoever waits for it is told, with its last words."""
    script = CRASHING.format(phase=phase)
    async with staged(tmp_path, scripted("frail", script)) as stage, stage.client() as client:
        if phase in ("initialize", "session/new"):
            with pytest.raises(RpcError, match="it exited") as refused:
                await client.ask("session.create", {"cwd": "."})
            assert refused.value.data["stderr"] == f"no {phase} today"
            return
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        if phase == "prompt":
            receipt = await client.ask("prompt.submit", {**where, "text": "go"})
            heard = await client.events(until=ended(receipt["seq"]))
            assert "code 4" in heard[-1]["payload"]["error"]["message"]
        else:
            heard = await client.events(until=lambda event: event["type"] == "agent.exited")
        events = await stage.log(where["session_id"])

    exited = next(e["payload"] for e in events if e["type"] == "agent.exited")
    assert (exited["code"], exited["stderr"]) == (4, f"no {phase} today")


CRASHING = """
import json, sys
def die():
    sys.stderr.write("no {phase} today"); sys.stderr.flush(); sys.exit(4)
for line in sys.stdin:
    frame = json.loads(line)
    method = frame["method"]
    if method == "{phase}" or method == "session/prompt":
        die()
    result = {{"protocolVersion": 1}} if method == "initialize" else {{"sessionId": "a"}}
    print(json.dumps({{"jsonrpc": "2.0", "id": frame["id"], "result": result}}), flush=True)
    if method == "session/new" and "{phase}" == "idle":
        die()
"""


def actor_named(name: str) -> Any:
    """Return an agent of another name that hangs over nothing."""
    return replace(actor(), name=name)


LONG = """
import json, sys
LIMIT = 64 << 20
def update(size):
    text = lambda words: json.dumps({{"jsonrpc": "2.0", "method": "session/update", "params": {{
        "sessionId": "a", "update": {{"sessionUpdate": "agent_message_chunk",
        "content": {{"type": "text", "text": words}}}}}}}})
    line = text("x" * (size - len(text(""))))
    assert len(line) == size
    sys.stdout.write(line + chr(10))
for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "session/prompt":
        for size in {sizes}:
            update(size)
    result = {{"protocolVersion": 1, "sessionId": "a", "stopReason": "end_turn"}}
    print(json.dumps({{"jsonrpc": "2.0", "id": frame["id"], "result": result}}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_lines_of_64_mib(tmp_path: Path) -> None:
    """R148: a line of 64 MiB is recorded whole, one byte more is skipped and said to be, with its
    size, and what comes behind it is heard."""
    limit = 64 << 20
    agent = scripted("long", LONG.format(sizes=[limit, limit + 1, 200]))
    async with staged(tmp_path, agent) as stage, stage.client(blobs=True) as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        receipt = await client.ask("prompt.submit", {**where, "text": "go"})
        events = await client.events(until=ended(receipt["seq"]))
        assert await client.ask("gateway.ping") is not None

    said = [event["payload"] for event in events if event["type"] == "acp.session_update"]
    noise = [event["payload"] for event in events if event["type"] == "agent.noise"]
    first, last = [one["update"]["content"]["text"] for one in said]
    assert limit - 200 < first["size"] < limit
    assert 0 < len(last) < 200
    assert [one["size"] for one in noise] == [limit + 1]
    assert [event["type"] for event in events][-1] == "prompt.finished"


async def test_a_question_that_is_taken_back(tmp_path: Path) -> None:
    """P-27: an agent cancels its own call (`$/cancel_request`): the question is withdrawn, the call is
    answered -32800, and a person's answer to it is late."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        receipt = await client.ask("prompt.submit", {**where, "text": "regret"})
        await client.events(until=ended(receipt["seq"]))
        since = await client.ask("session.events.since", where)
        events = await stage.log(where["session_id"])

    assert since["open_requests"] == []
    cancels = [e["payload"]["reason"] for e in events if e["type"] == "request.cancel"]
    assert cancels == ["resolved"]
    assert "-32800" in said(events)


async def test_how_long_an_agent_gets_can_be_said(tmp_path: Path) -> None:
    """P-31, P-38: `serve --start-timeout` and `--stop-timeout` are what an agent gets."""
    slow, deaf = actor(), scripted("deaf", DEAF)
    agents = [f"{spec.name}={join(spec.argv)}" for spec in (slow, deaf)]
    serve = (sys.executable, "-m", "gateway", "serve", "--stdio", "--log", str(tmp_path / "log"))
    named = [word for agent in agents for word in ("--agent", agent)]
    limits = ("--start-timeout", "3", "--stop-timeout", f"{SOON}")
    with anyio.fail_after(30):
        async with run_process([*serve, *named, *limits]) as line:
            client = RawClient(line)
            await client.next()
            where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
            receipt = await client.ask("prompt.submit", {**where, "text": "hang"})
            await client.ask("session.interrupt", where)
            heard = await client.events(until=is_complete)
            began = anyio.current_time()
            with pytest.raises(RpcError, match="did not answer in time"):
                await client.ask("session.create", {"cwd": ".", "agent": "deaf"})
            took = anyio.current_time() - began

    assert receipt["status"] == "streaming"
    assert f"within {SOON:g} s" in str(heard[-1]["payload"])
    assert 3 <= took < 15


def is_complete(event: Any) -> bool:
    """Whether a turn has ended, in Hermes's words."""
    return bool(event["type"] == "message.complete")
