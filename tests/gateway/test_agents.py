"""Agents that behave badly: each costs its own turn at most, and everything it said is kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId, open_log
from gateway.closing import recover
from gateway.jsonrpc import Reply, dump
from tests.gateway.stage import ASKING, RawClient, Stage, ended, player, scripted, staged

pytestmark = pytest.mark.anyio

AGENT = """
import json, os, sys
out = sys.stdout.buffer

def raw(data):
    out.write(data)
    out.flush()

def send(frame):
    raw(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\\n")

def update(**fields):
    send({"method": "session/update", "params": {"sessionId": "foreign", "update": fields}})

def text(words):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": words})

able, on_prompt, calls, early = {}, None, [], []

def serve():
    for line in sys.stdin.buffer:
        frame = json.loads(line)
        method, id_ = frame.get("method"), frame.get("id")
        if method is None:
            continue
        calls.append(method)
        if method == "initialize":
            send({"id": id_, "result": {"protocolVersion": 1, "agentCapabilities": able}})
        elif method == "session/new":
            for words in early:
                text(words)
            send({"id": id_, "result": {"sessionId": "foreign"}})
        elif method == "session/prompt":
            on_prompt(frame)
            send({"id": id_, "result": {"stopReason": "end_turn"}})
        elif method in ("session/load", "session/resume") and able.get("refuses") != method:
            update(sessionUpdate="user_message_chunk", content={"type": "text", "text": "old"})
            send({"id": id_, "result": None})
        elif id_ is not None:
            send({"id": id_, "error": {"code": -32601, "message": "no " + method}})
"""


TWICE = """
def on_prompt(frame):
    call = {"toolCallId": "t", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
               {"optionId": "no", "name": "No", "kind": "reject_once"}]
    params = {"sessionId": "foreign", "toolCall": call, "options": options}
    for number in (101, 102):
        send({"id": number, "method": "session/request_permission", "params": params})
    said = [json.loads(sys.stdin.buffer.readline()) for _ in (1, 2)]
    answers = {one["id"]: one["result"]["outcome"]["optionId"] for one in said}
    text(json.dumps(answers, sort_keys=True))
"""
"""An agent that asks for the same permission twice, and says what it was answered."""


async def test_who_asks_twice_is_answered_twice_and_its_user_asked_once(tmp_path: Path) -> None:
    """R088: the same tool, input and options again while it is open is the same question."""
    async with staged(tmp_path, agent("twice", TWICE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session_id}
        receipt = await client.ask("prompt.submit", {**where, "text": "go"})
        asked = await client.hear("session/request_permission")
        while [event["type"] for event in await stage.log(session_id)].count("request.opened") < 2:
            await client.next()
        since = await client.ask("session.events.since", where)
        pending = await client.ask("approval.pending", where)
        outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        await client.say(dump(Reply(asked.id, outcome)))
        await client.events(until=ended(receipt["seq"]))
        events = await stage.log(session_id)
        frames = [frame for frame in client.frames if b'"method":"session/req' in frame[:120]]

    assert [item["id"] for item in since["open_requests"]] == [asked.id]
    assert [item["request_id"] for item in pending["approvals"]] == [asked.id]
    assert len(frames) == 1
    kinds = [event["type"] for event in events]
    assert kinds.count("request.opened") == kinds.count("request.answered") == 2
    said = next(e for e in events if "agent_message_chunk" in str(e["payload"]))
    assert said["payload"]["update"]["content"]["text"] == '{"101": "yes", "102": "yes"}'


def agent(name: str, script: str) -> Any:
    return scripted(name, f"{AGENT}\n{script}\nserve()\n")


async def turn(stage: Stage, client: RawClient, text: str = "go") -> tuple[str, dict[str, Any]]:
    """Create a session, run one turn; return the session and how the turn ended."""
    session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
    receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": text})
    heard = await client.events(until=ended(receipt["seq"]))
    return session_id, heard[-1]["payload"]


CRASH = """
def on_prompt(frame):
    text("half a sent")
    print("out of memory", file=sys.stderr, flush=True)
    os._exit(3)
"""


async def test_crash_ends_the_turn_with_an_error(tmp_path: Path) -> None:
    """P-38, P-40, R049: the log says that the agent is gone and why, and the turn is over."""
    async with staged(tmp_path, agent("crash", CRASH)) as stage, stage.client() as client:
        session_id, end = await turn(stage, client)
        events = await stage.log(session_id)

    exited = next(e["payload"] for e in events if e["type"] == "agent.exited")
    assert (exited["code"], exited["stderr"]) == (3, "out of memory")
    assert end["error"]["message"] == "The agent exited with code 3 before it had answered."
    assert any("half a sent" in str(e["payload"]) for e in events)


async def test_next_prompt_after_a_crash_needs_a_resume(tmp_path: Path) -> None:
    """P-38, P-24: the session is dormant, says so, and lives again when it is resumed."""
    script = """
def on_prompt(frame):
    if "die" in frame["params"]["prompt"][0]["text"]:
        os._exit(1)
    text("alive")
"""
    async with staged(tmp_path, agent("frail", script)) as stage, stage.client() as client:
        session_id, _ = await turn(stage, client, "die")
        params = {"session_id": session_id, "text": "live"}
        with pytest.raises(Exception, match=r"session\.resume") as refused:
            await client.ask("prompt.submit", params)
        await client.ask("session.resume", {"session_id": session_id})
        receipt = await client.ask("prompt.submit", params)
        heard = await client.events(until=ended(receipt["seq"]))
        events = await stage.log(session_id)

    assert refused.value.code == 4001  # type: ignore[attr-defined]
    assert heard[-1]["payload"]["result"] == {"stopReason": "end_turn"}
    notices = [e["payload"]["message"] for e in events if e["type"] == "notice"]
    assert notices == ["The agent was started anew and does not remember this session."]


@pytest.mark.parametrize(
    ("able", "used"),
    [
        ({"sessionCapabilities": {"resume": {}}, "loadSession": True}, "session/resume"),
        ({"loadSession": True}, "session/load"),
        (
            {
                "sessionCapabilities": {"resume": {}},
                "loadSession": True,
                "refuses": "session/resume",
            },
            "session/load",
        ),
    ],
)
async def test_agent_takes_up_what_it_knows(
    tmp_path: Path, able: dict[str, Any], used: str
) -> None:
    """P-38, R121: by resume, else by load, whose replay is counted and not recorded again."""
    script = f"able = {able!r}\ndef on_prompt(frame): text('new')"
    async with staged(tmp_path, agent("able", script)) as stage, stage.client() as client:
        session_id, _ = await turn(stage, client)
        await client.ask("session.close", {"session_id": session_id})
        await client.ask("session.resume", {"session_id": session_id})
        receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": "more"})
        await client.events(until=ended(receipt["seq"]))
        events = await stage.log(session_id)

    answers = [e["payload"] for e in events if e["type"] == "acp.result"]
    assert "error" not in answers[-1]
    assert [e["payload"]["method"] for e in events if e["type"] == "acp.call"][-1] == used
    assert not [e for e in events if "user_message_chunk" in str(e["payload"])]
    assert not [e for e in events if e["type"] == "notice"]


async def test_agent_takes_up_what_was_pruned(tmp_path: Path) -> None:
    """P-38, S-10: the id by which the agent knows a session outlives the events that told of it,
    twice pruned; the log knows whose session it is, and ends what is cut off in it (P-40).
    """
    spec = agent("able", "able = {'loadSession': True}\ndef on_prompt(frame): text('new')")
    prune = (sys.executable, "-m", "eventlog", "prune", "--log", str(tmp_path))
    async with staged(tmp_path, spec) as stage, stage.client() as client:
        session_id, _ = await turn(stage, client)
    for _ in range(2):
        async with open_log(tmp_path) as events:
            head = (await events.read(SessionId(session_id), limit=0)).head
        done = await anyio.run_process((*prune, session_id, "--to", str(head)))
        assert session_id.encode() in done.stdout
        async with staged(tmp_path, spec) as stage, stage.client() as client:
            await client.ask("session.resume", {"session_id": session_id})
            receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": "more"})
            await client.events(until=ended(receipt["seq"]))
            told = await stage.log(session_id)
        assert told[0]["seq"] == head + 1
        assert [e["payload"]["method"] for e in told if e["type"] == "acp.call"] == ["session/load"]
        assert not [e for e in told if e["type"] == "notice"]

    cut = Event.of("prompt.submitted", {"content": []})
    async with open_log(tmp_path) as events:
        head = (await events.read(SessionId(session_id), limit=0)).head
    await anyio.run_process((*prune, session_id, "--to", str(head)))
    async with open_log(tmp_path) as events:
        await events.append(SessionId(session_id), [cut])
        assert await recover(events) == [session_id]


async def test_noise_on_stdout_is_kept_and_survived(tmp_path: Path) -> None:
    """R119: banners, colours, a BOM, empty lines and CRLF between frames tear nothing."""
    script = r"""
raw(b"Welcome!\n\x1b[1;31mbanner\x1b[0m\n\xef\xbb\xbf\n\n\r\n")
def on_prompt(frame):
    text("one")
    raw(b"profile loaded\r\n\r\n[1, 2]\n42\n")
    text("two")
"""
    async with staged(tmp_path, agent("noisy", script)) as stage, stage.client() as client:
        session_id, end = await turn(stage, client)
        events = await stage.log(session_id)

    noise = "".join(str(e["payload"]["text"]) for e in events if e["type"] == "agent.noise")
    for said in ("Welcome!", "banner", "profile loaded", "[1, 2]", "42"):
        assert said in noise
    assert end["result"] == {"stopReason": "end_turn"}
    texts = [
        e["payload"]["update"]["content"]["text"]
        for e in events
        if e["type"] == "acp.session_update"
    ]
    assert texts == ["one", "two"]


async def test_long_lines(tmp_path: Path) -> None:
    """R148: 64 KiB and one byte more or less, and 5 MB on one line: all recorded, none cut."""
    script = """
def on_prompt(frame):
    for size in (65535, 65536, 65537, 5_000_000):
        text("x" * size)
    text("short")
"""
    async with staged(tmp_path, agent("long", script)) as stage, stage.client() as client:
        session_id, _ = await turn(stage, client)
        events = await stage.log(session_id)

    texts = [
        e["payload"]["update"]["content"]["text"]
        for e in events
        if e["type"] == "acp.session_update"
    ]
    assert [len(text) for text in texts] == [65535, 65536, 65537, 5_000_000, 5]


async def test_updates_out_of_place(tmp_path: Path) -> None:
    """P-36: before the answer of session/new, after that of a prompt: recorded as they came."""
    script = """
early = ["too early"]
def on_prompt(frame):
    text("in time")
    send({"id": frame["id"], "result": {"stopReason": "end_turn"}})
    text("too late")
"""
    async with staged(tmp_path, agent("loose", script)) as stage, stage.client() as client:
        session_id, _ = await turn(stage, client)
        await client.ask("session.close", {"session_id": session_id})
        events = await stage.log(session_id)

    order = [
        e["payload"]["update"]["content"]["text"]
        if e["type"] == "acp.session_update"
        else e["type"]
        for e in events
        if e["type"] in ("session.opened", "acp.session_update", "prompt.finished")
    ]
    assert order == ["session.opened", "too early", "in time", "prompt.finished", "too late"]


async def test_crash_withdraws_the_question(tmp_path: Path) -> None:
    """P-38, R082: nobody is left with a question that nobody waits for."""
    script = """
def on_prompt(frame):
    tool = {"toolCallId": "t", "title": "rm"}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    send({"id": 7, "method": "session/request_permission",
          "params": {"sessionId": "foreign", "toolCall": tool, "options": options}})
    os._exit(9)
"""
    async with staged(tmp_path, agent("asks", script)) as stage, stage.client() as client:
        session_id, end = await turn(stage, client)
        since = await client.ask("session.events.since", {"session_id": session_id})

    cancels = [e["payload"] for e in since["events"] if e["type"] == "request.cancel"]
    assert [cancel["reason"] for cancel in cancels] == ["agent_gone"]
    assert since["open_requests"] == []
    assert "code 9" in end["error"]["message"]


async def test_clients_gone_is_not_the_end(tmp_path: Path) -> None:
    """P-23: nobody listens, and the turn goes on to its end, recorded."""
    capture = player("claude049-hello", "--gap-ms", "2")
    async with staged(tmp_path, capture) as stage:
        async with stage.client() as client:
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            await client.ask("prompt.submit", {"session_id": session_id, "text": "Say hi"})
        async with stage.client() as client:
            await client.ask("session.events.subscribe", {"session_id": session_id})
            heard = await client.events(until=lambda e: e["type"] == "prompt.finished")

    assert heard[-1]["payload"]["result"]["stopReason"] == "end_turn"
    assert "agent.exited" not in [e["type"] for e in heard]


async def test_gateway_that_stops_leaves_nothing_open(tmp_path: Path) -> None:
    """P-27, P-40: an orderly stop ends turns and withdraws questions; starting again changes
    nothing.
    """
    capture, prompt = ASKING
    async with staged(tmp_path, player(capture)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        await client.ask("prompt.submit", {"session_id": session_id, "text": prompt})
        await client.hear("session/request_permission")
    async with staged(tmp_path, player(capture)) as stage:
        events = await stage.log(session_id)

    kinds = [e["type"] for e in events]
    cancel = next(e["payload"] for e in events if e["type"] == "request.cancel")
    assert cancel["reason"] == "shutdown"
    assert kinds.count("prompt.submitted") == kinds.count("prompt.finished") == 1
    assert kinds[-1] in ("agent.exited", "prompt.finished")
