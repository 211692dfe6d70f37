"""What the tests of `wrap hermes` share: a recorded gateway, us in front of it, and clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from eventlog import Envelope, Log, SessionId, codec, parse
from gateway.client import Backoff
from gateway.errors import CannotConnect
from gateway.gateway_player import GatewayPlayer
from gateway.transports import Transport, memory_pair
from gateway.wrap.front import Front
from gateway.wrap.hermes import front_on
from gateway.wrap.upstream import Upstream
from tests.gateway.wrap.bench import lines_of

HERMES = Path(__file__).parents[2] / "captures" / "hermes"

Json = dict[str, Any]


class Refused(Exception):
    """A call was answered with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


@dataclass
class Window:
    """A Hermes client that keeps every frame."""

    line: Transport
    frames: list[Json] = field(default_factory=list)
    _ids: int = 0

    async def next(self) -> Json:
        """Return the next frame."""
        frame: Json = codec.loads(await self.line.receive())
        self.frames.append(frame)
        return frame

    async def ask(self, method: str, **params: Any) -> Any:
        """Call, and return the result."""
        id_ = await self.send(method, **params)
        while (frame := await self.next()).get("id") != id_ or "method" in frame:
            pass
        if "error" in frame:
            raise Refused(frame["error"])
        return frame["result"]

    async def send(self, method: str, **params: Any) -> int:
        """Call, and do not wait."""
        self._ids += 1
        call = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        await self.line.send(codec.dumps(call))
        return self._ids

    async def answer(self, id_: str, **outcome: Any) -> None:
        """Answer a question."""
        await self.line.send(codec.dumps({"jsonrpc": "2.0", "id": id_, **outcome}))

    async def until(self, met: Callable[[Json], bool]) -> Json:
        """Return the next frame that *met* is true of."""
        while not met(frame := await self.next()):
            pass
        return frame

    async def event(self, type_: str) -> Json:
        """Return the next event of a type: its params."""
        frame = await self.until(lambda frame: (frame.get("params") or {}).get("type") == type_)
        params: Json = frame["params"]
        return params

    async def asked(self, method: str) -> Json:
        """Return the next question of this method."""
        return await self.until(lambda frame: frame.get("method") == method and "id" in frame)

    @property
    def events(self) -> list[Json]:
        """Every numbered event so far: its params."""
        told = [frame["params"] for frame in self.frames if frame.get("method") == "event"]
        return [params for params in told if "seq" in params]


def gateway(*frames: Json | tuple[str, Json], epoch: str = "e" * 32) -> GatewayPlayer:
    """Return a gateway that plays *frames*: what it says, and `("in", …)` what it waits for."""
    payload = {"skin": {"name": "s"}, "change_events": True, "replay_epoch": epoch}
    ready = {"method": "event", "params": {"type": "gateway.ready", "payload": payload}}
    lines = []
    for item in (ready, *frames):
        way, frame = item if isinstance(item, tuple) else ("out", item)
        lines.append(codec.dumps({"dir": way, "frame": {"jsonrpc": "2.0", **frame}}))
    return GatewayPlayer(b"\n".join(lines))


def opening(runtime: str = "aaaa0001", stored: str = "20260101_000000_aaaaaa") -> list[Any]:
    """Return the frames by which a session is made."""
    result = {"session_id": runtime, "stored_session_id": stored, "info": {}}
    return [("in", {"id": "r1", "method": "session.create"}), {"id": "r1", "result": result}]


def event(
    seq: int, type_: str = "message.delta", runtime: str = "aaaa0001", **payload: Any
) -> Json:
    """Return an event of a gateway."""
    params = {"type": type_, "session_id": runtime, "payload": payload, "seq": seq}
    return {"method": "event", "params": params}


@dataclass
class House:
    """A wrapped gateway."""

    front: Front
    upstream: Upstream
    player: GatewayPlayer
    log: Log
    lines: list[Transport]
    """The player's ends of the lines that there have been."""
    away: list[bool]

    @asynccontextmanager
    async def window(self, **capabilities: Any) -> AsyncGenerator[Window, None]:
        """Open a client's line, greeted and introduced."""
        here, there = memory_pair(1024)
        async with here, there, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: self.front.converse(there, asks=False))
            window = Window(here)
            await window.event("gateway.ready")
            await window.ask("client.capabilities", server_requests=True, **capabilities)
            yield window
            tasks.cancel_scope.cancel()

    async def recorded(self, session_id: str) -> list[Envelope]:
        """Return every event of a session."""
        return [parse(line) for line in await self.lines_of(session_id)]

    async def lines_of(self, session_id: str) -> list[bytes]:
        """Return every line of a session."""
        return await lines_of(self.log, SessionId(session_id))

    def session(self, name: str) -> SessionId:
        """Return *name* as an id."""
        return SessionId(name)

    def stay_away(self) -> None:
        """Let nobody reach the gateway from now on."""
        self.away.append(True)

    async def break_the_line(self) -> None:
        """Lose the line to the gateway; return when that has been noticed."""
        await self.lines[-1].aclose()
        while self.upstream.connected:
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def house(folder: Path, capture: str | GatewayPlayer) -> AsyncGenerator[House, None]:
    """Wrap a recorded gateway: a capture's name, or a player that goes on."""
    player = (
        GatewayPlayer((HERMES / f"{capture}.jsonl").read_bytes())
        if isinstance(capture, str)
        else capture
    )
    lines: list[Transport] = []
    away: list[bool] = []

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        if away:
            raise CannotConnect("the gateway", "it is away")
        ours, theirs = memory_pair(4)
        lines.append(theirs)

        async def play() -> None:
            await player.serve(theirs)
            await theirs.aclose()

        async with ours, theirs, anyio.create_task_group() as playing:
            playing.start_soon(play)
            yield ours
            playing.cancel_scope.cancel()

    backoff = Backoff(first=0.001, most=0.01)
    async with (
        front_on(folder, dial, name="test", backoff=backoff) as (front, upstream),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(lambda: upstream.run(anew=True))
        yield House(front, upstream, player, front.gateway.log, lines, away)
        tasks.cancel_scope.cancel()
