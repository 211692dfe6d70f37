"""Commands that run for an agent (ACP `terminal/*`), and what they have said.

Above this module: `workspace`. Below it: anyio's subprocesses.

A command has no input and a process group of its own. What it leaves behind ends with it, and it
ends with its session. Of its output the end
is kept, up to a limit, cut where a character begins.
"""

from __future__ import annotations

import os
import signal
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any, Final

import anyio
from anyio.abc import Process, TaskGroup

from gateway.auth import without_token
from gateway.background import background
from gateway.errors import Code, RpcError
from gateway.workspace.params import count, not_found, text, wrong

AT_ONCE: Final = 32
"""Terminals that a session may have and not have released."""

DEFAULT: Final = 1 << 20
"""Bytes of output kept if the agent names no limit."""

MOST: Final = 16 << 20
"""Bytes of output kept at most."""

GRACE: Final = 2.0
"""Seconds a command has to end when it is told to."""

REST: Final = 0.5
"""Seconds that are waited, when a command has ended, for what it has said; children may hold the
pipe for longer."""


class Output:
    """The end of what a command says: at most *limit* bytes of it, in UTF-8."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self.truncated = False
        """Whether there was more."""

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        """Take what the command says next; *last* is whether it ends here."""
        self._kept += self._decoder.decode(piece, last).encode()
        if len(self._kept) > self._limit:
            self.truncated = True
            cut = len(self._kept) - self._limit
            while cut < len(self._kept) and self._kept[cut] & 0xC0 == 0x80:
                cut += 1  # the first byte of a character is none of 10xxxxxx
            del self._kept[:cut]

    @property
    def text(self) -> str:
        """What is kept."""
        return self._kept.decode()


@dataclass(slots=True)
class Terminal:
    """A command that was started, and may have ended."""

    process: Process
    output: Output
    heard: anyio.Event = field(default_factory=anyio.Event)
    """Nothing more will be said: nobody holds the other end of its pipe."""
    ended: anyio.Event = field(default_factory=anyio.Event)
    """It has ended, and all that it has said is known."""

    async def run(self) -> None:
        """Hear it out; if that is cancelled, it is over for the command, too."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen)
                await self.process.wait()
                with anyio.move_on_after(REST):
                    await self.heard.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._signal(signal.SIGKILL)  # what it has left behind, too
            with anyio.CancelScope(shield=True):
                await self.process.aclose()
            self.output.feed(b"", last=True)
            self.ended.set()

    async def _listen(self) -> None:
        assert self.process.stdout  # noqa: S101 - it is a pipe by construction
        with suppress(anyio.BrokenResourceError, OSError):
            async for piece in self.process.stdout:
                self.output.feed(piece)
        self.heard.set()

    @property
    def exit_status(self) -> dict[str, Any] | None:
        """How it ended; None while it runs."""
        code = self.process.returncode if self.ended.is_set() else None
        if code is None:
            return None
        if code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code, "signal": None}

    async def end(self) -> None:
        """End it and what it has started: by SIGTERM, else by SIGKILL."""
        self._signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            await self.process.wait()
        self._signal(signal.SIGKILL)
        await self.ended.wait()

    def kill(self) -> None:
        """End it and what it has started, at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.ended.is_set():
            return  # its id may be another's by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


class Terminals:
    """One session's, in its folder *cwd*. Made by `terminals_in`."""

    def __init__(self, cwd: str, tasks: TaskGroup) -> None:
        self._cwd = cwd
        self._tasks = tasks
        self._known: dict[str, Terminal] = {}
        self._count = 0

    async def create(self, params: dict[str, Any]) -> dict[str, str]:
        """Start a command; return `{terminalId}`."""
        if len(self._known) >= AT_ONCE:
            told = {"limit": AT_ONCE}
            raise RpcError(Code.LIMIT_REACHED, f"{AT_ONCE} terminals are not released yet", told)
        limit = count(params, "outputByteLimit")
        process = await self._started(
            [text(params, "command"), *_arguments(params)],
            text(params, "cwd") if params.get("cwd") is not None else self._cwd,
            _environment(params),
        )
        terminal = Terminal(process, Output(min(DEFAULT if limit is None else limit, MOST)))
        self._count += 1
        id_ = f"term-{self._count}"
        self._known[id_] = terminal
        self._tasks.start_soon(terminal.run)
        return {"terminalId": id_}

    async def output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return `{output, truncated, exitStatus?}` as of now."""
        terminal = self._named(params)
        ended = terminal.exit_status
        told = {"output": terminal.output.text, "truncated": terminal.output.truncated}
        return {**told, **({"exitStatus": ended} if ended else {})}

    async def wait_for_exit(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return `{exitCode, signal}`, once it has ended."""
        terminal = self._named(params)
        await terminal.ended.wait()
        return terminal.exit_status or {}

    async def kill(self, params: dict[str, Any]) -> dict[str, Any]:
        """End a command; what it has said is still to be had."""
        await self._named(params).end()
        return {}

    async def release(self, params: dict[str, Any]) -> dict[str, Any]:
        """End a command and forget it."""
        terminal = self._named(params)
        del self._known[params["terminalId"]]
        await terminal.end()
        return {}

    def kill_all(self) -> None:
        """End whatever runs, at once."""
        for terminal in self._known.values():
            terminal.kill()

    def _named(self, params: dict[str, Any]) -> Terminal:
        id_ = text(params, "terminalId")
        if id_ not in self._known:
            raise not_found(id_)
        return self._known[id_]

    async def _started(self, argv: list[str], cwd: str, env: Mapping[str, str]) -> Process:
        if not os.path.isabs(cwd):  # noqa: PTH117 - it is a name on the wire
            raise wrong("cwd", "must be absolute", value=cwd)
        try:
            return await anyio.open_process(
                argv,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise wrong("command", f"cannot be run: {error}", value=argv[0]) from None


@asynccontextmanager
async def terminals_in(cwd: str) -> AsyncGenerator[Terminals, None]:
    """Keep a session's terminals for as long as the context is open; then end them."""
    async with background() as tasks:
        terminals = Terminals(cwd, tasks)
        try:
            yield terminals
        finally:
            terminals.kill_all()


def _arguments(params: dict[str, Any]) -> list[str]:
    match params.get("args"):
        case None:
            return []
        case [*given] if all(isinstance(one, str) for one in given):
            return [str(one) for one in given]
    raise wrong("args", "must be strings")


def _environment(params: dict[str, Any]) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in params.get("env") or ():
        match item:
            case {"name": str(name), "value": str(value)}:
                given[name] = value
            case _:
                raise wrong("env", "must be names and values")
    return {**without_token(os.environ), **given}
