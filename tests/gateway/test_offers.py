"""What agents are offered of this machine: nothing, unless it is asked for; then it is recorded."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.workspace import Offers
from tests.gateway.stage import actor, ended, runs, said, scripted, staged

pytestmark = pytest.mark.anyio


async def calls(
    folder: Path, *asked: tuple[str, dict[str, Any]], **offers: Any
) -> tuple[list[Any], list[Any]]:
    """Let an agent call its client; return what it was answered, and the log."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    answers: list[Any] = []
    async with staged(folder / "log", actor(**offers)) as stage, stage.client() as client:
        created = await client.ask("session.create", {"cwd": str(project)})
        where = {"session_id": created["session_id"]}
        for method, params in asked:
            word = "" if method.startswith("drop ") else "call "
            text = f"{word}{method} {json.dumps(params)}"
            receipt = await client.ask("prompt.submit", {**where, "text": text})
            await client.events(until=ended(receipt["seq"]))
            whole = said(await stage.log(where["session_id"]))
            answers.append(json.loads(whole.removeprefix("".join(map(_told, answers)))))
        events = await stage.log(where["session_id"])
    return answers, events


def _told(answer: Any) -> str:
    return json.dumps(answer, sort_keys=True)


TELL = """
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "initialize":
        can = frame["params"]["clientCapabilities"]
    result = {"protocolVersion": 1, "sessionId": "a", "stopReason": json.dumps(can, sort_keys=True)}
    print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(
    ("files", "terminal", "told"),
    [
        (False, False, {}),
        (True, False, {"fs": {"readTextFile": True, "writeTextFile": True}}),
        (False, True, {"terminal": True}),
        (True, True, {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}),
    ],
)
async def test_only_what_is_let_is_offered(
    tmp_path: Path, *, files: bool, terminal: bool, told: dict[str, Any]
) -> None:
    """The capabilities that an agent is told are those that were asked for, and no others."""
    offers = Offers(tmp_path if files else None, terminal)
    agent = replace(scripted("tells", TELL), offers=offers)
    async with staged(tmp_path / "log", agent) as stage, stage.client() as client:
        created = await client.ask("session.create", {"cwd": "."})
        params = {"session_id": created["session_id"], "text": "what can I?"}
        receipt = await client.ask("prompt.submit", params)
        heard = await client.events(until=ended(receipt["seq"]))

    can = json.loads(heard[-1]["payload"]["result"]["stopReason"])
    assert can.pop("elicitation") == {"form": {}}
    assert can == told


async def test_nothing_is_done_that_was_not_offered(tmp_path: Path) -> None:
    """An agent that asks all the same is told that there is no such method; nothing happens."""
    path = str(tmp_path / "project" / "file")
    answers, events = await calls(
        tmp_path,
        ("fs/read_text_file", {"path": path}),
        ("fs/write_text_file", {"path": path, "content": "x"}),
        ("terminal/create", {"command": "touch", "args": [path]}),
        ("_example.com/unknown", {}),
    )

    assert [answer["code"] for answer in answers] == [-32601] * 4
    assert not (tmp_path / "project" / "file").exists()
    assert [e["payload"]["error"]["code"] for e in events if e["type"] == "acp.result"] == [
        -32601
    ] * 4


async def test_files_are_written_and_read(tmp_path: Path) -> None:
    """P-35: what an agent writes is there, what it reads is what is there, and the log holds both
    calls and both answers as they passed."""
    path = str(tmp_path / "project" / "notes" / "a.txt")
    outside = str(tmp_path / "log" / "token")
    answers, events = await calls(
        tmp_path,
        ("fs/write_text_file", {"path": path, "content": "one\ntwo\n"}),
        ("fs/read_text_file", {"path": path, "line": 2, "limit": 1}),
        ("fs/read_text_file", {"path": f"{path}.missing"}),
        ("fs/read_text_file", {"path": outside}),
        files=tmp_path / "project",
    )

    assert answers[:2] == [{}, {"content": "two\n"}]
    assert [answer["code"] for answer in answers[2:]] == [-32002, -32602]
    assert (tmp_path / "project" / "notes" / "a.txt").read_text() == "one\ntwo\n"
    recorded = [e["payload"] for e in events if e["type"] in ("acp.call", "acp.result")]
    asked = [one["params"] for one in recorded if "params" in one]
    assert [one["path"] for one in asked] == [path, path, f"{path}.missing", outside]
    assert asked[0]["content"] == "one\ntwo\n"
    assert [one.get("result") for one in recorded if "params" not in one] == [
        {},
        {"content": "two\n"},
        None,
        None,
    ]


async def test_a_wait_that_is_taken_back(tmp_path: Path) -> None:
    """P-35, R049: an agent that waits no more for a command (`$/cancel_request`) is answered -32800 at
    once; the command goes on, and can be waited for again. What is done and not waited for is done.
    """
    terminal = {"terminalId": "term-1"}
    answers, events = await calls(
        tmp_path,
        ("terminal/create", {"command": sys.executable, "args": ["-c", "input()"]}),
        ("drop terminal/output", terminal),
        ("terminal/release", terminal),
        ("terminal/create", {"command": "sleep", "args": ["600"]}),
        ("drop terminal/wait_for_exit", {"terminalId": "term-2"}),
        ("terminal/output", {"terminalId": "term-2"}),
        ("terminal/kill", {"terminalId": "term-2"}),
        ("terminal/wait_for_exit", {"terminalId": "term-2"}),
        terminal=True,
    )

    assert answers[1]["truncated"] is False
    assert answers[4]["code"] == -32800
    assert "exitStatus" not in answers[5]
    assert answers[7] == {"exitCode": None, "signal": "SIGTERM"}
    told = [e["payload"] for e in events if e["type"] == "acp.notification"]
    assert [one["method"] for one in told] == ["$/cancel_request"] * 2


async def test_a_command_is_run_and_recorded(tmp_path: Path) -> None:
    """P-35: a terminal's output stands in no update, so it is in the log by its answers."""
    script = "echo hello; echo oops >&2; exit 2"
    terminal = {"terminalId": "term-1"}
    answers, events = await calls(
        tmp_path,
        ("terminal/create", {"command": sys.executable, "args": ["-c", "print(6 * 7)"]}),
        ("terminal/wait_for_exit", terminal),
        ("terminal/output", terminal),
        ("terminal/release", terminal),
        ("terminal/output", terminal),
        ("terminal/create", {"command": "/bin/sh", "args": ["-c", script]}),
        ("terminal/wait_for_exit", {"terminalId": "term-2"}),
        terminal=True,
    )

    ok = {"exitCode": 0, "signal": None}
    assert answers[:4] == [
        terminal,
        ok,
        {"output": "42\n", "truncated": False, "exitStatus": ok},
        {},
    ]
    assert answers[4]["code"] == -32002
    assert answers[6] == {"exitCode": 2, "signal": None}
    results = [e["payload"].get("result") for e in events if e["type"] == "acp.result"]
    assert results[:4] == answers[:4]


async def test_a_session_ends_with_its_commands(tmp_path: Path) -> None:
    """Closing a session ends what its agent has started here."""
    project = tmp_path / "project"
    project.mkdir()
    script = "echo $$ > pid.new; mv pid.new pid; exec sleep 600"
    call = {"command": "/bin/sh", "args": ["-c", script]}
    async with staged(tmp_path / "log", actor(terminal=True)) as stage, stage.client() as client:
        created = await client.ask("session.create", {"cwd": str(project)})
        where = {"session_id": created["session_id"]}
        text = f"call terminal/create {json.dumps(call)}"
        receipt = await client.ask("prompt.submit", {**where, "text": text})
        await client.events(until=ended(receipt["seq"]))
        output = 'call terminal/output {"terminalId": "term-1"}'
        while not (project / "pid").exists():
            receipt = await client.ask("prompt.submit", {**where, "text": output})
            await client.events(until=ended(receipt["seq"]))
        await client.ask("session.close", where)

    assert not runs(int((project / "pid").read_text()))
