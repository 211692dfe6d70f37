"""A branch, and what its agent remembers: all of it if it can fork, else it is said that it does
not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.stage import RawClient, Stage, actor, ended, said, staged

pytestmark = pytest.mark.anyio

FORKS: dict[str, Any] = {"sessionCapabilities": {"fork": {}, "resume": {}}}
NOTICE = "The agent was started anew and does not remember this session."


async def turn(client: RawClient, where: dict[str, str], text: str) -> int:
    receipt = await client.ask("prompt.submit", {**where, "text": text})
    await client.events(until=ended(receipt["seq"]))
    return int(receipt["seq"])


async def parent_of(client: RawClient) -> tuple[dict[str, str], int]:
    """Have a session with two turns; return it, and where its second prompt stands."""
    created = await client.ask("session.create", {"cwd": "."})
    where = {"session_id": created["session_id"]}
    await turn(client, where, "say one")
    return where, await turn(client, where, "say two")


async def child_of(
    stage: Stage, client: RawClient, where: dict[str, str], **at: int
) -> tuple[list[str], list[Any]]:
    """Branch; return which methods the child's agent was called, and the child's log."""
    answer = await client.ask("session.branch", {**where, **at})
    child = {"session_id": answer["session_id"]}
    before = await stage.log(child["session_id"])
    await turn(client, child, "calls")
    events = await stage.log(child["session_id"])
    return json.loads(said(events[len(before) :])), events


def since_fork(events: list[Any]) -> list[Any]:
    kinds = [event["type"] for event in events]
    return events[kinds.index("log.forked") + 1 :]


@pytest.mark.parametrize("shared", [False, True])
async def test_a_whole_past_is_forked_by_the_agent(tmp_path: Path, *, shared: bool) -> None:
    """`session/fork`, if the agent has it and the branch holds all that it knows; the history that it
    tells again is counted and not recorded; no notice says that it forgot."""
    async with staged(tmp_path, actor(FORKS, shared=shared)) as stage, stage.client() as client:
        where, _ = await parent_of(client)
        calls, events = await child_of(stage, client, where)
        parent = await stage.log(where["session_id"])

    new = since_fork(events)
    assert calls.count("session/fork") == 1
    assert calls.count("session/new") == (1 if shared else 0)
    assert NOTICE not in [e["payload"].get("message") for e in new]
    alias = [e["payload"]["id"] for e in parent if e["type"] == "session.alias"]
    opened = next(e["payload"] for e in new if e["type"] == "session.opened")
    assert opened["method"] == "session/fork"
    assert f"as in {alias[0]}" not in json.dumps(events)
    dropped = [e["payload"] for e in new if e["type"] == "acp.replay" and "dropped" in e["payload"]]
    assert [one["dropped"]["count"] for one in dropped] == [1]
    both = parent if shared else new
    asked = [e["payload"] for e in both if e["type"] == "acp.call"]
    assert [one["params"]["sessionId"] for one in asked] == alias


async def test_a_part_of_the_past_is_not_forked(tmp_path: Path) -> None:
    """ACP forks whole sessions only: an agent that knows more than the branch holds starts anew, and
    the log says that it does not remember."""
    async with staged(tmp_path, actor(FORKS)) as stage, stage.client() as client:
        where, second = await parent_of(client)
        calls, events = await child_of(stage, client, where, at_seq=second - 1)

    assert "session/fork" not in calls
    assert [e["payload"]["message"] for e in events if e["type"] == "notice"] == [NOTICE]


@pytest.mark.parametrize(
    "able",
    [
        {},
        {**FORKS, "refuses": ["session/fork"]},
        {"sessionCapabilities": {"fork": None}},
        {"sessionCapabilities": True},
        {"sessionCapabilities": ["fork"]},
    ],
)
async def test_an_agent_that_cannot_fork_starts_anew(tmp_path: Path, able: dict[str, Any]) -> None:
    """Whether it says so before or when it is asked to, or says what nobody understands."""
    async with staged(tmp_path, actor(able)) as stage, stage.client() as client:
        where, _ = await parent_of(client)
        calls, events = await child_of(stage, client, where)

    assert calls[-2] == "session/new"
    assert [e["payload"]["message"] for e in events if e["type"] == "notice"] == [NOTICE]


async def test_a_fork_goes_on_by_its_own_name(tmp_path: Path) -> None:
    """P-38: what was forked is resumed under the id that the agent gave the fork."""
    async with staged(tmp_path, actor(FORKS)) as stage, stage.client() as client:
        where, _ = await parent_of(client)
        answer = await client.ask("session.branch", where)
        child = {"session_id": answer["session_id"]}
        await client.ask("session.close", child)
        await client.ask("session.resume", child)
        await turn(client, child, "say again")
        events = await stage.log(child["session_id"])

    new = since_fork(events)
    alias = next(e["payload"]["id"] for e in new if e["type"] == "session.alias")
    asked = [e["payload"] for e in new if e["type"] == "acp.call"]
    assert [one["method"] for one in asked] == ["session/fork", "session/resume"]
    assert asked[1]["params"]["sessionId"] == alias
    assert not [e for e in new if e["type"] == "notice"]
