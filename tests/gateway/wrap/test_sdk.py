"""ACP's own SDKs, as client and as agent, with `wrap acp` between them.

The Python SDK comes with the extra `peers`. The TypeScript one is installed from npm by the test,
into a folder of its own: `pytest -m agents`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import codec
from tests.gateway.wrap.bench import recorded

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
TOOL = "Light the stove"


COOK = '''
import asyncio
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    plan_entry,
    run_agent,
    start_tool_call,
    update_agent_message_text,
    update_plan,
    update_tool_call,
)
from acp.schema import Implementation, PermissionOption, ToolCallUpdate


class Cook(Agent):
    """Knows nothing of earlier sessions: it can neither list nor load."""

    def __init__(self) -> None:
        self.client: Any = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION, agent_info=Implementation(name="cook", version="1")
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=f"kitchen-{id(self)}")

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> PromptResponse:
        tell = self.client.session_update
        await tell(session_id=session_id, update=update_plan([plan_entry("cook")]))
        await tell(session_id=session_id, update=start_tool_call("tool-1", "Light the stove"))
        answer = await self.client.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="tool-1", title="Light the stove"),
            options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        done = update_tool_call("tool-1", status="completed")
        await tell(session_id=session_id, update=done)
        said = f"{prompt[0].text}: {answer.outcome.outcome}"
        await tell(session_id=session_id, update=update_agent_message_text(said))
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(Cook()))
'''


def wrapped(log: Path) -> list[str]:
    """Return the command by which an editor starts the agent, with us in front of it."""
    ours = [sys.executable, "-m", "gateway", "wrap", "acp", "--log", str(log), "--"]
    return [*ours, sys.executable, "-c", COOK]


def types(events: list[Any]) -> list[str]:
    """Return what kinds of events, and of updates, a session holds."""
    return [
        event["payload"]["update"]["sessionUpdate"]
        if event["type"] == "acp.session_update"
        else event["type"]
        for event in events
    ]


TURN = [
    "prompt.submitted",
    "plan",
    "tool_call",
    "request.opened",
    "request.answered",
    "tool_call_update",
    "agent_message_chunk",
    "prompt.finished",
]


async def test_the_python_sdk_as_client_and_agent(tmp_path: Path) -> None:
    """A client made with the SDK prompts an agent made with it, is asked and answers; in a later
    process it lists and loads what that agent has forgotten (P-35, P-38)."""
    acp = pytest.importorskip("acp", reason="the extra `peers` is not installed")
    schema = acp.schema
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}
    said = acp.text_block("soup")

    class Guest(acp.Client):  # type: ignore[misc,name-defined] # the SDK may not be installed
        def __init__(self) -> None:
            self.heard: list[Any] = []

        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            self.heard.append((session_id, update))

        async def request_permission(self, options: Any, **_: Any) -> Any:
            chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
            return acp.RequestPermissionResponse(outcome=chosen)

    first, later = Guest(), Guest()
    async with acp.spawn_agent_process(first, *wrapped(tmp_path), env=env) as (agent, _):
        introduced = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        assert introduced.agent_capabilities.load_session is True
        name = (await agent.new_session(cwd="/kitchen", mcp_servers=[])).session_id
        end = await agent.prompt(session_id=name, prompt=[said])
        assert end.stop_reason == "end_turn"
    async with acp.spawn_agent_process(later, *wrapped(tmp_path), env=env) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        listed = (await agent.list_sessions()).sessions
        assert [(item.session_id, item.cwd) for item in listed] == [(name, "/kitchen")]
        await agent.load_session(cwd="/kitchen", session_id=name, mcp_servers=[])
        await agent.prompt(session_id=name, prompt=[said])

    await asyncio.sleep(0)  # the SDK hands notifications to tasks of their own
    assert {session for session, _ in later.heard} == {name}
    kinds = sorted(update.session_update for _, update in later.heard)
    assert kinds.count("user_message_chunk") == 1
    assert kinds.count("tool_call") == kinds.count("plan") == 2
    titles = [getattr(update, "title", None) for _, update in later.heard]
    assert titles.count(TOOL) == 2
    events = next(iter((await recorded(tmp_path)).values()))
    assert types(events)[2 : 2 + len(TURN)] == TURN
    assert types(events)[-1 - len(TURN) : -1] == TURN


CLIENT = """
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [command, ...args] = JSON.parse(process.argv[2]);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const heard = [];
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const app = acp.client({ name: "guest" })
  .onNotification("session/update", ({ params }) => { heard.push(params.update.sessionUpdate); })
  .onRequest("session/request_permission", ({ params }) => (
    { outcome: { outcome: "selected", optionId: params.options[0].optionId } }
  ));
await app.connectWith(stream, async (peer) => {
  const told = await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const before = (await peer.request("session/list", {})).sessions.map((item) => item.sessionId);
  let sessionId = before[0];
  if (sessionId) {
    await peer.request("session/load", { sessionId, cwd: "/kitchen", mcpServers: [] });
  } else {
    const opened = await peer.request("session/new", { cwd: "/kitchen", mcpServers: [] });
    sessionId = opened.sessionId;
  }
  const prompt = [{ type: "text", text: "soup" }];
  const end = await peer.request("session/prompt", { sessionId, prompt });
  console.log(JSON.stringify({ can: told.agentCapabilities, before, sessionId, end, heard }));
});
agent.stdin.end();
"""


@pytest.mark.agents
@pytest.mark.timeout(300)
async def test_the_npm_sdk_as_client(tmp_path: Path) -> None:
    """A client made with the TypeScript SDK has a turn with an agent made with the Python one;
    a later one lists the session, loads it, and goes on."""
    pytest.importorskip("acp", reason="the extra `peers` is not installed")
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("no Node.js")
    place = tmp_path / "client"
    place.mkdir()
    (place / "client.mjs").write_text(CLIENT)
    await anyio.run_process([npm, "install", "--silent", "@agentclientprotocol/sdk@2"], cwd=place)
    command = codec.dumps(wrapped(tmp_path / "log")).decode()
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}

    async def talk() -> Any:
        run = [node or "", "client.mjs", command]
        return codec.loads((await anyio.run_process(run, cwd=place, env=env)).stdout)

    first, later = await talk(), await talk()

    assert first["can"]["loadSession"] is True
    assert first["before"] == []
    assert later["before"] == [later["sessionId"]] == [first["sessionId"]]
    assert first["end"] == later["end"] == {"stopReason": "end_turn"}
    assert later["heard"].count("tool_call") == 2
    events = next(iter((await recorded(tmp_path / "log")).values()))
    assert types(events)[-1 - len(TURN) : -1] == TURN
