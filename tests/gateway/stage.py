"""What the gateway's tests are played on: a real server, a real log, recorded agents.

The agents are processes that play a capture (`hermes-gateway play`), the sockets are real; only
where a test says so is a line made of memory.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from eventlog import Event, MemoryStore, SessionId, codec, parse
from gateway.agent_spec import AgentSpec
from gateway.auth import Token
from gateway.hermes_view import Views
from gateway.jsonrpc import Failure, Notification, Reply, Request, dump
from gateway.jsonrpc import parse as parse_frame
from gateway.methods import Gateway
from gateway.serve import gateway_on
from gateway.server import Server
from gateway.sessions import sessions_of
from gateway.transcripts import Transcripts
from gateway.transports import Transport, connect_websocket, memory_pair, serve_websocket
from gateway.workspace import Offers
from tests.gateway.kept import check_answer, check_told

CAPTURES = Path(__file__).parents[1] / "captures" / "acp"
TOKEN = Token("a-token-of-the-tests")

PATIENCE = 40
"""Seconds that a client waits for a frame: less than a test may take, so that it says for what."""

QUIET = ("claude049-hello", ["Say hi [[S:hello]]"])
"""A capture without questions, and its first prompt."""

ASKING = ("claude049-reject", "run please [[S:permshell]]")
"""A capture, and the prompt of it that leads to a permission request."""


def player(capture: str | Path, *options: str) -> AgentSpec:
    """Return an agent that plays *capture*: a name, or a file."""
    file = CAPTURES / f"{capture}.jsonl" if isinstance(capture, str) else capture
    play = (sys.executable, "-m", "gateway", "play", str(file), "--as", "acp")
    return AgentSpec(file.stem, (*play, *options))


def scripted(name: str, script: str) -> AgentSpec:
    """Return an agent that runs a few lines of Python."""
    return AgentSpec(name, (sys.executable, "-c", script))


def actor(
    able: dict[str, Any] | None = None,
    *,
    shared: bool = False,
    files: Path | None = None,
    terminal: bool = False,
    **seconds: float,
) -> AgentSpec:
    """Return an agent that does as its prompts say (`actor.py`); *able* is what it can."""
    script = Path(__file__).with_name("actor.py")
    argv = (sys.executable, str(script), codec.dumps(able or {}).decode())
    return AgentSpec("actor", argv, shared, Offers(files, terminal), **seconds)


def runs(pid: int) -> bool:
    """Whether there is such a process, and more of it than its name."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] not in ("Z", "X")


def said(events: list[Any]) -> str:
    """Return all that an agent has said to its user."""
    updates = [e["payload"]["update"] for e in events if e["type"] == "acp.session_update"]
    told = [one for one in updates if one["sessionUpdate"] == "agent_message_chunk"]
    return "".join(one["content"]["text"] for one in told)


def prompts(capture: str) -> list[Any]:
    """Return the content of every prompt of a capture, in order."""
    lines = (CAPTURES / f"{capture}.jsonl").read_bytes().splitlines()
    frames = [frame for line in lines if (frame := _frame(line))]
    return [
        frame["params"]["prompt"] for frame in frames if frame.get("method") == "session/prompt"
    ]


def _frame(line: bytes) -> dict[str, Any] | None:
    value = codec.loads(line)
    return value.get("frame") if value.get("dir") == "in" else None


@dataclass
class RawClient:
    """A client that keeps every frame as the bytes that came, and answers nothing by itself."""

    line: Transport
    frames: list[bytes] = field(default_factory=list)
    _ids: int = 0
    _passed: deque[Any] = field(default_factory=deque)
    """What came before the answers to calls, and nobody has listened for yet."""

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Call, and return the result; what comes in between is still to be heard.

        Raises:
            RpcError: the gateway said no.

        """
        self._ids += 1
        await self.line.send(dump(Request(self._ids, method, params or {})))
        while True:
            match parse_frame(await self.next()):
                case Reply(id_, result) as answer if id_ == self._ids:
                    check_answer(method, answer)
                    return result
                case Failure(id_, error) as answer if id_ == self._ids:
                    check_answer(method, answer)
                    raise error
                case other:
                    self._passed.append(other)

    async def say(self, frame: bytes) -> None:
        """Send bytes, whatever they are."""
        await self.line.send(frame)

    async def next(self) -> bytes:
        """Return the next frame of the line.

        Raises:
            TimeoutError: there is none for a long time.

        """
        with anyio.fail_after(PATIENCE):
            frame = await self.line.receive()
        self.frames.append(frame)
        check_told(parse_frame(frame))
        return frame

    async def _heard(self) -> Any:
        """Return the next frame that nobody has listened for: a busy machine may be early."""
        return self._passed.popleft() if self._passed else parse_frame(await self.next())

    async def events(self, *, until: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return the params of every event not heard yet, up to the one that *until* is true of."""
        heard = []
        while True:
            match await self._heard():
                case Notification("event", dict(params)) if "seq" in params:
                    heard.append(params)
                    if until(params):
                        return heard

    async def hear(self, method: str) -> Any:
        """Return the next notification or request of this method, of those not heard yet."""
        while True:
            match await self._heard():
                case (Notification(found, _) | Request(_, found, _)) as frame if found == method:
                    return frame


@dataclass
class Stage:
    """A gateway, and ways to talk to it."""

    gateway: Gateway
    server: Server
    url: str

    @asynccontextmanager
    async def client(self, **capabilities: Any) -> AsyncGenerator[RawClient, None]:
        """Connect over a real WebSocket, and say what the client can do."""
        async with connect_websocket(self.url, TOKEN) as line:
            client = RawClient(line)
            await client.next()  # gateway.ready
            can = {"server_requests": True, "acp_updates": True, **capabilities}
            await client.ask("client.capabilities", can)
            yield client

    @asynccontextmanager
    async def near(self, **capabilities: Any) -> AsyncGenerator[RawClient, None]:
        """Connect over a line of memory, as a client on stdio would be.

        It says *capabilities* if there are any; else it is as a Hermes client before it has.
        """
        here, there = memory_pair()
        async with here, there, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: self.server.converse(there, asks=True))
            client = RawClient(here)
            await client.next()
            if capabilities:
                await client.ask("client.capabilities", capabilities)
            yield client
            tasks.cancel_scope.cancel()

    async def lines(self, session_id: str) -> list[bytes]:
        """Return every line of a session, read from the log."""
        page = await self.gateway.log.read(SessionId(session_id), limit=1_000_000)
        return page.lines

    async def log(self, session_id: str) -> list[Any]:
        """Return every event of a session, read from the log."""
        return [parse(line) for line in await self.lines(session_id)]

    async def recorded(self, session_id: str, what: str) -> None:
        """Wait until a line of the session holds *what*; a client may have attached behind it."""
        lines: list[bytes] = []
        with anyio.fail_after(PATIENCE):
            while not any(what.encode() in line for line in lines):
                await self.gateway.log.wait(SessionId(session_id), after=len(lines))
                lines = await self.lines(session_id)


@asynccontextmanager
async def staged(folder: Path, *agents: AgentSpec) -> AsyncGenerator[Stage, None]:
    """Serve on a log in *folder*, with a real WebSocket, until the context is left."""
    async with gateway_on(folder, {agent.name: agent for agent in agents}) as gateway:
        server = Server(gateway)

        async def welcome(line: Transport) -> None:
            await server.converse(line, asks=False)

        async with serve_websocket("127.0.0.1", 0, TOKEN, welcome) as address:
            yield Stage(gateway, server, address.url)


@asynccontextmanager
async def bare(*events: Event, session_id: str = "s-1") -> AsyncGenerator[Stage, None]:
    """Serve on a log in memory, without agents; *events* are a session that stands there."""
    log = MemoryStore(clock=lambda: 1_000_000_000)
    if events:
        await log.append(SessionId(session_id), events)
    async with sessions_of(log, {}) as sessions:
        gateway = Gateway(log, sessions, Transcripts(log), Views(log))
        yield Stage(gateway, Server(gateway), "")


async def allow(client: RawClient, *, kind: str = "allow_once") -> str:
    """Answer the next permission request as a person would; return its id."""
    request = await client.hear("session/request_permission")
    option = next(item for item in request.params["options"] if item["kind"] == kind)
    result = {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    await client.say(dump(Reply(request.id, result)))
    return str(request.id)


def ended(seq: int) -> Callable[[dict[str, Any]], bool]:
    """Return a test for the end of the prompt at *seq*."""
    return lambda params: params["type"] == "prompt.finished" and params["payload"]["prompt"] == seq


Answerer = Callable[[Any], Awaitable[Any]]
