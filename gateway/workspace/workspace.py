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

from gateway.errors import Code, RpcError
from gateway.workspace.files import Files
from gateway.workspace.terminals import Terminals, terminals_in

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

    async def answer(self, method: str, params: Any) -> Any:
        """Return the result of an agent's call.

        Raises:
            RpcError: -32601, it was not offered; -32602, it cannot be done like this; -32002, there
                is no such file or terminal; -32603, the machine refused.

        """
        offered = self._offered.get(method)
        if offered is None:
            raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {method}")
        if not isinstance(params, dict):
            raise RpcError(Code.INVALID_PARAMS, "params must be an object", {"path": "params"})
        return await offered(params)


@asynccontextmanager
async def workspace_of(cwd: str, offers: Offers) -> AsyncGenerator[Workspace, None]:
    """Open the workspace of a session in the folder *cwd*."""
    files = Files(offers.files, Path(cwd)) if offers.files else None
    async with terminals_in(cwd) as terminals:
        yield Workspace(files, terminals if offers.terminal else None)
