"""An agent's process as a line: frames on its standard input and output, one a line.

Above this module: the agent's host, `wrap`. Below it: anyio's subprocesses.

The agent gets a process group of its own. Ctrl-C at the gateway's terminal does not reach it, and
when the line is closed nothing of it stays behind, neither a child nor a zombie.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from shlex import join
from subprocess import PIPE
from typing import Any, Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, ObjectStream, Process

from gateway.background import background
from gateway.errors import CannotStart, FrameTooLong
from gateway.transports.lines import LineBuffer

MAX_LINE: Final = 64 << 20
"""Bytes of a line of an agent (protocol §11)."""

GRACE: Final = 2.0
"""Seconds an agent has to end after its input has, and again after it was told to."""

_STDERR_LINE: Final = 1 << 16

Complain = Callable[[str], None]
"""Hears what an agent writes to standard error, line by line."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: with a code, or by a signal."""

    code: int | None = None
    signal: str | None = None


class ProcessTransport(ObjectStream[bytes]):
    """Frames to and from a running process."""

    def __init__(self, process: Process, *, limit: int = MAX_LINE) -> None:
        assert process.stdin  # noqa: S101 - the streams are pipes by construction
        assert process.stdout  # noqa: S101
        assert process.stderr  # noqa: S101
        self.stderr: ByteReceiveStream = process.stderr
        self._process = process
        self._in: ByteSendStream = process.stdin
        self._out: ByteReceiveStream = process.stdout
        self._lines = LineBuffer(limit)
        self._ready: deque[bytes | FrameTooLong] = deque()
        self._ended = False

    @property
    def pid(self) -> int:
        """The process's id, which is its group's id too."""
        return self._process.pid

    async def exited(self) -> Exit:
        """Return how the process ended, once it has."""
        code = await self._process.wait()
        return Exit(code) if code >= 0 else Exit(signal=signal.Signals(-code).name)

    async def receive(self) -> bytes:
        """Return the next line of its output that is not blank, whether it is a frame or not.

        Raises:
            FrameTooLong: a line was skipped; the next one is readable.

        """
        while not self._ready:
            if self._ended:
                raise anyio.EndOfStream
            await self._read()
        line = self._ready.popleft()
        if isinstance(line, FrameTooLong):
            raise line
        return line

    async def send(self, item: bytes) -> None:
        """Write a frame to its input."""
        try:
            await self._in.send(item + b"\n")
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        """End its input, which tells most agents to end."""
        with suppress(OSError):
            await self._in.aclose()

    async def aclose(self) -> None:
        """End the process: by the end of its input, else by SIGTERM, else by SIGKILL."""
        with anyio.CancelScope(shield=True):
            await self.send_eof()
            if not await self._ends_within(GRACE):
                self._signal(signal.SIGTERM)
                await self._ends_within(GRACE)
            self._signal(signal.SIGKILL)
            await self._process.wait()

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """Return what is known of the line: nothing."""
        return {}

    async def bury(self) -> None:
        """When the process has ended, end what is left of its group, which may hold its pipes."""
        await self._process.wait()
        self._signal(signal.SIGKILL)

    async def _read(self) -> None:
        try:
            piece = await self._out.receive()
        except anyio.EndOfStream:
            self._ended = True
            self._ready.extend(self._lines.finish())
        except OSError as error:
            raise anyio.BrokenResourceError from error
        else:
            self._ready.extend(self._lines.feed(piece))

    async def _ends_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


@asynccontextmanager
async def run_process(
    command: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    complain: Complain = lambda _: None,
    limit: int = MAX_LINE,
) -> AsyncGenerator[ProcessTransport, None]:
    """Run *command*, a list of arguments, for as long as the context is open.

    Raises:
        CannotStart: there is no such program or folder, or it may not be run.

    """
    try:
        process = await anyio.open_process(
            list(command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CannotStart(join(command), str(error)) from error
    heard = anyio.Event()
    async with background() as tasks:
        line = ProcessTransport(process, limit=limit)
        tasks.start_soon(line.bury)
        tasks.start_soon(_listen, line.stderr, complain, heard)
        try:
            yield line
        finally:
            with anyio.CancelScope(shield=True):
                await line.aclose()
                with anyio.move_on_after(GRACE):
                    await heard.wait()
                await process.aclose()


async def _listen(stream: ByteReceiveStream, complain: Complain, heard: anyio.Event) -> None:
    lines = LineBuffer(_STDERR_LINE)
    async for piece in stream:
        _pass_on(lines.feed(piece), complain)
    _pass_on(lines.finish(), complain)
    heard.set()


def _pass_on(lines: Iterator[bytes | FrameTooLong], complain: Complain) -> None:
    for line in lines:
        if isinstance(line, FrameTooLong):
            complain(f"{line.head.decode(errors='replace')}… [{line.size} bytes]")
        else:
            complain(line.decode(errors="replace"))
