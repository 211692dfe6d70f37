"""An agent's process as a line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from gateway.errors import CannotStart, FrameTooLong
from gateway.transports import HUNG_UP, Exit, ProcessTransport, run_process

pytestmark = pytest.mark.anyio


def _python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


async def _rest(line: ProcessTransport) -> list[bytes]:
    return [frame async for frame in line]


async def test_every_line_of_an_agent_is_heard() -> None:
    """Frames, banners, BOM and CRLF come as they are; only blank lines do not (R119)."""
    said = b'Welcome!\\n\\n\\x1b[1mbanner\\x1b[0m\\r\\n \\t\\n\\xef\\xbb\\xbf{}\\n{"a":1}\\nlast'
    program = f"import sys; sys.stdout.buffer.write(b'{said.decode()}')"
    with anyio.fail_after(10):
        async with run_process(_python(program)) as line:
            assert await _rest(line) == [
                b"Welcome!",
                b"\x1b[1mbanner\x1b[0m",
                b"\xef\xbb\xbf{}",
                b'{"a":1}',
                b"last",
            ]
            assert await line.exited() == Exit(code=0)


async def test_a_line_over_the_cap_is_marked_and_reading_goes_on() -> None:
    """One mark for the line, then the next frame; lines under the cap are whole (R148)."""
    program = "for size in (65535, 65536, 65537, 5_000_000, 6_000_001, 2): print('x' * size)"
    with anyio.fail_after(20):
        async with run_process(_python(program), limit=6_000_000) as line:
            for size in (65535, 65536, 65537, 5_000_000):
                assert len(await line.receive()) == size
            with pytest.raises(FrameTooLong) as skipped:
                await line.receive()
            assert skipped.value.size == 6_000_001
            assert await line.receive() == b"xx"


async def test_what_an_agent_complains_of_is_kept_apart() -> None:
    """Standard error is passed on line by line, to its last word, and is no frame."""
    program = "import sys; print('{}'); print('one\\ntwo', file=sys.stderr); sys.exit(3)"
    complaints: list[str] = []
    with anyio.fail_after(10):
        async with run_process(_python(program), complain=complaints.append) as line:
            assert await _rest(line) == [b"{}"]
            assert await line.exited() == Exit(code=3)
    assert complaints == ["one", "two"]


async def test_an_agent_killed_by_a_signal_says_so() -> None:
    """How an agent ended can be told: `agent.exited` names code or signal."""
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    with anyio.fail_after(10):
        async with run_process(_python(program)) as line:
            assert await line.exited() == Exit(signal="SIGKILL")


async def test_a_program_that_is_not_there_is_named() -> None:
    """The error names the command and the reason."""
    with pytest.raises(CannotStart, match=r"cannot run no-such-agent --acp: .*No such file"):
        async with run_process(["no-such-agent", "--acp"]):
            pass


async def test_the_folder_and_the_environment_are_the_callers(tmp_path: Path) -> None:
    """An agent starts where it is told to, with what it is given."""
    program = "import os; print(os.getcwd()); print(os.environ['WORD'])"
    with anyio.fail_after(10):
        environment = {**os.environ, "WORD": "given"}
        async with run_process(_python(program), cwd=str(tmp_path), env=environment) as line:
            assert await _rest(line) == [str(tmp_path).encode(), b"given"]


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
while True:
    time.sleep(60)
"""


async def test_nothing_of_a_stubborn_agent_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the end of its input nor SIGTERM moves it: SIGKILL does, and its child goes too."""
    monkeypatch.setattr("gateway.transports.process.GRACE", 0.05)
    with anyio.fail_after(10):
        async with run_process(_python(STUBBORN)) as line:
            child = os.pidfd_open(int(await line.receive()))
        assert await line.exited() == Exit(signal="SIGKILL")
        await anyio.wait_readable(child)
        os.close(child)


async def test_a_child_that_outlives_its_agent_keeps_no_line_open() -> None:
    """The line ends when the agent does, though a child holds the other end of its pipes."""
    program = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c',"
        " 'import time; time.sleep(60)']); print('{}')"
    )
    with anyio.fail_after(10):
        async with run_process(_python(program)) as line:
            assert await _rest(line) == [b"{}"]


async def test_an_agent_that_is_gone_cannot_be_told_anything() -> None:
    """Sending to a dead process is a broken line, not a surprise."""
    with anyio.fail_after(10):
        async with run_process(_python("pass")) as line:
            await line.exited()
            with pytest.raises(HUNG_UP):
                await _tell_for_ever(line)


async def _tell_for_ever(line: ProcessTransport) -> None:
    while True:
        await line.send(b"x" * 100_000)
