"""The calls of an agent that are no questions: `fs/*` and `terminal/*` of ACP.

Above this module: the agent's host. Below it: `files`, `terminals`. Calls and answers are recorded
on the agent's line, as everything on it is (P-35).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from gateway.errors import Code, RpcError
from gateway.jsonrpc import Request, RequestId
from gateway.workspace.files import Files
from gateway.workspace.terminals import Terminals, terminals_in

REQUEST_CANCELLED: Final = -32800
"""ACP's code for the answer to a call that was taken back."""

_WAITS: Final = frozenset({"terminal/wait_for_exit"})
"""Calls that may be taken back while they wait; whatever else is asked for is done."""

Answer = Callable[[dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Offers:
    """What agents are offered."""

    files: Path | None = None
    """Text files below it may be read, and those below the session's own folder written."""
    terminal: bool = False

    def capabilities(self) -> dict[str, Any]:
        """Return the members of ACP's `clientCapabilities` that say so."""
        files = {"fs": {"readTextFile": True, "writeTextFile": True}} if self.files else {}
        return {**files, **({"terminal": True} if self.terminal else {})}


NOTHING: Final = Offers()


class Workspace:
    """One session's. Made by `workspace_of`, which also ends what runs in it."""

    def __init__(self, files: Files | None, terminals: Terminals | None) -> None:
        offered: dict[str, Answer] = {}
        if files:
            offered |= {"fs/read_text_file": files.read, "fs/write_text_file": files.write}
        if terminals:
            offered |= {
                "terminal/create": terminals.create,
                "terminal/output": terminals.output,
                "terminal/wait_for_exit": terminals.wait_for_exit,
                "terminal/kill": terminals.kill,
                "terminal/release": terminals.release,
            }
        self._offered: Mapping[str, Answer] = offered
        self._waiting: dict[RequestId, anyio.CancelScope] = {}

    async def answer(self, call: Request) -> Any:
        """Return the result of an agent's call.

        Raises:
            RpcError: -32601, it was not offered; -32602, it cannot be done like this; -32002, there
                is no such file or terminal; -32603, the machine refused; -32800, it was taken back.

        """
        offered = self._offered.get(call.method)
        if offered is None:
            raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {call.method}")
        if not isinstance(call.params, dict):
            raise RpcError(Code.INVALID_PARAMS, "params must be an object", {"path": "params"})
        if call.method not in _WAITS:
            return await offered(call.params)
        with anyio.CancelScope() as scope:
            self._waiting[call.id] = scope
            try:
                return await offered(call.params)
            finally:
                del self._waiting[call.id]
        raise RpcError(REQUEST_CANCELLED, "Request cancelled")

    def take_back(self, id_: RequestId) -> bool:
        """End the wait for the answer to a call; return whether there was one."""
        scope = self._waiting.get(id_)
        if scope is not None:
            scope.cancel()
        return scope is not None


@asynccontextmanager
async def workspace_of(cwd: str, offers: Offers) -> AsyncGenerator[Workspace, None]:
    """Open the workspace of a session in the folder *cwd*."""
    files = Files(offers.files, Path(cwd)) if offers.files else None
    async with terminals_in(cwd) as terminals:
        yield Workspace(files, terminals if offers.terminal else None)
