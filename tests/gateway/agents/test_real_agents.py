"""Real agents behind a real gateway, with a script for a model: `pytest -m agents`.

npm installs them into a folder of the test's own; HERMES_AGENTS_FOLDER names one that is kept
between runs. docs/agents.md tells more.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from subprocess import TimeoutExpired, run
from time import time
from typing import Any

import anyio
import pytest

from eventlog import SessionId, open_reader, parse
from gateway.auth import VARIABLE
from gateway.client import Asked as Question
from gateway.client import Backoff, Client, client_of
from gateway.follower import Follower
from gateway.transports import Transport, connect_websocket
from replay import digest
from tests.gateway.agents.account import of_log, of_wire
from tests.gateway.agents.agents import AGENTS, RealAgent
from tests.gateway.agents.model import Model, model_server
from tests.gateway.agents.script import BEFORE, HELLO, WRITTEN
from tests.gateway.stage import TOKEN

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.agents,
    pytest.mark.timeout(600, func_only=True),  # an installation has a limit of its own
]

TEE = Path(__file__).with_name("tee.py")
MAKE = "touch made && echo it is made"
PATIENCE = 120.0
"""Seconds that anything may take; some agents start slowly."""
INSTALLING = 900
STARTING = 60.0
"""Seconds that the gateway has until it listens: what it hosts is started later."""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[RealAgent], Path]:
    """Install an agent, if it is not; return the folder of its commands."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no Node.js")
    kept = os.environ.get("HERMES_AGENTS_FOLDER")
    root = Path(kept) if kept else tmp_path_factory.mktemp("npm")

    def install(agent: RealAgent) -> Path:
        place = root / agent.package.replace("/", "-").lstrip("@")
        commands = place / "node_modules" / ".bin"
        with _alone(root):
            if not place.exists():
                _npm(npm, agent.package, root / f"{place.name}.part").rename(place)
        if not (commands / agent.argv[0]).exists():
            pytest.fail(f"{agent.package} has no {agent.argv[0]}; is {place} whole?")
        return commands

    return install


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Let nobody else install there meanwhile: half an agent looks like a whole one."""
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _npm(npm: str, package: str, place: Path) -> Path:
    """Install *package* in *place*, or tell what npm has told."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    command = [npm, "install", "--prefix", str(place), package, *quiet]
    try:
        done = run(command, check=False, cwd=place, timeout=INSTALLING, capture_output=True)
    except TimeoutExpired as slow:
        pytest.fail(f"npm took over {INSTALLING} s for {package}: {_words(slow.stderr)}")
    if done.returncode:
        pytest.fail(f"npm could not install {package}: {_words(done.stdout, done.stderr)}")
    return place


def _words(*said: bytes | None) -> str:
    return b"\n".join(filter(None, said)).decode(errors="replace")[-4_000:]


@pytest.fixture
def model() -> Iterator[Model]:
    with model_server() as model:
        yield model


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    found: RealAgent = request.param
    return found


@dataclass
class House:
    """A gateway with one real agent, started as often as need be on the same log."""

    folder: Path
    agent: RealAgent
    commands: Path
    model: Model
    url: str = ""
    questions: list[Question] = field(default_factory=list)

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.folder / "project"

    @property
    def wire(self) -> Path:
        """What the tee has seen."""
        return self.folder / "wire.jsonl"

    @asynccontextmanager
    async def gateway(self, *options: str) -> AsyncGenerator[anyio.abc.Process, None]:
        """Run `hermes-gateway serve`."""
        self.project.mkdir(parents=True, exist_ok=True)
        argv = (str(self.commands / self.agent.argv[0]), *self.agent.argv[1:])
        tee = join((sys.executable, str(TEE), str(self.wire), *argv))
        serve = (sys.executable, "-m", "gateway", "serve", "--agent", f"{self.agent.name}={tee}")
        where = ("--log", str(self.folder / "log"), "--listen", "127.0.0.1:0")
        around = self.agent.surroundings(self.folder / "home", self.model)
        here = {"PYTHONPATH": str(Path(__file__).parents[3]), VARIABLE: TOKEN.reveal()}
        async with await anyio.open_process(
            (*serve, *where, *options), env={**around, **here}, cwd=self.project
        ) as process:
            try:
                self.url = await _address(process)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_drain, process)
                    yield process
                    tasks.cancel_scope.cancel()
            finally:
                if process.returncode is None:
                    process.terminate()
                left = ["the gateway"]
                with anyio.move_on_after(20, shield=True):
                    await process.wait()
                    while left := self.processes():  # noqa: ASYNC110 - nobody tells of their end
                        await anyio.sleep(0.1)
                assert not left, f"outlived its gateway, or never ended: {left}"

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client, None]:
        """Connect a client that allows, once, whatever it is asked."""

        @asynccontextmanager
        async def dial() -> AsyncGenerator[Transport, None]:
            async with connect_websocket(self.url, TOKEN) as line:
                yield line

        async with client_of(dial, answerer=self._allow, backoff=Backoff(0.05, 0.2)) as client:
            yield client

    async def _allow(self, question: Question) -> Any:
        self.questions.append(question)
        option = next(one for one in question.params["options"] if one["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}

    def processes(self) -> list[str]:
        """Return what runs in this house, by the home that it has been given."""
        home = f"HOME={self.folder / 'home'}\0".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if home in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        return found

    async def log(self, session_id: str) -> list[Any]:
        """Return every event of a session."""
        async with open_reader(self.folder / "log") as log:
            page = await log.read(SessionId(session_id), limit=1_000_000)
            return [parse(line) for line in page.lines]


async def _address(process: anyio.abc.Process) -> str:
    """Return where a gateway listens, or tell what became of it instead."""
    assert process.stderr
    said = b""
    with anyio.move_on_after(STARTING):
        with suppress(anyio.EndOfStream):
            while b"ws://" not in said or not said.endswith(b"\n"):
                said += await process.stderr.receive()
            return said[said.index(b"ws://") :].split()[0].decode()
        code = await process.wait()
        pytest.fail(f"the gateway ended with {code} before it listened: {_words(said)}")
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    pytest.fail(
        f"no gateway listens after {STARTING:g} s (load {load}): {_words(said) or 'not a word'}"
    )


async def _drain(process: anyio.abc.Process) -> None:
    assert process.stderr
    async for piece in process.stderr:
        sys.stderr.write(piece.decode(errors="replace"))


@pytest.fixture
def house(
    tmp_path: Path, agent: RealAgent, model: Model, installed: Callable[[RealAgent], Path]
) -> House:
    return House(tmp_path, agent, installed(agent), model)


async def begin(client: Client, house: House) -> Follower:
    """Create a session, and follow it."""
    session = await client.request("session.create", {"cwd": str(house.project)})
    return await client.follow(session["session_id"])


async def turn(client: Client, follower: Follower, text: str) -> Any:
    """Have a turn; return how it ended, and what the agent said."""
    before = len(follower.transcript.turns)
    with anyio.fail_after(PATIENCE):
        await client.submit(follower.session_id, text)
        await follower.until(
            lambda me: len(me.transcript.turns) > before and me.transcript.status == "idle"
        )


async def heard(house: House, follower: Follower, text: str) -> None:
    """Return once the agent has said *text*."""
    while text not in words(await house.log(follower.session_id)):
        await follower.until(lambda me, seen=follower.seq: me.seq > seen)  # type: ignore[misc]


def words(events: list[Any]) -> str:
    """Return everything that the agent has said to its user."""
    updates = [event["payload"]["update"] for event in events if "update" in event["payload"]]
    said = [one for one in updates if one["sessionUpdate"] == "agent_message_chunk"]
    return "".join(one["content"].get("text", "") for one in said)


def ends(events: list[Any]) -> list[Any]:
    """Return how turns ended."""
    finished = [event["payload"] for event in events if event["type"] == "prompt.finished"]
    return [one["result"]["stopReason"] if "result" in one else one["error"] for one in finished]


async def test_a_day_at_work(house: House) -> None:
    """Text, a tool that asks and is allowed, a cancel in mid-turn, and a turn after it; every
    frame is recorded, and client and log have the same digest (P-26, P-35, P-36, P-37)."""
    async with house.gateway(), house.client() as client:
        follower = await begin(client, house)
        await turn(client, follower, "Please [[hello]]")
        await turn(client, follower, f"Please [[run {MAKE}]]")
        assert (house.project / "made").exists()
        receipt = await client.submit(follower.session_id, "Please [[stream]]")
        with anyio.fail_after(PATIENCE):
            await heard(house, follower, "tick 3")
            asked = {"session_id": follower.session_id}
            assert (await client.request("session.interrupt", asked))["interrupted"]
            await follower.until(lambda me: me.transcript.status == "idle")
        await turn(client, follower, "Again, [[hello]]")
        await client.request("session.close", asked)
        with anyio.fail_after(PATIENCE):
            await follower.until(lambda me: me.transcript.status == "closed")
        told = await client.request("session.transcript", asked)
        mine = digest(follower.transcript)

    events = await house.log(follower.session_id)
    said = words(events)
    assert told["digest"] == mine
    assert receipt["seq"] in [e["seq"] for e in events if e["type"] == "prompt.submitted"]
    assert said.count(HELLO) == 2
    assert BEFORE in said
    assert "it is made" in said
    assert [question.method for question in house.questions] == ["session/request_permission"]
    assert ends(events) == ["end_turn", "end_turn", "cancelled", "end_turn"]
    assert of_log(events) == of_wire(house.wire)


async def test_two_sessions_of_one_process(house: House) -> None:
    """`--share-agent`: two sessions of one process stream at once; one is cancelled and closed, the
    other goes on, and each log holds its own (P-36)."""
    async with house.gateway("--share-agent", house.agent.name), house.client() as client:
        one, two = [await begin(client, house) for _ in range(2)]
        for follower in (one, two):
            await client.submit(follower.session_id, "Please [[stream]]")
        with anyio.fail_after(PATIENCE):
            for follower in (one, two):
                await heard(house, follower, "tick 3")
            await client.request("session.interrupt", {"session_id": one.session_id})
            await one.until(lambda me: me.transcript.status == "idle")
            assert two.transcript.status == "running"
            await client.request("session.close", {"session_id": one.session_id})
            await client.request("session.interrupt", {"session_id": two.session_id})
            await two.until(lambda me: me.transcript.status == "idle")
        await turn(client, two, "Please [[hello]]")
        mine = [digest(follower.transcript) for follower in (one, two)]
        named = [{"session_id": follower.session_id} for follower in (one, two)]
        told = [(await client.request("session.transcript", where))["digest"] for where in named]

    first, second = [await house.log(follower.session_id) for follower in (one, two)]
    assert told == mine
    assert ends(first) == ["cancelled"]
    assert ends(second) == ["cancelled", "end_turn"]
    assert words(second).endswith(HELLO)
    assert HELLO not in words(first)
    assert house.wire.read_text().count('\\"method\\":\\"initialize\\"') == 1


async def test_a_branch_remembers(house: House) -> None:
    """`session.branch` of a session that is at rest: an agent that can fork remembers all of it; of
    one that cannot the log says that it does not."""
    async with house.gateway(), house.client() as client:
        follower = await begin(client, house)
        await turn(client, follower, "My cat is called Ottokar. [[hello]]")
        with anyio.fail_after(PATIENCE):
            where = {"session_id": follower.session_id}
            answer = await client.request("session.branch", where)
            branch = await client.follow(answer["session_id"])
            await branch.until(lambda me: me.caught_up)
        await turn(client, branch, "What is its name? [[hello]]")

    events = await house.log(branch.session_id)
    notices = [event for event in events if event["type"] == "notice"]
    assert bool(notices) != house.agent.forks
    asked = [item for item in house.model.asked if item.tools][-1]
    assert ("Ottokar" in " ".join(item.text for item in asked.said)) == house.agent.forks
    assert words(events).count(HELLO) == 2
    prompts = [event for event in events if event["type"] == "prompt.submitted"]
    assert len(prompts) == 2


async def test_it_can_be_told_how_to_work(house: House) -> None:
    """`session.configure`: a mode that the agent says it has is set, and is the session's; one that
    it does not have is refused by the agent, or is not."""
    async with house.gateway(), house.client() as client:
        follower = await begin(client, house)
        where = {"session_id": follower.session_id}
        opened = next(
            e for e in await house.log(follower.session_id) if e["type"] == "session.opened"
        )
        setting = _setting(opened["payload"])
        with anyio.fail_after(PATIENCE):
            answer = await client.request("session.configure", {**where, **setting})
        await turn(client, follower, "Please [[hello]]")

    shown = follower.transcript
    assert answer["method"] in ("session/set_mode", "session/set_config_option")
    if "mode" in setting:
        assert shown.mode == setting["mode"]
    else:
        assert setting["value"] in str(shown.config)
    assert of_log(await house.log(follower.session_id)) == of_wire(house.wire)


def _setting(opened: dict[str, Any]) -> dict[str, Any]:
    """Return a setting other than the one that a session began with."""
    if modes := opened.get("modes"):
        others = [one["id"] for one in modes["availableModes"]]
        return {"mode": next(one for one in others if one != modes["currentModeId"])}
    option = next(one for one in opened["config_options"] if one["id"] == "mode")
    values = [one["value"] for one in option["options"]]
    value = next(one for one in values if one != option["currentValue"])
    return {"option": "mode", "value": value}


async def test_files_are_written_through_us(house: House) -> None:
    """`--allow-fs`: an agent that writes through its client does so, below its own folder, and the
    log has what it wrote (P-35); another one writes by itself."""
    if house.agent.name == "codex":
        pytest.skip("Codex writes by patches, in a language of its own")
    path = house.project / "written.txt"
    if house.agent.makes_no_files:
        house.project.mkdir()
        path.write_text("old")
    async with house.gateway("--allow-fs", str(house.folder)), house.client() as client:
        follower = await begin(client, house)
        await turn(client, follower, f"Please [[write {path}]]")

    events = await house.log(follower.session_id)
    assert path.read_text() == WRITTEN
    calls = [event["payload"] for event in events if event["type"] == "acp.call"]
    written = [one["params"] for one in calls if one["method"] == "fs/write_text_file"]
    assert [one["content"] for one in written] == [WRITTEN] * house.agent.writes_through_us
    assert of_log(events) == of_wire(house.wire)


async def test_it_goes_on_where_it_was_killed(house: House) -> None:
    """The gateway is killed in mid-turn and started again: the agent has ended with it, the turn is
    over, the agent takes the session up, and its model is told of what was said before (P-18, P-38, P-40)."""
    async with house.client() as client:
        async with house.gateway() as gateway:
            follower = await begin(client, house)
            await turn(client, follower, "My cat is called Ottokar. [[hello]]")
            await client.submit(follower.session_id, "Please [[stream]]")
            with anyio.fail_after(PATIENCE):
                await heard(house, follower, "tick 3")
            gateway.kill()
            await gateway.wait()
        if house.agent.by_the_minute:
            await anyio.sleep(60.5 - time() % 60)  # it is the agent that looks at the clock
        async with house.gateway():
            with anyio.fail_after(PATIENCE):
                await follower.until(lambda me: me.caught_up and me.transcript.status == "idle")
                await client.request("session.resume", {"session_id": follower.session_id})
            await turn(client, follower, "What is its name? [[hello]]")
            asked = {"session_id": follower.session_id}
            told = await client.request("session.transcript", asked)
            mine = digest(follower.transcript)

    events = await house.log(follower.session_id)
    assert told["digest"] == mine
    first, cut, last = ends(events)
    assert (first, last) == ("end_turn", "end_turn")
    assert "restarted" in cut["message"]
    assert not [event for event in events if event["type"] == "notice"]
    assert "Ottokar" in " ".join(item.text for item in house.model.asked[-1].said)
    assert words(events).count(HELLO) == 2
