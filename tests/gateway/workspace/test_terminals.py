"""Commands run for an agent, are heard out, and never outlive their session."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.errors import RpcError
from gateway.workspace.terminals import AT_ONCE, Output, Terminals, terminals_in
from tests.gateway.stage import runs

pytestmark = pytest.mark.anyio


@pytest.fixture
async def terminals(tmp_path: Path) -> AsyncGenerator[Terminals, None]:
    async with terminals_in(str(tmp_path)) as terminals:
        yield terminals


async def start(terminals: Terminals, script: str, **members: Any) -> dict[str, Any]:
    """Run a shell script; return the params that name its terminal."""
    params = {"sessionId": "s", "command": "/bin/sh", "args": ["-c", script], **members}
    return {"sessionId": "s", **await terminals.create(params)}


async def gone(pid: int) -> None:
    """Return once there is no such process."""
    with anyio.fail_after(10):
        while runs(pid):
            await anyio.lowlevel.checkpoint()


async def test_a_command_is_heard_out(terminals: Terminals, tmp_path: Path) -> None:
    """Both of its streams in order, where it ran, its environment, and how it ended."""
    script = 'pwd; echo "$GREETING" >&2; printf end; exit 3'
    where = await start(terminals, script, env=[{"name": "GREETING", "value": "grüß dich"}])

    assert await terminals.wait_for_exit(where) == {"exitCode": 3, "signal": None}
    assert await terminals.output(where) == {
        "output": f"{tmp_path}\ngrüß dich\nend",
        "truncated": False,
        "exitStatus": {"exitCode": 3, "signal": None},
    }


async def test_output_can_be_had_while_it_runs(terminals: Terminals) -> None:
    """Without an exit status, because there is none yet."""
    where = await start(terminals, "echo first; read x; echo never")
    where_still = await start(terminals, "echo up; exec sleep 60")

    with anyio.fail_after(10):
        while "up" not in (told := await terminals.output(where_still))["output"]:
            await anyio.lowlevel.checkpoint()

    assert told == {"output": "up\n", "truncated": False}
    # A command has no input: one that asks for some goes on without.
    await terminals.wait_for_exit(where)
    assert (await terminals.output(where))["output"] == "first\nnever\n"


async def test_a_killed_command_can_still_be_read(terminals: Terminals) -> None:
    """Kill ends it; its output and how it ended are to be had until it is released."""
    where = await start(terminals, "echo up; exec sleep 60")
    with anyio.fail_after(10):
        while "up" not in (await terminals.output(where))["output"]:
            await anyio.lowlevel.checkpoint()

    assert await terminals.kill(where) == {}

    assert (await terminals.output(where))["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}
    assert await terminals.kill(where) == {}
    assert await terminals.release(where) == {}
    with pytest.raises(RpcError) as refused:
        await terminals.output(where)
    assert refused.value.code == -32002


async def test_who_waits_hears_of_the_release(terminals: Terminals) -> None:
    """A call that waits for a command is answered when that is released under it."""
    where = await start(terminals, "exec sleep 60")
    ended: list[Any] = []

    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            ended.append(await terminals.wait_for_exit(where))

        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await terminals.release(where)

    assert ended == [{"exitCode": None, "signal": "SIGTERM"}]


async def test_children_do_not_hold_up_the_end(terminals: Terminals) -> None:
    """A command is over when it is, though what it left behind still holds its pipe; that ends,
    too."""
    where = await start(terminals, "sleep 60 & echo $!")

    with anyio.fail_after(10):
        await terminals.wait_for_exit(where)
    child = int((await terminals.output(where))["output"])

    await gone(child)


async def test_nothing_outlives_the_session(tmp_path: Path) -> None:
    """Commands that ignore being told to end, and their children, are gone with the session."""
    async with terminals_in(str(tmp_path)) as terminals:
        where = await start(
            terminals, "trap '' TERM; sleep 60 & echo $! $$; while :; do wait; done"
        )
        with anyio.fail_after(10):
            while len(pids := (await terminals.output(where))["output"].split()) < 2:
                await anyio.lowlevel.checkpoint()

    for pid in pids:
        await gone(int(pid))


@pytest.mark.parametrize("limit", range(9))
def test_output_is_cut_where_a_character_begins(limit: int) -> None:
    """The end is kept: never more than the limit, never half a character, never more lost than
    one character's bytes beyond what has to be."""
    text = "aé漢👋z"
    output = Output(limit)
    for byte in text.encode():
        output.feed(bytes([byte]))
    output.feed(b"", last=True)

    kept = output.text.encode()
    assert text.endswith(output.text)
    assert limit - 4 < len(kept) <= limit
    assert output.truncated


def test_bytes_that_are_no_text_are_marked() -> None:
    """They are replaced, the limit counts what is told, and half a character at the end is told."""
    output = Output(100)
    output.feed(b"a\xffb\xe6")
    output.feed(b"", last=True)

    assert output.text == "a\ufffdb\ufffd"
    assert not output.truncated


async def test_a_loud_command_is_cut(terminals: Terminals) -> None:
    """However much it says, what is kept is bounded, and said to be cut."""
    script = (
        "i=0; while [ $i -lt 2000 ]; do echo 漢字漢字漢字漢字漢字漢字; i=$((i+1)); done; echo last"
    )
    where = await start(terminals, script, outputByteLimit=100)

    await terminals.wait_for_exit(where)
    told = await terminals.output(where)

    assert told["truncated"] is True
    assert told["output"].endswith("漢字\nlast\n")
    assert 96 < len(told["output"].encode()) <= 100


async def test_terminals_are_counted(terminals: Terminals) -> None:
    """One more than there may be is refused with the number, until one is released."""
    names = [await start(terminals, "exec sleep 60") for _ in range(AT_ONCE)]

    with pytest.raises(RpcError, match=str(AT_ONCE)) as refused:
        await start(terminals, "true")
    assert refused.value.data == {"limit": AT_ONCE}
    await terminals.release(names[0])
    await start(terminals, "true")


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"command": 1}, "command"),
        ({"command": "/no/such/program"}, "command"),
        ({"command": "nul\0"}, "command"),
        ({"command": "true", "args": "x"}, "args"),
        ({"command": "true", "args": [1]}, "args"),
        ({"command": "true", "env": [{"name": "x"}]}, "env"),
        ({"command": "true", "cwd": "relative"}, "cwd"),
        ({"command": "true", "cwd": "/no/such/folder"}, "command"),
        ({"command": "true", "outputByteLimit": -1}, "outputByteLimit"),
    ],
)
async def test_what_cannot_be_run_is_refused(
    terminals: Terminals, members: dict[str, Any], path: str
) -> None:
    """Each wrong member is named."""
    with pytest.raises(RpcError) as refused:
        await terminals.create({"sessionId": "s", **members})

    assert refused.value.code == -32602
    assert refused.value.data["path"] == path


async def test_the_gateways_token_is_not_passed_on(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P-7: a command that prints its environment does not print what opens the gateway."""
    monkeypatch.setitem(os.environ, "HERMES_GATEWAY_TOKEN", "opens the gateway")
    where = await start(terminals, "env")

    await terminals.wait_for_exit(where)

    assert "opens the gateway" not in (await terminals.output(where))["output"]
