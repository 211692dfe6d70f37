"""An editor and its agent notice nothing: what passes through `wrap acp` passes as it is."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Envelope, Event, SessionId, open_log, read_capture
from eventlog import parse as parse_line
from gateway.transports import Exit
from gateway.wrap.stand_in import Mode
from gateway.wrap.streams import read
from tests.gateway.wrap.bench import editing, frames_of, parrot, recorded

pytestmark = pytest.mark.anyio

ACP = Path(__file__).parents[2] / "captures" / "acp"
CAPTURES = sorted(path.stem for path in ACP.glob("*.jsonl"))

REQUESTS = ("request.opened", "request.answered", "request.cancel", "request.late")


def told(events: list[Envelope]) -> list[tuple[str, Any]]:
    """What events say, but for what a live recording and an import cannot have in common."""
    asked: dict[str, int] = {}
    found = []
    for event in events:
        payload = {
            key: item for key, item in event["payload"].items() if key not in {"source", "import"}
        }
        if event["type"] in REQUESTS and isinstance(payload.get("id"), str):
            payload["id"] = asked.setdefault(payload["id"], len(asked))
        if "parent" in payload:
            payload["parent"] = payload["parent"]["seq"]
        found.append((event["type"], payload))
    return found


@pytest.mark.parametrize("capture", CAPTURES)
async def test_every_capture_passes_byte_for_byte_and_is_recorded(
    capture: str, tmp_path: Path
) -> None:
    """What both sides hear is, byte for byte and in order, what the other said; and the log holds
    what an import of the same frames gives, ids aside (P-35, P-36)."""
    frames = frames_of(ACP / f"{capture}.jsonl")

    async with editing(tmp_path / "log", parrot(tmp_path, frames, 7), Mode.OFF) as editor:
        for way, raw in frames:
            if way == "in":
                await editor.say(raw)
            else:
                assert await editor.line() == raw
        editor.hang_up()
        assert await editor.everything() == b""

    assert editor.end == Exit(7)
    assert editor.told == []
    imported = [
        told([parse_line(line) for line in session.lines])
        for session in read_capture((ACP / f"{capture}.jsonl").read_bytes())
    ]
    live = [told(events) for events in (await recorded(tmp_path / "log")).values() if events]
    assert [_before_the_end(events) for events in live] == [
        _before_the_end(events) for events in imported
    ]


def _before_the_end(events: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Leave out the end of the process, and with it the end of what it left open."""
    ends = [
        n
        for n, (type_, payload) in enumerate(events)
        if type_ == "agent.exited" and "code" in payload
    ]
    events = events[: ends[0]] if ends else events
    while events and events[-1][0] == "acp.replay" and events[-1][1]["state"] == "finished":
        events = events[:-1]
    return events


def _open(name: str = "s1") -> list[tuple[str, bytes]]:
    """Return the frames by which a session is opened."""
    return [
        ("in", b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'),
        (
            "out",
            b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"a"}}}\n',
        ),
        ("in", b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}\n'),
        ("out", b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"%b"}}\n' % name.encode()),
    ]


def _says(text: bytes, name: bytes = b"s1") -> bytes:
    return (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%b","update":{'
        b'"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%b"}}}}\n'
    ) % (name, text)


PROMPT = (
    b'{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1",'
    b'"prompt":[{"type":"text","text":"go"}]}}\n'
)


async def test_noise_blank_lines_and_a_last_line_without_an_end_pass(tmp_path: Path) -> None:
    """What is no frame passes as it is, in both directions (R119)."""
    odd = [b"a banner\n", b"\n", b"  \r\n", b"\xff\xfe\n", b'{"jsonrpc":"2.0","method":"x/y"}\r\n']
    frames = [*(("out", raw) for raw in odd), *(("in", raw) for raw in odd), ("out", b"no end")]

    async with editing(tmp_path / "log", parrot(tmp_path, frames)) as editor:
        assert [await editor.line() for _ in odd] == odd
        for raw in odd:
            await editor.say(raw)
        editor.hang_up()
        assert await editor.everything() == b"no end"

    assert editor.end == Exit(0)
    log = await recorded(tmp_path / "log")
    noise = [
        event["payload"]["text"] for event in log.popitem()[1] if event["type"] == "agent.noise"
    ]
    assert noise == ["a banner", "\\xff\\xfe", "", "", "no end"]  # a client's is not quoted


async def test_frames_of_many_megabytes_pass_in_both_directions(tmp_path: Path) -> None:
    """A frame of 20 MiB is recorded and passed like any other (R148)."""
    big = b"x" * (20 << 20)
    prompt = PROMPT.replace(b"go", big)
    frames = [*_open(), ("in", prompt), ("out", _says(big))]

    async with editing(tmp_path / "log", parrot(tmp_path, frames)) as editor:
        await editor.say(frames[0][1])
        await editor.line()
        await editor.say(frames[2][1])
        await editor.line()
        await editor.say(prompt)
        editor.hang_up()
        assert await editor.everything() == _says(big)

    (events, _) = (await recorded(tmp_path / "log")).values()
    update = next(event for event in events if event["type"] == "acp.session_update")
    assert len(update["payload"]["update"]["content"]["text"]) == len(big)


async def test_an_agent_is_not_heard_faster_than_its_editor_listens(tmp_path: Path) -> None:
    """An editor that does not read stops the agent: what is held between them is bounded, and
    none of it is lost."""
    script = (
        "import os, select, sys\n"
        "sent = 0\n"
        "while select.select([], [1], [], 1)[1]:\n"
        "    sent += os.write(1, b'x' * 511 + b'\\n')\n"
        "os.write(os.open(sys.argv[1], os.O_WRONLY), str(sent).encode())\n"
    )
    stopped = tmp_path / "stopped"
    os.mkfifo(stopped)
    heard = os.open(stopped, os.O_RDWR)

    async with editing(
        tmp_path / "log", [sys.executable, "-S", "-c", script, str(stopped)], Mode.OFF
    ) as editor:
        sent = int(await read(heard))
        assert sent < 4 << 20
        assert len(await editor.everything()) == sent
        editor.hang_up()
    os.close(heard)


async def test_an_agent_that_is_killed_ends_its_turn_in_the_log(tmp_path: Path) -> None:
    """The editor sees the end that it would have seen; the log says that the turn is over, and
    why (P-38)."""
    script = (
        "import os,sys\n"
        "for line in sys.argv[1:]:\n"
        "    sys.stdin.buffer.readline()\n"
        "    os.write(1, line.encode())\n"
        "sys.stdin.buffer.readline()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    frames = _open()
    says = [frames[1][1].decode(), frames[3][1].decode()]

    async with editing(tmp_path / "log", [sys.executable, "-S", "-c", script, *says]) as editor:
        await editor.say(frames[0][1])
        await editor.line()
        await editor.say(frames[2][1])
        await editor.line()
        await editor.say(PROMPT)
        assert await editor.everything() == b""
        editor.hang_up()

    assert editor.end == Exit(signal="SIGKILL")
    (events, _) = (await recorded(tmp_path / "log")).values()
    assert [event["type"] for event in events[-3:]] == [
        "prompt.submitted",
        "agent.exited",
        "prompt.finished",
    ]
    assert events[-2]["payload"] == {"signal": "SIGKILL"}
    assert events[-1]["payload"]["prompt"] == events[-3]["seq"]


async def test_a_signal_reaches_the_agent(tmp_path: Path) -> None:
    """SIGTERM is the agent's to take; how it ends is how this ends."""
    script = "import signal,sys,time\nsignal.signal(15, lambda *_: sys.exit(42))\nprint(flush=True)\ntime.sleep(60)"

    async with editing(tmp_path / "log", [sys.executable, "-S", "-c", script]) as editor:
        await editor.line()
        os.kill(os.getpid(), signal.SIGTERM)
        assert await editor.everything() == b""
        editor.hang_up()

    assert editor.end == Exit(42)


async def test_the_program_ends_like_the_agent_and_leaves_its_stderr_alone(tmp_path: Path) -> None:
    """Exit code, signal and standard error are the agent's; a command that is not there is 127."""

    def wrap(*command: str) -> list[str]:
        return [
            sys.executable,
            "-m",
            "gateway",
            "wrap",
            "acp",
            "--log",
            str(tmp_path),
            "--",
            *command,
        ]

    async def run(*command: str) -> tuple[int, bytes, bytes]:
        done = await anyio.run_process(wrap(*command), input=b"", check=False)
        return done.returncode, done.stdout, done.stderr

    code = "import os,sys; os.write(2, b'\\x00raw\\xff'); print('hi'); sys.exit(3)"
    assert await run(sys.executable, "-S", "-c", code) == (3, b"hi\n", b"\x00raw\xff")
    killed = "import os; os.kill(os.getpid(), 15)"
    assert (await run(sys.executable, "-S", "-c", killed))[0] == -signal.SIGTERM
    gone, out, told = await run("no-such-agent-anywhere")
    assert (gone, out) == (127, b"")
    assert b"no-such-agent-anywhere" in told


async def test_a_secret_of_an_editor_is_not_recorded(tmp_path: Path) -> None:
    """Values of an MCP server's environment pass, and stand in no file of the log (P-33)."""
    secret = b"s3cr3t-value-of-the-tests"
    frames = _open()
    frames[2] = (
        "in",
        frames[2][1].replace(
            b'"cwd":"/w"',
            b'"cwd":"/w","mcpServers":[{"name":"m","env":[{"name":"KEY","value":"%b"}]}]' % secret,
        ),
    )

    async with editing(tmp_path / "log", parrot(tmp_path, frames)) as editor:
        for way, raw in frames:
            if way == "in":
                await editor.say(raw)
            else:
                await editor.line()
        editor.hang_up()

    assert editor.end == Exit(0)
    assert b"KEY" in b"".join(
        path.read_bytes() for path in (tmp_path / "log").rglob("*") if path.is_file()
    )
    assert all(
        secret not in path.read_bytes() for path in (tmp_path / "log").rglob("*") if path.is_file()
    )


async def test_a_turn_that_was_cut_off_with_us_is_ended_by_the_next(tmp_path: Path) -> None:
    """A wrapped agent ends with the program that wrapped it; of a Hermes gateway that is not
    known, so its sessions are left alone (P-40)."""
    source = {"source": {"kind": "wrapped"}}
    prompt = Event.of("prompt.submitted", {"content": []})
    async with open_log(tmp_path) as log:
        for name, protocol in (("s-acp", 1), ("s-hermes", "hermes")):
            opened = Event.of("session.opened", {**source, "protocol": protocol})
            await log.append(SessionId(name), [opened, prompt])
    async with editing(tmp_path, [sys.executable, "-S", "-c", ""]) as editor:
        editor.hang_up()

    events = await recorded(tmp_path)
    ended = [event["type"] for event in events[SessionId("s-acp")]]
    assert ended[2:] == ["agent.exited", "prompt.finished"]
    assert len(events[SessionId("s-hermes")]) == 2
