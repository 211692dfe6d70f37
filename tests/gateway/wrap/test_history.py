"""What an agent cannot do, the log can: list its sessions and tell what was said in them."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from eventlog import codec
from gateway.transports import Exit
from gateway.wrap.stand_in import NOT_FOUND, PAGE, Mode
from tests.gateway.wrap.bench import Editor, editing, recorded

pytestmark = pytest.mark.anyio

FORGETFUL = str(Path(__file__).with_name("forgetful.py"))
Told = list[dict[str, Any]]

TURN = [
    {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "one"}},
    {
        "sessionUpdate": "plan",
        "entries": [{"content": "one", "priority": "high", "status": "pending"}],
    },
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "call-7",
        "title": "Look",
        "kind": "read",
        "status": "pending",
    },
    {"sessionUpdate": "tool_call_update", "toolCallId": "call-7", "status": "completed"},
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "you said one"},
        "messageId": "m-1",
    },
]
"""A turn as it is replayed: ids, titles and plans as the agent gave them; no past state."""


@asynccontextmanager
async def talking(
    log: Path, able: dict[str, Any], mode: Mode = Mode.FILL
) -> AsyncGenerator[tuple[Editor, dict[str, Any]], None]:
    """Wrap an agent that can only what *able* says; give the editor, and what it is told of that."""
    command = [sys.executable, "-S", FORGETFUL, codec.dumps(able).decode()]
    async with editing(log, command, mode) as editor:
        said = await editor.ask(0, "initialize", {"protocolVersion": 1})
        yield editor, said["result"]["agentCapabilities"]
        editor.hang_up()
        await editor.everything()
    assert editor.end == Exit(0)


async def updates(
    editor: Editor, id_: int, method: str, params: dict[str, Any]
) -> tuple[Told, Any]:
    """Call; return the updates that come before the answer, and the answer."""
    call = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    await editor.say(codec.dumps(call) + b"\n")
    told = []
    while "id" not in (frame := codec.loads(await editor.line())):
        assert frame["params"]["sessionId"] == params["sessionId"]
        told.append(frame["params"]["update"])
    return told, frame


async def one_turn(editor: Editor, cwd: str = "/w") -> str:
    """Open a session and have one turn in it; return what the agent calls it."""
    opened = await editor.ask(1, "session/new", {"cwd": cwd, "mcpServers": []})
    name: str = opened["result"]["sessionId"]
    await editor.ask(2, "session/prompt", _prompt(name, "one"))
    return name


def _prompt(name: str, text: str) -> dict[str, Any]:
    return {"sessionId": name, "prompt": [{"type": "text", "text": text}]}


def _text(update: dict[str, Any]) -> str:
    return str(update["content"]["text"])


async def test_an_agent_that_cannot_list_or_load_is_said_to_can(tmp_path: Path) -> None:
    """The editor is told of both capabilities; with `off`, of what there is."""
    async with talking(tmp_path, {"promptCapabilities": {"image": True}}) as (_, able):
        assert able == {
            "promptCapabilities": {"image": True},
            "loadSession": True,
            "sessionCapabilities": {"list": {}},
        }
    async with talking(tmp_path, {}, Mode.OFF) as (_, able):
        assert able == {}


async def test_sessions_are_listed_from_the_log(tmp_path: Path) -> None:
    """The list holds this agent's sessions of every earlier process, the newest first, by the
    names that the agent gave them; `cwd` picks those of a folder."""
    names = []
    for cwd in ("/a", "/b"):
        async with talking(tmp_path, {}) as (editor, _):
            names.append(await one_turn(editor, cwd))

    async with talking(tmp_path, {}) as (editor, _):
        listed = (await editor.ask(1, "session/list"))["result"]
        of_a = (await editor.ask(2, "session/list", {"cwd": "/a"}))["result"]
        refused = await editor.ask(3, "session/list", {"cursor": "made up"})

    assert [(item["sessionId"], item["cwd"]) for item in listed["sessions"]] == [
        (names[1], "/b"),
        (names[0], "/a"),
    ]
    assert "nextCursor" not in listed
    assert [item["sessionId"] for item in of_a["sessions"]] == [names[0]]
    assert listed["sessions"][0]["updatedAt"].endswith("Z")
    assert refused["error"]["code"] == -32602


async def test_a_long_list_comes_in_pages(tmp_path: Path) -> None:
    """`nextCursor` leads through all sessions, each once."""
    async with talking(tmp_path, {}) as (editor, _):
        for _ in range(PAGE + 3):
            await editor.ask(1, "session/new", {"cwd": "/w", "mcpServers": []})
        first = (await editor.ask(2, "session/list"))["result"]
        cursor = {"cursor": first["nextCursor"]}
        second = (await editor.ask(3, "session/list", cursor))["result"]

    assert (len(first["sessions"]), len(second["sessions"])) == (PAGE, 3)
    assert "nextCursor" not in second
    both = [item["sessionId"] for item in first["sessions"] + second["sessions"]]
    assert len(set(both)) == PAGE + 3


async def test_a_session_of_this_process_is_loaded_without_the_agent(tmp_path: Path) -> None:
    """History comes from the log, then the answer, with the modes that the session has."""
    async with talking(tmp_path, {}) as (editor, _):
        name = await one_turn(editor)
        told, answer = await updates(editor, 3, "session/load", {"sessionId": name, "cwd": "/w"})
        after, end = await updates(editor, 4, "session/prompt", _prompt(name, "two"))

    assert told == TURN
    assert answer["result"] == {"modes": {"currentModeId": "ask", "availableModes": []}}
    assert (_text(after[-1]), end["result"]) == ("you said two", {"stopReason": "end_turn"})


async def test_a_forgotten_session_goes_on_under_its_name(tmp_path: Path) -> None:
    """An agent that can neither load nor resume is given a new session in the old one's place:
    the editor sees the history, is told that the agent does not remember it, and goes on under
    the name it knows; the log has one session with one numbering (P-22, P-38)."""
    async with talking(tmp_path, {}) as (editor, _):
        name = await one_turn(editor)
    for round_ in (1, 2):
        async with talking(tmp_path, {}) as (editor, _):
            told, answer = await updates(
                editor, 3, "session/load", {"sessionId": name, "cwd": "/w", "mcpServers": []}
            )
            assert told[: len(TURN)] == TURN
            assert "does not remember" in _text(told[-1])
            assert "sessionId" not in answer["result"]
            after, end = await updates(editor, 4, "session/prompt", _prompt(name, f"more {round_}"))
            assert (_text(after[-1]), end["result"]["stopReason"]) == (
                f"you said more {round_}",
                "end_turn",
            )

    (session, events), _ = (await recorded(tmp_path)).items()
    assert session.startswith("s-")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["payload"]["message"] for event in events if event["type"] == "notice"] == [
        "The agent was started anew and does not remember this session."
    ] * 2


async def test_an_agent_that_can_resume_is_asked_to(tmp_path: Path) -> None:
    """`session/load` becomes history from the log and `session/resume`, and the agent remembers."""
    able: dict[str, Any] = {"sessionCapabilities": {"resume": {}, "list": {}}}
    async with talking(tmp_path, able) as (editor, _):
        name = await one_turn(editor)
    async with talking(tmp_path, able) as (editor, _):
        told, answer = await updates(editor, 3, "session/load", {"sessionId": name, "cwd": "/w"})
        after, _ = await updates(editor, 4, "session/prompt", _prompt(name, "two"))

    assert (told, answer["result"]) == (TURN, {})
    assert _text(after[-1]) == "you said two"
    events, _ = (await recorded(tmp_path)).values()
    calls = [event["payload"]["method"] for event in events if event["type"] == "acp.call"]
    assert calls == ["session/resume"]


async def test_a_session_that_nobody_knows_is_not_found(tmp_path: Path) -> None:
    """What is not in the log is refused, with ACP's own code."""
    async with talking(tmp_path, {}) as (editor, _):
        _, answer = await updates(editor, 1, "session/load", {"sessionId": "who", "cwd": "/w"})

    assert answer["error"]["code"] == NOT_FOUND


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.FILL])
async def test_an_agent_that_can_load_does_it_itself(mode: Mode, tmp_path: Path) -> None:
    """The agent's own replay passes as it is; the log, which has the session, does not take it
    twice."""
    able: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    async with talking(tmp_path, able, mode) as (editor, _):
        name = await one_turn(editor)
    async with talking(tmp_path, able, mode) as (editor, _):
        told, _ = await updates(editor, 3, "session/load", {"sessionId": name, "cwd": "/w"})

    assert [_text(told[0]), told[1]["toolCallId"], _text(told[2])] == [
        "something like it",
        "other-id",
        "lossy",
    ]
    events, _ = (await recorded(tmp_path)).values()
    dropped = [event["payload"].get("dropped") for event in events if event["type"] == "acp.replay"]
    assert [item and item["count"] for item in dropped] == [None, 3]


async def test_the_logs_history_may_be_preferred(tmp_path: Path) -> None:
    """With `prefer` the editor gets history as it was, and not the agent's lossy replay; of a
    session that the log does not have, it gets that."""
    able: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    async with talking(tmp_path, able, Mode.PREFER) as (editor, _):
        name = await one_turn(editor)
    async with talking(tmp_path, able, Mode.PREFER) as (editor, _):
        told, answer = await updates(editor, 3, "session/load", {"sessionId": name, "cwd": "/w"})
        after, _ = await updates(editor, 4, "session/prompt", _prompt(name, "two"))
        other, _ = await updates(editor, 5, "session/load", {"sessionId": "other", "cwd": "/w"})

    assert (told, answer["result"]) == (TURN, {})
    assert _text(after[-1]) == "you said two"
    assert _text(other[-1]) == "lossy"


async def test_a_replay_that_comes_after_the_answer_is_withheld_too(tmp_path: Path) -> None:
    """Some agents answer first and replay afterwards: until the next prompt that is their replay,
    and none of it comes twice (P-36)."""
    able: dict[str, Any] = {"loadSession": True, "_late": True}
    async with talking(tmp_path, able, Mode.PREFER) as (editor, _):
        name = await one_turn(editor)
    async with talking(tmp_path, able, Mode.PREFER) as (editor, _):
        told, _ = await updates(editor, 3, "session/load", {"sessionId": name, "cwd": "/w"})
        after, _ = await updates(editor, 4, "session/prompt", _prompt(name, "two"))

    assert told == TURN
    assert [_text(item) for item in after if item["sessionUpdate"] == "agent_message_chunk"] == [
        "you said two"
    ]


async def test_another_agents_sessions_are_not_shown(tmp_path: Path) -> None:
    """The same log may hold sessions of several agents; each finds its own (P-22)."""
    command = [sys.executable, "-S", FORGETFUL, "{}"]
    async with editing(tmp_path, command, name="mine") as editor:
        await editor.ask(0, "initialize", {"protocolVersion": 1})
        name = await one_turn(editor)
        editor.hang_up()
    async with talking(tmp_path, {}) as (editor, _):
        listed = await editor.ask(1, "session/list")
        _, answer = await updates(editor, 2, "session/load", {"sessionId": name, "cwd": "/w"})

    assert listed["result"] == {"sessions": []}
    assert answer["error"]["code"] == NOT_FOUND
