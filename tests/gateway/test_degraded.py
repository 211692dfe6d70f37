"""A disk without room under a real gateway: a process of its own, whose files may not grow (S-9)."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import join
from typing import Any

import anyio
import pytest

from eventlog import Envelope, SessionId, SqliteStore, parse
from gateway.auth import VARIABLE
from gateway.closing import recover
from gateway.errors import Code, RpcError
from gateway.jsonrpc import Notification, Reply, dump
from gateway.jsonrpc import parse as parse_frame
from gateway.transports import connect_websocket
from tests.gateway.stage import TOKEN, RawClient, ended

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

CHUNKS, SIZE = 120, 30_000
"""What the agent says to a prompt: 3.6 MB, far more than it is given room for."""

TALKER = """
import json, sys
def say(**frame): print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)
def chunk(text): say(method="session/update", params={"sessionId": "a-1", "update": {
    "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
for line in sys.stdin:
    call = json.loads(line)
    if call.get("method") == "initialize":
        say(id=call["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif call.get("method") == "session/new":
        say(id=call["id"], result={"sessionId": "a-1"})
    elif call.get("method") == "session/prompt":
        asked, word = call["id"], call["params"]["prompt"][0]["text"]
        if word == "ask":
            say(id=99, method="session/request_permission", params={"sessionId": "a-1",
                "toolCall": {"toolCallId": "t-1"},
                "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]})
            continue
        for number in range(CHUNKS):
            chunk(f"{number:06}" + "x" * (SIZE - 6))
        if word == "die":
            sys.exit(7)
        say(id=asked, result={"stopReason": "end_turn"})
    elif call.get("id") == 99:
        chunk(call["result"]["outcome"]["optionId"])
        say(id=asked, result={"stopReason": "end_turn"})
"""


NONE, LITTLE, PLENTY = 0, 1_500_000, resource.RLIM_INFINITY
"""Bytes that a file may have."""


class House:
    """A gateway's process, its client, and the room that its files have."""

    def __init__(self, process: anyio.abc.Process, client: RawClient, folder: Path) -> None:
        self.process, self.client, self.folder = process, client, folder

    def room(self, size: int) -> None:
        """Let no byte of a file be written beyond *size*: the WAL is written from its start on."""
        limit = (size, resource.RLIM_INFINITY)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, limit)

    async def create(self) -> str:
        session = await self.client.ask("session.create", {"cwd": str(self.folder)})
        return str(session["session_id"])

    async def submit(self, session_id: str, text: str) -> int:
        receipt = await self.client.ask("prompt.submit", {"session_id": session_id, "text": text})
        return int(receipt["seq"])

    async def fails(self, method: str, params: dict[str, Any]) -> None:
        with pytest.raises(RpcError) as refused:
            await self.client.ask(method, params)
        assert refused.value.code == Code.LOG_UNAVAILABLE


@asynccontextmanager
async def house(
    folder: Path,
    script: str = f"CHUNKS, SIZE = {CHUNKS}, {SIZE}{TALKER}",
    *options: str,
    cwd: Path | None = None,
) -> AsyncGenerator[House, None]:
    agent = f"a={join((sys.executable, '-c', script))}"
    serve = (sys.executable, "-m", "gateway", "serve", "--log", str(folder), "--agent", agent)
    environment = {**os.environ, VARIABLE: TOKEN.reveal()}
    command = (*serve, "--listen", "127.0.0.1:0", *options)
    async with await anyio.open_process(command, env=environment) as process:
        try:
            assert process.stderr
            said = b""
            while b"ws://" not in said or not said.endswith(b"\n"):
                said += await process.stderr.receive()
            url = said[said.index(b"ws://") :].split()[0].decode()
            async with connect_websocket(url, TOKEN) as line, anyio.create_task_group() as tasks:
                tasks.start_soon(_drain, process)
                client = RawClient(line)
                await client.next()
                can = {"server_requests": True, "acp_updates": True}
                await client.ask("client.capabilities", can)
                yield House(process, client, cwd or folder)
                tasks.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                process.kill()


async def _drain(process: anyio.abc.Process) -> None:
    """Take what the gateway says of itself, so that it never waits for that."""
    assert process.stderr
    async for _ in process.stderr:
        pass


def texts(events: list[Envelope]) -> list[str]:
    """Return what the agent said, chunk by chunk."""
    updates = [e["payload"]["update"] for e in events if e["type"] == "acp.session_update"]
    return [update["content"]["text"] for update in updates]


async def log_of(folder: Path, session_id: str) -> list[Envelope]:
    async with SqliteStore.open(folder) as log:
        await recover(log)  # as the next gateway would
        page = await log.read(SessionId(session_id), limit=100_000)
        return [parse(text) for text in page.lines]


async def test_an_agent_waits_for_the_disk_and_nothing_is_lost(tmp_path: Path) -> None:
    """S-9, R041, P-10: with the disk full clients are told why, calls that would be recorded are
    refused with 5003 and nothing of them is there afterwards, reading and pings go on, and the
    agent waits in its pipe. With room again clients are told, and every word it said is there.
    """
    async with house(tmp_path) as here:
        client, session_id = here.client, await here.create()
        here.room(LITTLE)
        seq = await here.submit(session_id, "talk")
        told = await client.hear("log.degraded")
        assert "SQLITE_" in told.params["reason"]

        await client.ask("gateway.ping")
        where = {"session_id": session_id}
        before = (await client.ask("session.events.since", {**where, "limit": 1}))["latest_seq"]
        await here.fails("prompt.submit", {**where, "text": "x" * 60_000})
        await here.fails("session.close", where)
        shown = await client.ask("session.events.since", {**where, "limit": 1})
        assert shown["latest_seq"] == before

        here.room(PLENTY)
        await client.hear("log.recovered")
        seqs = [parse_frame(frame) for frame in client.frames if b'"seq":' in frame]
        while not any(
            isinstance(f, Notification) and isinstance(f.params, dict) and ended(seq)(f.params)
            for f in seqs[-1:]
        ):
            frame = await client.next()
            if b'"seq":' in frame:
                seqs.append(parse_frame(frame))
        here.process.terminate()
        assert await here.process.wait() == 0

    events = await log_of(tmp_path, session_id)
    assert [text[:6] for text in texts(events)] == [f"{number:06}" for number in range(CHUNKS)]
    assert [e["type"] for e in events if e["type"].startswith("log.")] == []
    assert sum(e["type"] == "prompt.submitted" for e in events) == 1


PATIENT_TALKER = """
import json, os, sys
def say(**frame): print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    if call["method"] == "initialize":
        say(id=call["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif call["method"] == "session/new":
        say(id=call["id"], result={"sessionId": "a-1"})
    elif call["method"] == "session/prompt":
        asked = call["id"]
        for number in range(60):
            say(method="session/update", params={"sessionId": "a-1", "update": {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": f"{number:06}" + "x" * 994}}})
        say(id=7, method="session/request_permission", params={"sessionId": "a-1",
            "toolCall": {"toolCallId": "t-1"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]})
    elif call["method"] == "session/cancel":
        open("stopped", "w").close()
        say(id=asked, result={"stopReason": "cancelled"})
"""


async def test_an_agent_is_stopped_on_a_full_disk(tmp_path: Path) -> None:
    """S-9, P-31: an interrupt reaches the agent although nothing can be recorded; the agent is not
    ended for its silence meanwhile, and with room again the log has it all: what it had said, that it
    was stopped, once, and how the turn ended.
    """
    limits = ("--stop-timeout", "1")
    async with house(tmp_path / "log", PATIENT_TALKER, *limits, cwd=tmp_path) as here:
        client, session_id = here.client, await here.create()
        where = {"session_id": session_id}
        await here.submit(session_id, "talk")
        here.room(NONE)
        await here.fails("session.title", {**where, "title": "x"})
        with anyio.fail_after(20):
            first = await client.ask("session.interrupt", where)
            again = await client.ask("session.interrupt", where)
            while not await anyio.Path(tmp_path / "stopped").exists():  # noqa: ASYNC110 - a file
                await anyio.sleep(0.05)
        with anyio.move_on_after(2):  # longer than an agent gets that is heard
            await client.hear("log.recovered")
        here.room(PLENTY)
        over = {"prompt.finished", "request.cancel"}
        while over:
            (*_, event) = await client.events(until=lambda event: event["type"] in over)
            over.discard(event["type"])
        shown = await client.ask("session.events.since", where)
        assert shown["open_requests"] == []
        here.process.terminate()
        assert await here.process.wait() == 0

    assert first["interrupted"]
    assert again["interrupted"]
    events = await log_of(tmp_path / "log", session_id)
    kinds = [e["type"] for e in events]
    assert len(texts(events)) == 60
    assert kinds.count("turn.interrupted") == 1
    assert events[kinds.index("turn.interrupted")]["payload"]["reason"] == "user"
    finished = next(e["payload"] for e in events if e["type"] == "prompt.finished")
    assert finished["result"] == {"stopReason": "cancelled"}
    assert "log.gap" not in kinds


async def test_who_dies_while_the_disk_is_full_is_recorded_afterwards(tmp_path: Path) -> None:
    """S-9, P-38: the agent's last words and its end stand in the log as soon as there is room."""
    async with house(tmp_path) as here:
        session_id = await here.create()
        here.room(LITTLE)
        seq = await here.submit(session_id, "die")
        await here.client.hear("log.degraded")
        here.room(PLENTY)
        await here.client.events(until=ended(seq))
        here.process.terminate()
        await here.process.wait()

    events = await log_of(tmp_path, session_id)
    assert len(texts(events)) == CHUNKS
    (exited,) = [e["payload"] for e in events if e["type"] == "agent.exited"]
    assert exited["code"] == 7
    (end,) = [e["payload"] for e in events if e["type"] == "prompt.finished"]
    assert end["error"]["code"] == Code.GOING_AWAY


async def test_a_gateway_that_ends_on_a_full_disk(tmp_path: Path) -> None:
    """S-9, P-40: it does not wait for room that may never come, and what it could not record
    about the end is recorded when the log is next opened; nothing stays open.
    """
    async with house(tmp_path) as here:
        session_id = await here.create()
        here.room(LITTLE)
        await here.submit(session_id, "talk")
        await here.client.hear("log.degraded")
        here.room(NONE)
        here.process.terminate()
        with anyio.fail_after(30):
            assert await here.process.wait() == 0

    async with SqliteStore.open(tmp_path) as log:
        assert await recover(log) == [session_id]
    events = await log_of(tmp_path, session_id)
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert [e["type"] for e in events[-2:]] == ["agent.exited", "prompt.finished"]


async def test_what_is_lost_at_the_end_is_told(tmp_path: Path) -> None:
    """S-9: a gateway that ends with an agent's words in its hands, and no room for all of them,
    leaves no hole that the log does not tell of: what is recorded behind what was lost stands
    behind a gap of that size. The turn is over, whoever recorded that.
    """
    async with house(tmp_path) as here:
        session_id = await here.create()
        here.room(LITTLE)
        await here.submit(session_id, "talk")
        await here.client.hear("log.degraded")
        here.process.terminate()
        await here.process.wait()

    events = await log_of(tmp_path, session_id)
    gone = said = 0
    for event in events:
        if event["type"] == "log.gap":
            gone += event["payload"]["lost"]
        elif event["type"] == "acp.session_update":
            said += 1
            number = int(event["payload"]["update"]["content"]["text"][:6])
            assert number + 1 == said + gone
    assert said < CHUNKS
    assert sum(e["type"] == "prompt.finished" for e in events) == 1


async def test_an_answer_that_cannot_be_recorded_is_not_given(tmp_path: Path) -> None:
    """S-9, P-27, P-28: the question stays open, and is asked again when recording goes on."""
    async with house(tmp_path) as here:
        client, first, second = here.client, await here.create(), await here.create()
        seq = await here.submit(first, "ask")
        asked = await client.hear("session/request_permission")
        here.room(LITTLE)
        await here.submit(second, "talk")
        await client.hear("log.degraded")
        here.room(NONE)
        answer = {"outcome": {"outcome": "selected", "optionId": "y"}}
        await client.say(dump(Reply(asked.id, answer)))
        state = await client.ask("session.events.since", {"session_id": first})
        assert [item["id"] for item in state["open_requests"]] == [asked.id]

        here.room(PLENTY)
        again = await client.hear("session/request_permission")
        assert (again.id, again.params["replayed"]) == (asked.id, True)
        await client.say(dump(Reply(asked.id, answer)))
        heard = await client.events(until=ended(seq))
        here.process.terminate()
        await here.process.wait()

    assert heard[-1]["session_id"] == first
    events = await log_of(tmp_path, first)
    assert sum(e["type"] == "request.answered" for e in events) == 1
    assert texts(events) == ["y"]
