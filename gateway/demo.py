"""Show what the project is for, on one machine, in a few seconds, and prove it.

Above this module: the command line. Below it: the reference client, and the programs themselves,
run as anybody would run them.

A recorded session of a real agent is played behind a real gateway process, on a real WebSocket
and a fresh log. The client is cut off in mid-turn; later the gateway is killed in mid-turn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from secrets import token_urlsafe
from shlex import join
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio

from eventlog import Envelope, SessionId, open_reader
from gateway.auth import VARIABLE, Token
from gateway.client import Asked, Backoff, Client, client_of
from gateway.errors import GatewayError
from gateway.follower import Follower
from gateway.transports import connect_websocket
from replay import EMPTY, Fold, TextOptions, digest, render_text

FIRST_PROMPT: Final = "Please do the work"
SECOND_PROMPT: Final = "Now both"
"""What the recorded person asked; the player answers each as the recorded agent did."""

CUT_AT: Final = 60
"""Events of the first turn after which the client's cable is pulled."""

KILL_AT: Final = 12
"""Events of the second turn after which the gateway is killed."""

GAP_MS: Final = 8
"""Milliseconds between two updates of the played agent: time to be cut off in between."""

PATIENCE: Final = 30.0
"""Seconds after which the demo gives up."""


@dataclass
class DemoFailed(GatewayError):
    """Something that the demo was to prove does not hold."""

    claim: str

    def __str__(self) -> str:
        return f"this does not hold: {self.claim}"


@dataclass
class Stage:
    """What the acts share: the programs, the client, and what it has heard."""

    folder: Path
    command: tuple[str, ...]
    token: str
    url: str = ""
    heard: list[tuple[Envelope, bool]] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)

    def prove(self, claim: str, *, holds: bool) -> None:
        """Note what has been shown, or stop the demo."""
        if not holds:
            raise DemoFailed(claim)
        self.proofs.append(claim)

    def hear(self, envelope: Envelope, live: bool) -> None:  # noqa: FBT001 - a follower's `Seen`
        """Keep every event in the order in which the client applied it."""
        self.heard.append((envelope, live))

    def ended(self, prompt: int) -> dict[str, Any] | None:
        """Return the end of a prompt, once the client has heard of it."""
        for envelope, _ in self.heard:
            if envelope["type"] == "prompt.finished" and envelope["payload"]["prompt"] == prompt:
                return envelope["payload"]
        return None


async def demo(say: Callable[[str], None]) -> None:
    """Play it; say the transcript, then one line a proof.

    Raises:
        DemoFailed: a claim does not hold.
        TimeoutError: something did not happen.

    """
    recording = files("gateway") / "recordings" / "claude.jsonl"
    with as_file(recording) as path, TemporaryDirectory(prefix="hermes-demo-") as folder:
        play = (sys.executable, "-m", "gateway", "play", str(path))
        agent = join((*play, "--as", "acp", "--gap-ms", str(GAP_MS)))
        serve = (sys.executable, "-m", "gateway", "serve", "--agent", f"claude={agent}")
        stage = Stage(Path(folder), (*serve, "--log", folder), token_urlsafe(16))
        with anyio.fail_after(PATIENCE):
            follower = await _play(stage)
            await _compare(stage, follower)
    say(render_text(follower.transcript, TextOptions()))
    for proof in stage.proofs:
        say(f"✓ {proof}")


async def _play(stage: Stage) -> Follower:
    dial = partial(_dial, stage)
    backoff = Backoff(first=0.05, most=0.2)
    async with client_of(dial, answerer=_allow, backoff=backoff) as client:
        async with _gateway(stage) as process:
            where = {"agent": "claude", "cwd": str(stage.folder)}
            session = await client.request("session.create", where)
            follower = await client.follow(session["session_id"], seen=stage.hear)
            await _cut_off(stage, client, follower)
            prompt = await _kill(client, follower, process)
        async with _gateway(stage):
            await _come_back(stage, follower, prompt)
            await _go_on(stage, client, follower)
    return follower


async def _cut_off(stage: Stage, client: Client, follower: Follower) -> None:
    """Act 1: the client's cable is pulled in mid-turn."""
    prompt = (await client.submit(follower.session_id, FIRST_PROMPT))["seq"]
    await follower.until(lambda me: me.seq >= CUT_AT)
    cut_at, lines = follower.seq, client.lines
    await client.drop()
    await follower.until(lambda _: stage.ended(prompt) is not None and client.lines > lines)
    numbers = [envelope["seq"] for envelope, _ in stage.heard]
    stage.prove(
        f"cut off after event {cut_at} in mid-turn, the client came back and heard events"
        f" {cut_at + 1} to {numbers[-1]}: every number once, in order",
        holds=cut_at < prompt_end(stage, prompt) and numbers == list(range(1, len(numbers) + 1)),
    )
    answered = [envelope for envelope, _ in stage.heard if envelope["type"] == "request.answered"]
    opened = [envelope for envelope, _ in stage.heard if envelope["type"] == "request.opened"]
    stage.prove(
        f"the agent asked {len(opened)} times for permission; each was asked here and answered once",
        holds=bool(opened)
        and [item["payload"]["id"] for item in opened]
        == [item["payload"]["id"] for item in answered],
    )


async def _kill(client: Client, follower: Follower, process: anyio.abc.Process) -> int:
    """Act 2: the gateway is killed in mid-turn; return the prompt that was cut."""
    prompt: int = (await client.submit(follower.session_id, SECOND_PROMPT))["seq"]
    await follower.until(lambda me: me.seq >= prompt + KILL_AT)
    process.kill()
    await process.wait()
    return prompt


async def _come_back(stage: Stage, follower: Follower, prompt: int) -> None:
    """Act 3: the gateway is started again on the same log."""
    epoch = follower.epoch
    await follower.until(lambda me: stage.ended(prompt) is not None and me.caught_up)
    end = stage.ended(prompt) or {}
    stage.prove(
        f"the gateway was killed (SIGKILL) in mid-turn; started again, it ended that turn with:"
        f" {end.get('error', {}).get('message')}",
        holds=end.get("error", {}).get("code") == 5035,
    )
    numbers = [envelope["seq"] for envelope, _ in stage.heard]
    stage.prove(
        f"same epoch, same numbers: {numbers[-1]} events, no hole, none twice, no snapshot needed",
        holds=follower.epoch == epoch
        and follower.resets == 0
        and numbers == list(range(1, len(numbers) + 1)),
    )


async def _go_on(stage: Stage, client: Client, follower: Follower) -> None:
    """Act 4: the session is resumed, and the next prompt works."""
    await client.request("session.resume", {"session_id": follower.session_id})
    prompt = (await client.submit(follower.session_id, SECOND_PROMPT))["seq"]
    await follower.until(lambda _: stage.ended(prompt) is not None)
    end = stage.ended(prompt) or {}
    stage.prove(
        "resumed with a new process of the agent, the next prompt works",
        holds=end.get("result", {}).get("stopReason") == "end_turn",
    )


async def _compare(stage: Stage, follower: Follower) -> None:
    """Act 5: whoever folds these events sees the same."""
    client = digest(follower.transcript)
    stage.prove(
        f"the client's transcript and the log folded from the start are the same: {client[:16]}…",
        holds=client == await _digest_of_log(stage.folder, follower.session_id),
    )
    printed = await anyio.run_process(
        (
            sys.executable,
            "-m",
            "replay",
            follower.session_id,
            "--digest",
            "--log",
            str(stage.folder),
        )
    )
    stage.prove(
        "and so is what `hermes-replay --digest` prints",
        holds=printed.stdout.decode().split()[:1] == [client],
    )


def prompt_end(stage: Stage, prompt: int) -> int:
    """Return the number of the event that ended *prompt*."""
    return next(
        envelope["seq"]
        for envelope, _ in stage.heard
        if envelope["type"] == "prompt.finished" and envelope["payload"]["prompt"] == prompt
    )


async def _digest_of_log(folder: Path, session_id: SessionId) -> str:
    fold = Fold(EMPTY)
    async with open_reader(folder) as log:
        while (page := await log.read(session_id, after=fold.seq)).body:
            for envelope in page.envelopes():
                fold.apply(envelope)
    return digest(fold.transcript())


@asynccontextmanager
async def _gateway(stage: Stage) -> AsyncGenerator[anyio.abc.Process, None]:
    """Run the gateway as a process of its own until the context is left, or it is killed."""
    listen = ("--listen", stage.url.partition("//")[2].partition("/")[0] or "127.0.0.1:0")
    environment = {**os.environ, VARIABLE: stage.token}
    async with await anyio.open_process((*stage.command, *listen), env=environment) as process:
        assert process.stderr  # noqa: S101 - a pipe by default
        async with anyio.create_task_group() as tasks:
            told = anyio.Event()
            tasks.start_soon(_listen, process.stderr, stage, told)
            await told.wait()
            yield process
            if process.returncode is None:
                process.terminate()
                await process.wait()
            tasks.cancel_scope.cancel()


async def _listen(stream: anyio.abc.ByteReceiveStream, stage: Stage, told: anyio.Event) -> None:
    """Read what the gateway says, and where it listens when it says so."""
    text = ""
    async for piece in stream:
        text += piece.decode(errors="replace")
        *lines, text = text.split("\n")
        for line in lines:
            if (at := line.find("ws://")) >= 0:
                stage.url = line[at:].split()[0]
                told.set()
    if not told.is_set():
        raise DemoFailed(f"the gateway starts (it said: {text[-500:]})")


@asynccontextmanager
async def _dial(stage: Stage) -> AsyncGenerator[Any, None]:
    async with connect_websocket(stage.url, Token(stage.token)) as line:
        yield line


async def _allow(asked: Asked) -> Any:
    """Answer as the recorded person did: the first way to allow it once."""
    options = asked.params.get("options", [])
    allowed = next(item for item in options if item["kind"] == "allow_once")
    return {"outcome": {"outcome": "selected", "optionId": allowed["optionId"]}}
