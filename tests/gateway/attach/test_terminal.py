"""`hermes-gateway attach` in a real terminal (tmux), seen as a person sees it."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory

import anyio
import pytest

from eventlog import open_reader
from gateway.agent_spec import AgentSpec
from gateway.announcement import gateway_in
from gateway.auth import VARIABLE
from gateway.errors import RpcError
from gateway.transports import connect_websocket
from replay import Fold, TextOptions, render_text
from tests.gateway.old_gateway import ANSWER, PROMPT, STORED, TURN, OldGateway
from tests.gateway.stage import ASKING, CAPTURES, QUIET, TOKEN, RawClient, player

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(120),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

COLUMNS, ROWS = 100, 40
ENVIRONMENT = {**os.environ, VARIABLE: TOKEN.reveal(), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
PATIENCE = 30


@dataclass
class Terminal:
    """A window of tmux in which one program runs."""

    socket: str
    raw: Path
    """Every byte that the program wrote."""
    environment: Mapping[str, str]

    async def tmux(self, *arguments: str) -> str:
        command = ("tmux", "-S", self.socket, *arguments)
        return (await anyio.run_process(command, env=self.environment)).stdout.decode()

    async def type(self, *keys: str) -> None:
        await self.tmux("send-keys", *keys)

    async def screen(self) -> str:
        """Return all that was ever on the screen and has not been drawn over."""
        return await self.tmux("capture-pane", "-p", "-J", "-S", "-")

    async def until(self, met: Callable[[str], bool]) -> str:
        """Return the screen once *met* is true of it."""
        screen = ""
        with anyio.move_on_after(PATIENCE):
            while not met(screen := await self.screen()):  # noqa: ASYNC110 - tmux tells nobody
                await anyio.sleep(0.05)
            return screen
        raise AssertionError(f"it never came to this:\n{screen}")

    async def shows(self, *texts: str) -> str:
        return await self.until(lambda screen: all(text in screen for text in texts))


@asynccontextmanager
async def terminal(
    log: Path, *arguments: str, environment: Mapping[str, str] = ENVIRONMENT
) -> AsyncGenerator[Terminal, None]:
    """Run `attach` in a window of its own, behind a line that stands there already."""
    attach = join((sys.executable, "-m", "gateway", "attach", "--log", str(log), *arguments))
    with TemporaryDirectory(prefix="tmux-") as folder:  # a socket's name may not be long
        window = Terminal(f"{folder}/s", Path(folder) / "raw", environment)
        size = ("-x", str(COLUMNS), "-y", str(ROWS))
        script = f"echo '$ attach'; read go; {attach}; echo left with $?; exec cat"
        await window.tmux("-f", "/dev/null", "new-session", "-d", *size, f"sh -c {join((script,))}")
        await window.tmux("pipe-pane", f"cat > {window.raw}")
        await window.type("Enter")
        try:
            yield window
        finally:
            await window.tmux("kill-server")


@asynccontextmanager
async def gateway(log: Path, agent: AgentSpec) -> AsyncGenerator[anyio.abc.Process, None]:
    """Serve a log as a process of its own, at any free port, until it is killed or left."""
    serve = (sys.executable, "-m", "gateway", "serve", "--agent", f"a={join(agent.argv)}")
    command = (*serve, "--log", str(log), "--listen", "127.0.0.1:0")
    async with await anyio.open_process(command, env=ENVIRONMENT) as process:
        assert process.stderr
        said = b""
        while b"ws://" not in said:
            said += await process.stderr.receive()
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.terminate()
                await process.wait()


def body(text: str) -> Counter[str]:
    """Return how often each line stands there that shows an entry."""
    lines = [line.rstrip() for line in text.split("\n")]
    return Counter(line for line in lines if line.strip(" │") and not line.startswith("──"))


async def page(log: Path) -> Counter[str]:
    """Return the lines that the log's only session should have given."""
    async with open_reader(log) as reader:
        (row,) = await reader.sessions()
        fold = Fold()
        for envelope in (await reader.read(row.id, limit=100_000)).envelopes():
            fold.apply(envelope)
    text = render_text(fold.transcript(), TextOptions(width=COLUMNS - 1))
    head, foot = text.index("\n\n"), text.rfind("\n────────")
    return body(text[head : foot if foot > 0 else None])


async def test_a_visit_with_a_kill_in_it(tmp_path: Path) -> None:
    """R048, R061: a prompt, a permission by key, the gateway killed and started again elsewhere; the
    next prompt resumes the session, and no line of it stands there twice or is missing.
    """
    capture, prompt = ASKING
    async with terminal_and_gateway(tmp_path, player(capture, "--gap-ms", "5")) as (window, first):
        await window.shows("● live", "idle")
        await window.type(prompt, "Enter")
        await window.shows("Allow ", "waiting for you", "press a number")
        await window.type("3")
        before = await window.until(lambda text: "idle" in text and "(•) Reject" in text)
        first.kill()
        await first.wait()
        await window.shows("reconnecting")
        await window.type("Are you there?", "Enter")
        await window.shows("… Are you there? · not taken yet")

        async with gateway(tmp_path, player(capture)):
            after = await window.until(
                lambda text: (
                    "  Are you there?\n" in text and "idle" in text and "not taken" not in text
                )
            )
            await window.type("/quit", "Enter")
            left = await window.shows("left with 0", "goes on")

    assert before.count("── turn 1 ") == after.count("── turn 1 ") == 1
    assert after.count("── turn 2 ") == 1
    expected = await page(tmp_path)
    shown = body(left)
    assert {line: shown[line] for line in expected} == dict(expected)


@asynccontextmanager
async def terminal_and_gateway(
    log: Path, agent: AgentSpec, *arguments: str
) -> AsyncGenerator[tuple[Terminal, anyio.abc.Process], None]:
    async with gateway(log, agent) as process, terminal(log, *arguments) as window:
        yield window, process


async def test_ctrl_c_interrupts_and_twice_leaves(tmp_path: Path) -> None:
    """P-31: the first stops the turn and withdraws what was asked; a second leaves, and the session
    goes on without anybody (P-23).
    """
    capture, prompt = ASKING
    async with terminal_and_gateway(tmp_path, player(capture)) as (window, process):
        await window.shows("● live", "idle")
        await window.type(prompt, "Enter")
        await window.shows("press a number")
        await window.type("C-c")
        screen = await window.shows("withdrawn: interrupted", "Ctrl-C again leaves")
        assert "press a number" not in screen
        await window.type("C-c")
        await window.shows("left with 0", "goes on")
        assert process.returncode is None


async def test_nothing_of_an_agent_reaches_the_terminal(tmp_path: Path) -> None:
    """R132: what an agent says is shown as words: no title is set, nothing is cleared or moved."""
    capture, (prompt,) = QUIET
    evil = r"\u001b]0;owned\u0007\u001b[2J\u001b[1;1Hevil\u009b31m\r\u0008"
    recorded = (CAPTURES / f"{capture}.jsonl").read_text(encoding="utf-8")
    assert '"text":"' in recorded or '"text": "' in recorded
    spoiled = recorded.replace('"text":"', f'"text":"{evil}').replace(
        '"text": "', f'"text": "{evil}'
    )
    file = tmp_path / "evil.jsonl"
    file.write_text(spoiled, encoding="utf-8")
    log = tmp_path / "log"
    async with terminal_and_gateway(log, player(file)) as (window, _):
        await window.shows("● live", "idle")
        await window.type(prompt, "Enter")
        await window.until(lambda text: "● agent" in text and "idle" in text)
        title = await window.tmux("display", "-p", "#{pane_title}")
        await window.type("C-d")
        await window.shows("left with 0")
        raw = window.raw.read_bytes()
    assert "owned" not in title
    assert b"\x1b]0;" not in raw
    assert b"\x1b[2J" not in raw
    assert "\u009b".encode() not in raw


async def test_wrong_token(tmp_path: Path) -> None:
    """P-7: whoever has another token is told so, and leaves."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "token").write_text("another")
    async with gateway(tmp_path / "log", player(QUIET[0])):
        url = gateway_in(tmp_path / "log")
        assert url
        environment = {key: value for key, value in ENVIRONMENT.items() if key != VARIABLE}
        where = ("--url", url)
        async with terminal(tmp_path / "elsewhere", *where, environment=environment) as window:
            await window.shows("does not know this token", "left with 1")


async def test_without_a_gateway(tmp_path: Path) -> None:
    """It says what to do, and leaves the terminal as it was."""
    async with terminal(tmp_path) as window:
        screen = await window.shows("left with 1")
    assert "hermes-gateway serve" in " ".join(screen.split())


async def test_what_befalls_the_session_is_told(tmp_path: Path) -> None:
    """S-9, P-20a: the bar says that nothing is recorded, and takes it back; a session that somebody
    deletes is seen to be gone, on the page and in the bar.
    """
    capture, (prompt,) = QUIET
    async with terminal_and_gateway(tmp_path, player(capture)) as (window, process):
        await window.shows("● live", "idle")
        await window.type(prompt, "Enter")
        await window.until(lambda text: "── turn 1 " in text and "idle" in text)
        url = gateway_in(tmp_path)
        assert url
        async with connect_websocket(url, TOKEN) as line:
            other = RawClient(line)
            await other.next()
            (row,) = (await other.ask("session.list"))["sessions"]
            named = {"session_id": row["id"]}

            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            with pytest.raises(RpcError):
                await other.ask("session.title", {**named, "title": "x"})
            await window.shows("cannot record, takes nothing")
            room = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, room)
            await window.until(lambda screen: "cannot record" not in screen and "idle" in screen)

            await other.ask("session.close", named)
            await other.ask("session.delete", named)
        screen = await window.shows("cannot be followed any more: it was deleted")
        assert "it was deleted" in screen.rstrip("\n").split("\n")[-1]
        await window.type("/quit", "Enter")
        left = await window.shows("left with 0", "is no more: it was deleted")
    assert "comes back" not in left


@pytest.mark.parametrize("replays", [False, True], ids=["whole", "ring"])
async def test_a_gateway_of_before(tmp_path: Path, *, replays: bool) -> None:
    """R056: at a gateway that keeps no log it says so; the line breaks in mid-turn and once more
    after it, and no line of the session stands there twice.
    """
    old = OldGateway(replays=replays, numbers=replays)
    half = len(TURN) // 2
    async with old.served(), terminal(tmp_path, "--url", old.url) as window:
        await window.shows("● live", "this gateway keeps no log")
        await window.type(PROMPT, "Enter")
        await window.shows(f"  {PROMPT}\n")
        await old.tell(TURN[:half])
        await window.shows("3 README.md", "working")
        await old.drop()
        await old.tell(TURN[half:-4])
        await window.shows("❯", *(["read anew"] if not replays else []))
        await window.shows("● live", "working")
        await old.tell(TURN[-4:])
        await window.shows("idle", "Done")
        await old.drop()
        await window.until(lambda text: "reconnecting" not in text and "● live" in text)
        await window.type("/sessions", "Enter")
        await window.shows("you are here")
        await window.type("/quit", "Enter")
        left = await window.shows("left with 0", f"attach {STORED} comes back")
    lines = [line.strip() for line in left.split("\n")]
    assert lines.count(PROMPT) == 1
    assert sum(line.startswith("── turn 1 ") for line in lines) == 1
    for line in ANSWER.replace("*", "").replace("`", "").split("\n"):
        assert not line or sum(line in one.replace("*", "").replace("`", "") for one in lines) == 1
