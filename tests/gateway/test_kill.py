"""The gateway is killed with SIGKILL, at any moment, and nothing that anybody saw is lost."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from shlex import join
from signal import SIGKILL

import anyio
import pytest

from eventlog import Event, SessionId, SqliteStore, open_reader, parse, seq_of
from gateway.auth import VARIABLE
from gateway.client import Backoff, client_of
from gateway.closing import recover
from gateway.jsonrpc import Notification
from gateway.jsonrpc import parse as parse_frame
from gateway.transports import connect_websocket
from tests.gateway.stage import CAPTURES, QUIET, TOKEN, RawClient

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

CAPTURE, (PROMPT,) = QUIET
ROUNDS = 25


@dataclass
class Seen:
    """What a client was shown or told before the kill."""

    session_id: str = ""
    events: list[bytes] = field(default_factory=list)
    acknowledged: int = 0


@dataclass
class Starter:
    """Where gateways on one log come from (`starter.py`)."""

    process: anyio.abc.Process

    @asynccontextmanager
    async def gateway(self) -> AsyncGenerator[tuple[Callable[[], None], str], None]:
        """Run one; yield what kills it, and where it listens."""
        asks, hears, said = self.process.stdin, self.process.stdout, self.process.stderr
        assert asks
        assert hears
        assert said
        await asks.send(b"one\n")
        pid = int((await heard(hears, b"pid ")).split()[1])
        try:
            told = await heard(said, b"ws://")
            yield partial(os.kill, pid, SIGKILL), told[told.index(b"ws://") :].split()[0].decode()
        finally:
            os.kill(pid, SIGKILL)
            with anyio.CancelScope(shield=True), anyio.fail_after(20):
                await heard(hears, b"dead")


async def heard(stream: anyio.abc.ByteReceiveStream, wanted: bytes) -> bytes:
    """Return what comes, up to the line that has *wanted* in it."""
    found = b""
    while wanted not in found or not found.endswith(b"\n"):
        try:
            found += await stream.receive()
        except anyio.EndOfStream:
            pytest.fail(f"it ended, and had said {found.decode()}")
    return found


@asynccontextmanager
async def starter(folder: Path) -> AsyncGenerator[Starter, None]:
    """Start `hermes-gateway serve` on a log in *folder*, as often as somebody asks."""
    scripts = Path(__file__).parent
    agent = join((sys.executable, str(scripts / "quick.py"), str(CAPTURES / f"{CAPTURE}.jsonl")))
    command = (sys.executable, str(scripts / "starter.py"), "serve", "--agent", f"a={agent}")
    where = ("--log", str(folder), "--listen", "127.0.0.1:0")
    environment = {**os.environ, VARIABLE: TOKEN.reveal()}
    async with await anyio.open_process((*command, *where), env=environment) as process:
        try:
            yield Starter(process)
        finally:
            assert process.stdin
            await process.stdin.aclose()
            with anyio.CancelScope(shield=True):
                await process.wait()


async def run_until_killed(gateways: Starter, moment: int) -> Seen:
    """Start a session, and kill the gateway when the client has been sent *moment* events."""
    seen = Seen()
    async with gateways.gateway() as (kill, url), connect_websocket(url, TOKEN) as line:
        client = RawClient(line)
        await client.next()
        await client.ask("client.capabilities", {"acp_updates": True})
        seen.session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        receipt = await client.ask("prompt.submit", {"session_id": seen.session_id, "text": PROMPT})
        seen.acknowledged = receipt["seq"]
        while len(client.frames) < moment:
            await client.next()
        kill()
        while True:
            try:
                await client.next()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                break
    seen.events = [frame for frame in client.frames if b'"seq":' in frame and b'"event"' in frame]
    return seen


async def check(folder: Path, seen: Seen) -> None:
    """Everything seen is in the log, the numbers have no hole, and writing goes on behind them."""
    session_id = SessionId(seen.session_id)
    async with SqliteStore.open(folder) as log:
        before = (await log.read(session_id, limit=10_000)).lines
        numbers = [seq_of(line) for line in before]
        assert numbers == list(range(1, len(before) + 1))
        assert numbers[-1] >= seen.acknowledged
        for frame in seen.events:
            match parse_frame(frame):
                case Notification("event", dict(params)) if "seq" in params:
                    assert frame.endswith(before[params["seq"] - 1][1:] + b"}")
        assert any(b'"prompt.submitted"' in line for line in before)

        await recover(log)
        after = [parse(line) for line in (await log.read(session_id, limit=10_000)).lines]
        ends = [e for e in after if e["type"] == "prompt.finished"]
        assert [e["payload"]["prompt"] for e in ends] == [seen.acknowledged]
        span = await log.append(session_id, [Event.of("notice", {"message": "goes on"})])
        assert span.first == len(after) + 1


@pytest.mark.parametrize("half", [0, 1])
async def test_killed_at_any_moment(tmp_path: Path, half: int) -> None:
    """S-8, P-10, P-18, P-40, R044, R033: fifty random moments; what was shown or acknowledged is
    there, no hole, no duplicate, no number twice, the same epoch, and the cut turn is ended.
    """
    random = Random(half)  # noqa: S311 - moments, no secrets
    epochs = set()
    async with starter(tmp_path) as gateways:
        for _ in range(ROUNDS):
            seen = await run_until_killed(gateways, moment=random.randint(3, 50))
            await check(tmp_path, seen)
            async with open_reader(tmp_path) as log:
                epochs.add(log.epoch)
    assert len(epochs) == 1


async def test_client_survives_a_restart(tmp_path: Path) -> None:
    """P-18, P-40, R055: the durable id, the epoch and the numbers hold over a kill and a restart."""
    where = {"url": ""}

    @asynccontextmanager
    async def dial() -> AsyncGenerator[object, None]:
        async with connect_websocket(where["url"], TOKEN) as line:
            yield line

    numbers: list[int] = []
    async with (
        starter(tmp_path) as gateways,
        client_of(dial, backoff=Backoff(first=0.02, most=0.1)) as client,  # type: ignore[arg-type]
    ):
        async with gateways.gateway() as (_, where["url"]):
            session = await client.request("session.create", {"cwd": "."})
            follower = await client.follow(
                session["session_id"], seen=lambda envelope, _: numbers.append(envelope["seq"])
            )
            await client.submit(session["session_id"], PROMPT)
            await follower.until(lambda me: me.seq > 20)
            epoch = follower.epoch
        async with gateways.gateway() as (_, where["url"]):
            await follower.until(lambda me: me.caught_up and me.transcript.status == "idle")
            answer = await client.request("session.resume", {"session_id": follower.session_id})
            await client.submit(follower.session_id, PROMPT)
            await follower.until(lambda me: len(me.transcript.turns) == 2)

    assert follower.epoch == epoch
    assert follower.resets == 0
    assert answer["session_id"] == session["session_id"]
    assert numbers == list(range(1, len(numbers) + 1))
