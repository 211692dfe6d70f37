"""Gateways are processes, and share a log on real servers: one dies or is paused, another goes on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import join

import anyio
import pytest
from anyio.abc import Process

from eventlog import SessionId, open_reader, parse
from gateway import RpcError, connect
from gateway.auth import VARIABLE
from gateway.backoff import Backoff
from gateway.errors import Code
from tests.gateway.shared import AGENT
from tests.gateway.stage import TOKEN
from tests.nats.cluster import servers
from tests.nats.links import link

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

NODES = [
    pytest.param(1, id="one server"),
    pytest.param(3, id="three servers", marks=pytest.mark.cluster),
]
QUICK = Backoff(first=0.05, most=0.5)


@asynccontextmanager
async def gateway_process(log: str, home: Path) -> AsyncGenerator[tuple[Process, str], None]:
    """Run `hermes-gateway serve` on *log*; yield it and where it listens."""
    agent = join((sys.executable, "-c", AGENT))
    command = (sys.executable, "-m", "gateway", "serve", "--agent", f"small={agent}")
    where = ("--log", log, "--listen", "127.0.0.1:0")
    environment = {**os.environ, VARIABLE: TOKEN.reveal(), "XDG_DATA_HOME": str(home)}
    async with await anyio.open_process(
        (*command, *where), env=environment, stdout=None
    ) as process:
        assert process.stderr
        said = b""
        try:
            while b"ws://" not in said or not said.endswith(b"\n"):
                said += await process.stderr.receive()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_drain, process)
                yield process, said[said.index(b"ws://") :].split()[0].decode()
                tasks.cancel_scope.cancel()
        except anyio.EndOfStream:
            pytest.fail(f"the gateway ended: {said.decode()}")
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            with anyio.CancelScope(shield=True):
                await process.wait()


async def _drain(process: Process) -> None:
    assert process.stderr
    async for piece in process.stderr:
        sys.stderr.write(piece.decode())


@asynccontextmanager
async def two_gateways(
    folder: Path, nodes: int
) -> AsyncGenerator[tuple[str, tuple[Process, str], tuple[Process, str]], None]:
    """Run a log on servers, and two gateways on it."""
    async with servers(folder / "servers", nodes=nodes) as cluster:
        log = f"{cluster.url}/hermes?replicas={nodes}&lease=2"
        async with gateways(folder, log, log) as (first, second):
            yield log, first, second


@asynccontextmanager
async def gateways(
    folder: Path, one: str, other: str
) -> AsyncGenerator[tuple[tuple[Process, str], tuple[Process, str]], None]:
    """Run two gateways, one beginning when the log is made, each with its way to it."""
    async with (
        gateway_process(one, folder / "a") as first,
        gateway_process(other, folder / "b") as second,
    ):
        yield first, second


async def lines_of(log: str, session: str) -> list[bytes]:
    async with open_reader(log) as reader:
        return (await reader.read(SessionId(session), limit=10_000)).lines


@pytest.mark.parametrize("nodes", NODES)
async def test_a_gateway_is_killed_and_its_clients_go_on_at_another(
    tmp_path: Path, nodes: int
) -> None:
    """P-9, P-18, P-40: SIGKILL in the middle of a turn: the client connects to the other gateway
    with the same id, epoch and numbers, hears that the turn was cut off, resumes, and goes on.
    """
    numbers: list[int] = []
    async with two_gateways(tmp_path, nodes) as (log, (first, url), (_, other)):
        async with connect([url, other], TOKEN.reveal(), backoff=QUICK) as client:
            with anyio.fail_after(60):
                session = (await client.request("session.create", {"cwd": "."}))["session_id"]
                follower = await client.follow(
                    session, seen=lambda envelope, _: numbers.append(envelope["seq"])
                )
                await client.submit(session, "wait")
                await follower.until(lambda me: me.seq > 15)
                epoch = follower.epoch
                first.kill()
                await follower.until(lambda me: me.transcript.status == "idle")
                await client.request("session.resume", {"session_id": session})
                await client.submit(session, "go")
                await follower.until(
                    lambda me: len(me.transcript.turns) == 2 and me.transcript.status == "idle"
                )
        lines = await lines_of(log, session)

    assert (follower.epoch, follower.resets) == (epoch, 0)
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers[-1] == len(lines)
    ends = [line for line in map(parse, lines) if line["type"] == "prompt.finished"]
    assert [("error" in end["payload"]) for end in ends] == [True, False]
    exits = [line["payload"] for line in map(parse, lines) if line["type"] == "agent.exited"]
    assert exits == [{"reason": "gateway_restarted"}]


@pytest.mark.parametrize("nodes", NODES)
async def test_a_session_that_one_gateway_deletes_is_gone_at_the_other(
    tmp_path: Path, nodes: int
) -> None:
    """P-20a: whoever follows it there is told, and not that numbers have begun anew."""
    async with (
        two_gateways(tmp_path, nodes) as (_, (_, url), (_, other)),
        connect(url, TOKEN.reveal(), backoff=QUICK) as one,
        connect(other, TOKEN.reveal(), backoff=QUICK) as two,
    ):
        with anyio.fail_after(60):
            session = (await one.request("session.create", {"cwd": "."}))["session_id"]
            theirs = await two.follow(session)
            await theirs.until(lambda me: me.caught_up)
            await one.request("session.close", {"session_id": session})
            await one.request("session.delete", {"session_id": session})
            await theirs.until(lambda me: me.gone is not None)
            stats = await two.request("session.events.stats")

    assert (theirs.gone, theirs.resets) == ("it was deleted", 0)
    assert (stats["sessions"], stats["events"]) == (0, 0)
    assert stats["bytes"] > 0


@pytest.mark.cluster
@pytest.mark.parametrize("nodes", [1, 3])
async def test_a_gateway_is_paused_across_its_lease(tmp_path: Path, nodes: int) -> None:
    """P-40: another takes its session over and works on it; when it wakes up it writes nothing,
    ends its agent, and tells whoever asks it who has the session now.
    """
    async with two_gateways(tmp_path, nodes) as (log, (first, url), (_, other)):
        async with (
            connect(url, TOKEN.reveal(), backoff=QUICK) as one,
            connect(other, TOKEN.reveal(), backoff=QUICK) as two,
        ):
            with anyio.fail_after(60):
                session = (await one.request("session.create", {"cwd": "."}))["session_id"]
                await one.submit(session, "wait")
                theirs = await two.follow(session)
                first.send_signal(signal.SIGSTOP)
                await theirs.until(lambda me: me.caught_up and me.transcript.status == "idle")
                await two.request("session.resume", {"session_id": session})
                await two.submit(session, "go")
                await theirs.until(
                    lambda me: len(me.transcript.turns) == 2 and me.transcript.status == "idle"
                )
                before = await lines_of(log, session)

                first.send_signal(signal.SIGCONT)
                with pytest.raises(RpcError) as refused:
                    await one.submit(session, "late")
                mine = await one.follow(session)
                await mine.until(lambda me: me.seq == len(before))
                with pytest.raises(RpcError) as named:
                    await one.request("session.resume", {"session_id": session})
                await two.submit(session, "go")
                await theirs.until(
                    lambda me: len(me.transcript.turns) == 3 and me.transcript.status == "idle"
                )
                await mine.until(lambda me: me.seq == theirs.seq)
        lines = await lines_of(log, session)

    assert refused.value.code == named.value.code == Code.NOT_LIVE
    assert named.value.data["session_id"] == session
    assert named.value.data["owner"]
    assert lines[: len(before)] == before
    told = [line["type"] for line in map(parse, lines)]
    assert told.count("agent.exited") == 1  # the takeover's
    assert mine.transcript == theirs.transcript


@pytest.mark.cluster
async def test_a_gateway_is_cut_off_from_the_log(tmp_path: Path) -> None:
    """P-40: its agent is stopped when its lease is over, whatever it says meanwhile is nowhere,
    and another has the session; when it reaches the log again it follows what was written.
    """
    async with (
        servers(tmp_path / "servers") as cluster,
        link(cluster.nodes[0].client) as passage,
    ):
        log = f"{cluster.url}/hermes?replicas=1&lease=2&deadline=5"
        far = log.replace(str(cluster.nodes[0].client), str(passage.port))
        async with (
            gateways(tmp_path, far, log) as ((_, url), (_, other)),
            connect(url, TOKEN.reveal(), backoff=QUICK) as one,
            connect(other, TOKEN.reveal(), backoff=QUICK) as two,
        ):
            with anyio.fail_after(60):
                session = (await one.request("session.create", {"cwd": "."}))["session_id"]
                await one.submit(session, "wait")
                mine = await one.follow(session)
                theirs = await two.follow(session)
                passage.cut()
                with pytest.raises(RpcError) as refused:
                    await one.submit(session, "into the void")
                await theirs.until(lambda me: me.caught_up and me.transcript.status == "idle")
                await two.request("session.resume", {"session_id": session})
                await two.submit(session, "go")
                await theirs.until(
                    lambda me: len(me.transcript.turns) == 2 and me.transcript.status == "idle"
                )
                passage.heal()
                await mine.until(lambda me: me.seq == theirs.seq)
        lines = await lines_of(log, session)

    assert refused.value.code in {Code.LOG_UNAVAILABLE, Code.NOT_LIVE}
    assert mine.transcript == theirs.transcript
    assert [line["seq"] for line in map(parse, lines)] == list(range(1, len(lines) + 1))
    assert not any(b"into the void" in line for line in lines)
