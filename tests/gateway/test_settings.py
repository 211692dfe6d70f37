"""Modes, models and options are the agent's: they are passed on, recorded and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.errors import RpcError
from tests.gateway.stage import actor, player, staged

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("given", "method", "told"),
    [
        ({"mode": "plan"}, "session/set_mode", {"modeId": "plan"}),
        ({"model": "small"}, "session/set_model", {"modelId": "small"}),
        (
            {"option": "effort", "value": "high"},
            "session/set_config_option",
            {"configId": "effort", "value": "high"},
        ),
        (
            {"option": "fast", "value": False},
            "session/set_config_option",
            {"configId": "fast", "value": False},
        ),
    ],
)
async def test_what_is_set_is_passed_on(
    tmp_path: Path, given: dict[str, Any], method: str, told: dict[str, Any]
) -> None:
    """P-35: in ACP's words, with the agent's own id; the call and its answer are in the log."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        answer = await client.ask("session.configure", {**where, **given})
        events = await stage.log(where["session_id"])

    assert answer == {"method": method, "answer": {}}
    call, result = [e["payload"] for e in events if e["type"] in ("acp.call", "acp.result")]
    alias = next(e["payload"]["id"] for e in events if e["type"] == "session.alias")
    assert (call["method"], call["params"]) == (method, {"sessionId": alias, **told})
    assert (result["method"], result["result"]) == (method, {})


async def test_a_mode_that_was_set_is_the_sessions(tmp_path: Path) -> None:
    """A recorded agent is set to a mode that it has: that is what a person sees, whoever looks."""
    async with staged(tmp_path, player("claude049-modes")) as stage, stage.client() as client:
        created = await client.ask("session.create", {"cwd": "."})
        where = {"session_id": created["session_id"]}
        await client.ask("session.configure", {**where, "mode": "acceptEdits"})
        told = await client.ask("session.transcript", where)

    assert told["transcript"]["mode"] == "acceptEdits"


async def test_what_an_agent_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    """4002, with the agent's code in the error's data, and the mode is what it was."""
    able = {"refuses": ["session/set_mode"]}
    async with staged(tmp_path, actor(able)) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        with pytest.raises(RpcError, match="no: not today") as refused:
            await client.ask("session.configure", {**where, "mode": "plan"})
        await client.ask("session.close", where)
        with pytest.raises(RpcError) as dormant:
            await client.ask("session.configure", {**where, "mode": "plan"})

    assert refused.value.code == 4002
    assert refused.value.data["error"]["code"] == -32000
    assert dormant.value.code == 4001


@pytest.mark.parametrize(
    "given",
    [{}, {"mode": "a", "model": "b"}, {"option": "a"}, {"mode": "a", "value": 1}, {"value": 1}],
)
async def test_one_thing_is_set_at_a_time(tmp_path: Path, given: dict[str, Any]) -> None:
    """P-2: none, two, or a value of nothing are refused before the agent hears of them."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        where = {"session_id": (await client.ask("session.create", {"cwd": "."}))["session_id"]}
        with pytest.raises(RpcError) as refused:
            await client.ask("session.configure", {**where, **given})

    assert refused.value.code == -32602
