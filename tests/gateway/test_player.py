"""A recorded agent that lives again: what comes out is what was recorded."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Malformed, codec
from gateway.errors import RpcError
from gateway.jsonrpc import Notification, Request
from gateway.peer import Call, Peer
from gateway.player import play_acp
from gateway.repertoire import STATE_UPDATES
from gateway.transports import memory_pair

pytestmark = pytest.mark.anyio

ACP = Path(__file__).parents[1] / "captures" / "acp"
CAPTURES = sorted(path.name for path in ACP.glob("*.jsonl"))
EVERYTHING = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
}


def _frames(name: str) -> list[tuple[str, dict[str, Any]]]:
    lines = [codec.loads(line) for line in (ACP / name).read_bytes().splitlines()]
    return [(line["dir"], line["frame"]) for line in lines if line["dir"] != "meta"]


@dataclass
class Client:
    """Says what the recorded client said, and keeps what it is told."""

    peer: Peer
    heard: list[tuple[str, Any]] = field(default_factory=list)
    answers: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    """What the recorded client answered, by method and params, in order."""
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def hear(self, call: Call) -> Any:
        """Note a frame; answer a question as it was answered then."""
        self.heard.append((call.method, call.params))
        self.changed.set()
        self.changed = anyio.Event()
        if isinstance(call, Notification):
            return None
        answer = self.answers[call.method, str(call.params)].pop(0)
        if "error" in answer:
            raise RpcError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Call; return the result, or the refusal as a value."""
        try:
            return await self.peer.request(method, params)
        except RpcError as error:
            return (error.code, error.message, error.data)

    async def until(self, count: int) -> None:
        """Return once so many frames have been heard."""
        while len(self.heard) < count:
            await self.changed.wait()


@asynccontextmanager
async def _playing(data: bytes, **options: Any) -> AsyncGenerator[Client, None]:
    ours, theirs = memory_pair()

    async def hear(call: Call) -> Any:
        return await client.hear(call)

    client = Client(Peer(ours, hear))
    with anyio.fail_after(20):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: play_acp(data, theirs, **options))
            tasks.start_soon(client.peer.run)
            yield client
            tasks.cancel_scope.cancel()


def _scripted(frames: list[tuple[str, dict[str, Any]]]) -> dict[tuple[str, str], list[Any]]:
    """Return what the client answered to each question, by the question."""
    asked: dict[Any, tuple[str, str]] = {}
    answers: dict[tuple[str, str], list[Any]] = {}
    for direction, frame in frames:
        if direction == "out" and "method" in frame and "id" in frame:
            asked[frame["id"]] = (frame["method"], str(frame["params"]))
        elif direction == "in" and "method" not in frame:
            answers.setdefault(asked[frame["id"]], []).append(frame)
    return answers


def _told(frames: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, Any]]:
    return [
        (frame["method"], frame["params"])
        for direction, frame in frames
        if direction == "out" and "method" in frame
    ]


def _results(frames: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return the answer to each call of the client, in order."""
    found = []
    for direction, frame in frames:
        if direction == "out" and "method" not in frame:
            error = frame.get("error")
            found.append(
                (error["code"], error["message"], error.get("data")) if error else frame["result"]
            )
    return found


def _calls(frames: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (frame["method"], frame["params"])
        for direction, frame in frames
        if direction == "in" and "method" in frame and "id" in frame
    ]


@pytest.mark.parametrize("name", [name for name in CAPTURES if "-load" not in name])
async def test_a_recording_that_is_played_is_the_recording(name: str) -> None:
    """Every update, question, result and refusal of every agent comes again, in its order."""
    frames = _frames(name)
    async with _playing((ACP / name).read_bytes()) as client:
        client.answers = _scripted(frames)
        results = []
        for method, params in _calls(frames):
            can = {"clientCapabilities": EVERYTHING} if method == "initialize" else {}
            results.append(await client.ask(method, {**params, **can}))
        await client.until(len(_told(frames)))
        assert results == _results(frames)
        assert client.heard == _told(frames)


@pytest.mark.parametrize("name", [name for name in CAPTURES if "-load" in name])
async def test_a_session_is_taken_up_with_an_empty_replay(name: str) -> None:
    """Load and resume answer as they did, and tell nothing of the history; turns are as they were."""
    frames = _frames(name)
    replaying = False
    expected = []
    for direction, frame in frames:
        if direction == "in" and "id" in frame and "method" in frame:
            replaying = frame["method"] in ("session/load", "session/resume")
        elif direction == "out" and "method" in frame:
            kind = frame["params"].get("update", {}).get("sessionUpdate")
            if not replaying or kind in STATE_UPDATES:
                expected.append((frame["method"], frame["params"]))
    async with _playing((ACP / name).read_bytes()) as client:
        client.answers = _scripted(frames)
        results = [await client.ask(*call) for call in _calls(frames)]
        await client.until(len(expected))
        assert results == _results(frames)
        assert client.heard == expected


TWO_TURNS = "claude049-hello.jsonl"


async def _opened(client: Client) -> str:
    await client.ask("initialize", {"protocolVersion": 1})
    session = await client.ask("session/new", {"cwd": "/", "mcpServers": []})
    return str(session["sessionId"])


async def _turn(client: Client, session: str, text: str) -> tuple[Any, str]:
    """Prompt; return the result and the agent's text."""
    start = len(client.heard)
    prompt = [{"type": "text", "text": text}]
    result = await client.ask("session/prompt", {"sessionId": session, "prompt": prompt})
    return result, _text(client.heard[start:])


def _text(heard: list[tuple[str, Any]]) -> str:
    chunks = [params["update"] for _, params in heard if "update" in params]
    return "".join(
        chunk["content"]["text"]
        for chunk in chunks
        if chunk["sessionUpdate"] == "agent_message_chunk"
    )


def _prompts(name: str) -> list[dict[str, Any]]:
    return [params for method, params in _calls(_frames(name)) if method == "session/prompt"]


async def test_a_prompt_is_matched_by_its_content() -> None:
    """The turn that began like this is played, wherever it stands."""
    second = _prompts(TWO_TURNS)[1]
    async with _playing((ACP / TWO_TURNS).read_bytes()) as client:
        session = await _opened(client)
        await client.ask("session/prompt", {**second, "sessionId": session})
        later = _text(client.heard)
        _, earlier = await _turn(client, session, "something else")
    recorded = _text(_told(_frames(TWO_TURNS)))
    assert recorded == earlier + later


async def test_when_all_is_played_a_turn_is_short() -> None:
    """An agent always answers."""
    async with _playing((ACP / TWO_TURNS).read_bytes()) as client:
        session = await _opened(client)
        texts = [(await _turn(client, session, "?"))[1] for _ in range(3)]
        result, last = await _turn(client, session, "?")
    assert all(texts)
    assert (result, last) == ({"stopReason": "end_turn"}, "The recording has no further turn.")


async def test_every_session_of_a_process_has_an_id_of_its_own() -> None:
    """The first has the recorded one; each has all the turns to play."""
    async with _playing((ACP / TWO_TURNS).read_bytes()) as client:
        first, second = await _opened(client), await _opened(client)
        recorded = _results(_frames(TWO_TURNS))[1]["sessionId"]
        assert (first, second) == (recorded, f"{recorded}-2")
        one, other = await _turn(client, first, "?"), await _turn(client, second, "?")
        assert one == other
        assert {params["sessionId"] for _, params in client.heard} == {first, second}


async def test_an_unknown_session_is_refused() -> None:
    """A prompt to a session that nobody opened is an error."""
    async with _playing((ACP / TWO_TURNS).read_bytes()) as client:
        await _opened(client)
        refusal, _ = await _turn(client, "nobody", "?")
    assert refusal[0] == -32602


async def test_what_was_never_asked_is_answered_as_an_agent_might() -> None:
    """A client gets on with it: settings are taken, unknown methods are -32601."""
    async with _playing((ACP / TWO_TURNS).read_bytes()) as client:
        session = await _opened(client)
        said = {"sessionId": session}
        assert await client.ask("session/set_mode", {**said, "modeId": "x"}) == {}
        assert await client.ask("session/list", {}) == {"sessions": []}
        assert (await client.ask("_example.com/x", {}))[0] == -32601


async def test_a_setting_is_answered_by_the_same_setting_only() -> None:
    """Another mode than the recorded one tells of no recorded mode."""
    name = "kimi-modes.jsonl"
    async with _playing((ACP / name).read_bytes()) as client:
        session = await _opened(client)
        recorded = [params for method, params in _calls(_frames(name)) if "set_mode" in method]
        await client.until(start := 1)
        await client.ask("session/set_mode", {"sessionId": session, "modeId": "another"})
        assert len(client.heard) == start
        await client.ask("session/set_mode", recorded[2])
        update = client.heard[start][1]["update"]
        assert update["currentModeId"] == recorded[2]["modeId"]


async def test_cancelling_ends_the_turn() -> None:
    """The rest of it is not told, an open question is given up, and the next turn works (P-37)."""
    name = "claude049-tools.jsonl"
    async with _playing((ACP / name).read_bytes()) as client:
        session = await _opened(client)
        asked = anyio.Event()

        async def never(call: Call) -> Any:
            client.heard.append((call.method, call.params))
            if isinstance(call, Request):
                asked.set()
                await anyio.sleep_forever()

        client.hear = never  # type: ignore[method-assign]
        async with anyio.create_task_group() as tasks:
            results: list[Any] = []

            async def prompt() -> None:
                results.append(await _turn(client, session, "?"))

            tasks.start_soon(prompt)
            await asked.wait()
            await client.peer.notify("session/cancel", {"sessionId": session})
        assert results[0][0] == {"stopReason": "cancelled"}
        assert (await _turn(client, session, "?"))[0]["stopReason"] == "end_turn"


async def test_a_client_without_files_is_not_asked_for_them() -> None:
    """Questions that need what the client cannot do are left out; the turn goes on."""
    name = "kimi-tools.jsonl"
    frames = _frames(name)
    async with _playing((ACP / name).read_bytes()) as client:
        client.answers = _scripted(frames)
        session = await _opened(client)
        result = await client.ask("session/prompt", {**_prompts(name)[0], "sessionId": session})
    assert result["stopReason"] == "end_turn"
    asked = {method for method, _ in client.heard} - {"session/update"}
    assert asked == {"session/request_permission"}


async def test_the_recorded_speed_can_be_kept() -> None:
    """At a thousandfold of it a recording of seconds takes milliseconds, and not none."""
    async with _playing((ACP / TWO_TURNS).read_bytes(), speed=1000) as client:
        begun = anyio.current_time()
        session = await _opened(client)
        await _turn(client, session, "?")
    lines = (ACP / TWO_TURNS).read_bytes().splitlines()
    seconds = [codec.loads(line)["t"] for line in lines if b'"session/prompt"' in line]
    assert anyio.current_time() - begun > (seconds[1] - seconds[0]) / 2000


async def test_a_recording_that_ends_in_a_turn_ends_it_with_an_error() -> None:
    """A cut recording plays as far as it goes, and says so."""
    whole = (ACP / TWO_TURNS).read_bytes().splitlines(keepends=True)
    async with _playing(b"".join(whole[:20])) as client:
        session = await _opened(client)
        refusal, text = await _turn(client, session, "?")
    assert refusal[:2] == (-32603, "The recording ends here")
    assert text or client.heard


async def test_a_banner_is_played_too() -> None:
    """Lines that were no frames come where they came (R119)."""
    ours, theirs = memory_pair()
    data = (
        b'{"t":0,"dir":"out","frame":{"_raw":"Welcome!"}}\n'
        b'{"t":1,"dir":"in","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}}\n'
        b'{"t":2,"dir":"out","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}\n'
    )
    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(play_acp, data, theirs)
            assert await ours.receive() == b"Welcome!"
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"t":0,"dir":"meta","frame":{}}\n', b"{not json"])
async def test_what_is_no_recording_is_refused(data: bytes) -> None:
    """The error says so before anything is played."""
    ours, theirs = memory_pair()
    async with ours, theirs:
        with pytest.raises(Malformed):
            await play_acp(data, theirs)
