"""One process for all of an agent's sessions: they share it, and nothing else (issue 5)."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.errors import RpcError
from gateway.jsonrpc import Reply, Request, dump
from tests.gateway.stage import RawClient, Stage, actor, ended, said, staged

pytestmark = pytest.mark.anyio

CLOSES: dict[str, Any] = {"sessionCapabilities": {"close": {}}}


async def create(client: RawClient, folder: Path) -> dict[str, str]:
    """Begin a session; return the params that name it."""
    answer = await client.ask("session.create", {"cwd": str(folder)})
    return {"session_id": answer["session_id"]}


async def submit(client: RawClient, where: dict[str, str], text: str) -> int:
    receipt = await client.ask("prompt.submit", {**where, "text": text})
    return int(receipt["seq"])


async def finish(client: RawClient, where: dict[str, str], seq: int) -> dict[str, Any]:
    """Return how a prompt ended, looking at what has been heard already, too."""
    while True:
        events = await client.ask("session.events.since", where)
        for event in events["events"]:
            if ended(seq)(event):
                return dict(event["payload"])
        await client.events(until=ended(seq))


async def turn(client: RawClient, where: dict[str, str], text: str) -> dict[str, Any]:
    return await finish(client, where, await submit(client, where, text))


async def foreign_ids(stage: Stage, *sessions: dict[str, str]) -> list[str]:
    """Return the agent's own ids, which hold the id of its process."""
    logs = [await stage.log(where["session_id"]) for where in sessions]
    return [
        next(event["payload"]["id"] for event in log if event["type"] == "session.alias")
        for log in logs
    ]


async def test_sessions_share_a_process(tmp_path: Path) -> None:
    """Two sessions of a shared agent are two of one process's, each with its own log; an agent
    that is not shared has a process for each."""
    for shared, processes in ((True, 1), (False, 2)):
        agent = actor(shared=shared)
        async with staged(tmp_path / str(shared), agent) as stage, stage.client() as client:
            one, two = [await create(client, tmp_path) for _ in range(2)]
            await turn(client, one, "say to the first")
            await turn(client, two, "say to the second")
            ids = await foreign_ids(stage, one, two)
            words = [said(await stage.log(where["session_id"])) for where in (one, two)]

        assert len({id_.split("-")[1] for id_ in ids}) == processes
        assert len(set(ids)) == 2
        assert words == ["to the first", "to the second"]


async def test_known_sessions_are_taken_up_side_by_side(tmp_path: Path) -> None:
    """P-38: after a restart, one that the agent takes long to take up holds up no other, and each
    goes on with its own."""
    (tmp_path / "late").mkdir()
    able = {"loadSession": True}
    punctual = actor({**able, "punctual": True}, shared=True)
    async with staged(tmp_path / "log", punctual) as stage, stage.client() as client:
        slow = await create(client, tmp_path / "late")
        quick = await create(client, tmp_path)
        before = await foreign_ids(stage, slow, quick)
    agent = actor(
        able, shared=True, opening=20.0
    )  # answers for the one when the other is asked for
    async with staged(tmp_path / "log", agent) as stage, stage.client() as client:
        await client.line.send(dump(Request("slow", "session.resume", slow)))
        await client.ask("gateway.ping")
        await client.ask("session.resume", quick)
        await client.ask("session.resume", slow)
        for where, words in ((slow, "one"), (quick, "other")):
            await turn(client, where, f"say {words}")
        logs = [await stage.log(where["session_id"]) for where in (slow, quick)]
        after = await foreign_ids(stage, slow, quick)

    assert [said(log) for log in logs] == ["one", "other"]
    assert after == before
    assert not any(event["type"] == "notice" for log in logs for event in log)


async def test_many_begin_at_once(tmp_path: Path) -> None:
    """Sessions that are created at the same moment get each its own; what the agent asks before
    it has named one is answered for the one that is being opened (P-36)."""
    agent = actor({"early": True}, shared=True, files=tmp_path)
    folders = [tmp_path / str(number) for number in range(5)]
    for folder in folders:
        folder.mkdir()
        (folder / "AGENTS.md").write_text(f"you are in {folder.name}")
    found: dict[str, dict[str, str]] = {}

    async with staged(tmp_path / "log", agent) as stage:

        async def begin(folder: Path) -> None:
            async with stage.client() as client:
                found[folder.name] = where = await create(client, folder)
                await turn(client, where, f"say {folder.name}")

        async with anyio.create_task_group() as tasks:
            for folder in folders:
                tasks.start_soon(begin, folder)
        logs = {name: await stage.log(where["session_id"]) for name, where in found.items()}

    for name, events in logs.items():
        assert said(events) == name
        read = [e["payload"] for e in events if e["type"] == "acp.result"]
        assert [answer["result"] for answer in read] == [{"content": f"you are in {name}"}]


async def test_a_crash_ends_the_turns_of_all(tmp_path: Path) -> None:
    """P-38, P-40: the process of several sessions crashes: each has its end in its own log, its turn
    is over and its question withdrawn; each can be resumed, and they share a process again."""
    async with staged(tmp_path, actor(shared=True)) as stage, stage.client() as client:
        works, asks, idle, dies = [await create(client, tmp_path) for _ in range(4)]
        working = await submit(client, works, "wait")
        asking = await submit(client, asks, "ask")
        await client.hear("session/request_permission")
        dying = await submit(client, dies, "crash")

        ends = [
            await finish(client, where, seq)
            for where, seq in ((works, working), (asks, asking), (dies, dying))
        ]
        logs = [await stage.log(where["session_id"]) for where in (works, asks, idle, dies)]
        for where in (works, asks, idle, dies):
            await client.ask("session.resume", where)
        again = [(await turn(client, where, "say back"))["result"] for where in (works, asks, idle)]
        new = await foreign_ids_now(stage, works, asks)

    assert {end["error"]["message"] for end in ends} == {
        "The agent exited with code 3 before it had answered."
    }
    for events in logs:
        exited = [e["payload"] for e in events if e["type"] == "agent.exited"]
        assert [(one["code"], one["stderr"]) for one in exited] == [(3, "the stage is on fire")]
    cancels = [e["payload"]["reason"] for e in logs[1] if e["type"] == "request.cancel"]
    assert cancels == ["agent_gone"]
    assert again == [{"stopReason": "end_turn"}] * 3
    assert len({id_.split("-")[1] for id_ in new}) == 1


async def foreign_ids_now(stage: Stage, *sessions: dict[str, str]) -> list[str]:
    """Return the ids by which the agent knows sessions since they were resumed."""
    logs = [await stage.log(where["session_id"]) for where in sessions]
    return [
        [event["payload"]["id"] for event in log if event["type"] == "session.alias"][-1]
        for log in logs
    ]


async def test_closing_one_leaves_the_others_at_work(tmp_path: Path) -> None:
    """A closed session is closed at the agent, too, if it can; its turn is cancelled, that of
    another goes on, and the process ends with the last one."""
    async with staged(tmp_path, actor(CLOSES, shared=True)) as stage, stage.client() as client:
        one, two = [await create(client, tmp_path) for _ in range(2)]
        first = await submit(client, one, "wait")
        second = await submit(client, two, "ask")
        asked = await client.hear("session/request_permission")
        await client.ask("session.close", one)
        end = await finish(client, one, first)
        outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        await client.say(dump(Reply(asked.id, outcome)))
        other = await finish(client, two, second)
        calls = await turn(client, two, "calls")
        pid = int((await foreign_ids(stage, two))[0].split("-")[1])
        logs = [await stage.log(where["session_id"]) for where in (one, two)]
        os.kill(pid, 0)
        await client.ask("session.close", two)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        after = [await stage.log(where["session_id"]) for where in (one, two)]

    assert end["result"] == {"stopReason": "cancelled"}
    assert other["result"] == calls["result"] == {"stopReason": "end_turn"}
    assert "session/close" in said(logs[1])
    assert [e["type"] for e in logs[0]][-1] == "session.closed"
    assert after[0] == logs[0]
    assert [e["type"] for e in after[1]][-2:] == ["agent.exited", "session.closed"]


async def test_an_interrupt_concerns_one_session(tmp_path: Path) -> None:
    """P-31, P-37: only the turn that is interrupted ends, only its questions are withdrawn."""
    async with staged(tmp_path, actor(shared=True)) as stage, stage.client() as client:
        one, two = [await create(client, tmp_path) for _ in range(2)]
        first, second = await submit(client, one, "ask a"), await submit(client, two, "ask b")
        asked = [await client.hear("session/request_permission") for _ in range(2)]
        await client.ask("session.interrupt", one)
        assert "cancelled" in said(await after(stage, client, one, first))
        for question in asked:
            outcome = {"outcome": {"outcome": "selected", "optionId": "no"}}
            await client.say(dump(Reply(question.id, outcome)))
        assert '"no"' in said(await after(stage, client, two, second))


async def after(stage: Stage, client: RawClient, where: dict[str, str], seq: int) -> list[Any]:
    """Return the log of a session, once a prompt of it is over."""
    await finish(client, where, seq)
    return await stage.log(where["session_id"])


async def test_one_that_cannot_begin_does_not_end_the_others(tmp_path: Path) -> None:
    """A refused `session/new` is its own session's trouble; the agent's code and data are told, not
    taken for ours."""
    async with staged(tmp_path, actor(shared=True)) as stage, stage.client() as client:
        one = await create(client, tmp_path)
        (tmp_path / "forbidden").mkdir()
        with pytest.raises(RpcError, match=r"sign in first.*not today") as refused:
            await create(client, tmp_path / "forbidden")
        await turn(client, one, "say still here")
        events = await stage.log(one["session_id"])

    assert said(events) == "still here"
    assert refused.value.code == -32603
    assert refused.value.data["error"]["code"] == -32000


async def test_a_shutdown_ends_all_turns(tmp_path: Path) -> None:
    """P-27: each session's turn is cancelled and its end is recorded before the process is gone."""
    async with staged(tmp_path, actor(shared=True)) as stage, stage.client() as client:
        sessions = [await create(client, tmp_path) for _ in range(3)]
        for where in sessions:
            await submit(client, where, "wait")
    async with staged(tmp_path, actor(shared=True)) as stage:
        logs = [await stage.log(where["session_id"]) for where in sessions]

    for events in logs:
        kinds = [event["type"] for event in events]
        end = next(e["payload"] for e in events if e["type"] == "prompt.finished")
        exited = next(e["payload"] for e in events if e["type"] == "agent.exited")
        assert end["result"] == {"stopReason": "cancelled"}
        assert exited["reason"] == "shutdown"
        assert kinds.count("prompt.finished") == 1


async def test_a_killed_process_is_a_crash(tmp_path: Path) -> None:
    """P-38: by which signal is told to every session."""
    async with staged(tmp_path, actor(shared=True)) as stage, stage.client() as client:
        sessions = [await create(client, tmp_path) for _ in range(2)]
        prompts = [await submit(client, where, "wait") for where in sessions]
        pid = int((await foreign_ids(stage, sessions[0]))[0].split("-")[1])
        os.kill(pid, signal.SIGKILL)
        ends = [await finish(client, *both) for both in zip(sessions, prompts, strict=True)]

    for end in ends:
        assert end["error"]["message"] == "The agent exited by SIGKILL before it had answered."


async def test_an_answer_that_comes_too_late_is_not_taken_for_anothers(tmp_path: Path) -> None:
    """P-36: a session that was given up is named while the next one is opened: each answer is that of
    its own call, in its own log."""
    (tmp_path / "late").mkdir()
    agent = actor(CLOSES, shared=True, opening=2.0)  # also for those that begin, on a busy machine
    async with staged(tmp_path / "log", agent) as stage, stage.client() as client:
        first = await create(client, tmp_path)  # so that the process goes on
        with pytest.raises(RpcError, match="in time"):
            await create(client, tmp_path / "late")
        second = await create(client, tmp_path)
        await turn(client, second, "say mine")
        listed = await client.ask("session.list")
        names = [item["id"] for item in listed["sessions"]]
        logs = {name: await stage.log(name) for name in names}

    opened = {
        name: [e["payload"]["cwd"] for e in events if e["type"] == "session.opened"]
        for name, events in logs.items()
    }
    assert opened[first["session_id"]] == opened[second["session_id"]] == [str(tmp_path)]
    assert [str(tmp_path / "late")] in opened.values()
    assert said(logs[second["session_id"]]) == "mine"


async def test_what_comes_for_a_closed_session_stands_elsewhere(tmp_path: Path) -> None:
    """P-12: an agent that goes on in a session that was left does not write behind its end, and ends
    nothing: it is in `@gateway`, with the session's id; resumed, the session takes it again."""
    able: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}
    async with staged(tmp_path, actor(able, shared=True)) as stage, stage.client() as client:
        one, two = [await create(client, tmp_path) for _ in range(2)]
        (foreign,) = await foreign_ids(stage, one)
        await client.ask("session.close", one)
        closed = await stage.log(one["session_id"])
        await turn(client, two, f"tell {foreign} too late")
        after_close = await stage.log(one["session_id"])
        elsewhere = [e["payload"] for e in await stage.log("@gateway")]
        await client.ask("session.resume", one)
        await turn(client, one, "say back, ")
        await turn(client, two, f"tell {foreign} in time")
        events = await stage.log(one["session_id"])

    assert after_close == closed
    assert closed[-1]["type"] == "session.closed"
    assert [one["params"]["sessionId"] for one in elsewhere] == [foreign]
    assert said(events) == "back, in time"
