"""A disk without room under `wrap acp`: a process of its own, whose files may not grow (S-9)."""

from __future__ import annotations

import resource
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from eventlog import SqliteStore, codec, parse

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

CHUNKS = 120
TALKER = f"""
import json, sys
def say(**frame): print(json.dumps({{"jsonrpc": "2.0", **frame}}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    match call["method"]:
        case "initialize":
            say(id=call["id"], result={{"protocolVersion": 1, "agentCapabilities": {{}}}})
        case "session/new":
            say(id=call["id"], result={{"sessionId": "a-1"}})
        case "session/prompt":
            for number in range({CHUNKS} if "much" in line else 1):
                say(method="session/update", params={{"sessionId": "a-1", "update": {{
                    "sessionUpdate": "agent_message_chunk",
                    "content": {{"type": "text", "text": "x" * 30_000}}}}}})
            say(id=call["id"], result={{"stopReason": "end_turn"}})
"""


class Editor:
    """Speaks ACP on the standard streams of what it has started."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdout
        self.process = process
        self._out = BufferedByteReceiveStream(process.stdout)
        self._ids = 0

    async def ask(self, method: str, **params: Any) -> int:
        """Call; return how many updates came before the answer."""
        assert self.process.stdin
        self._ids += 1
        call = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        await self.process.stdin.send(codec.dumps(call) + b"\n")
        for count in range(10 * CHUNKS):
            frame = codec.loads(await self._out.receive_until(b"\n", 1 << 20))
            if frame.get("id") == self._ids:
                assert "result" in frame
                return count
        raise AssertionError("it talks too much")

    async def prompt(self, text: str) -> int:
        return await self.ask(
            "session/prompt", sessionId="a-1", prompt=[{"type": "text", "text": text}]
        )

    def room(self, size: int) -> None:
        limit = (size, resource.RLIM_INFINITY)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, limit)


@asynccontextmanager
async def editor_on(folder: Path, told: list[bytes]) -> AsyncGenerator[Editor, None]:
    wrap = (sys.executable, "-m", "gateway", "wrap", "acp", "--log", str(folder), "--")
    async with await anyio.open_process((*wrap, sys.executable, "-c", TALKER)) as process:

        async def listen() -> None:
            assert process.stderr
            with suppress(anyio.EndOfStream):
                while True:
                    told.append(await process.stderr.receive())

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                yield Editor(process)
                assert process.stdin
                await process.stdin.aclose()
                assert await process.wait() == 0
                tasks.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                process.kill()


async def test_an_editor_works_on_while_the_disk_is_full(tmp_path: Path) -> None:
    """S-9, R041: every frame passes, recorded or not; what was not is counted, and stands in the
    log as a gap as soon as there is room, with nothing missing beside it. Both are told on stderr.
    """
    told: list[bytes] = []
    async with editor_on(tmp_path, told) as editor:
        await editor.ask("initialize", protocolVersion=1)
        await editor.ask("session/new", cwd=str(tmp_path), mcpServers=[])
        editor.room(1_500_000)
        assert await editor.prompt("much") == CHUNKS
        assert any(b"not recorded for now" in text for text in told)
        editor.room(resource.RLIM_INFINITY)
        prompts = 1
        while not any(b"recording goes on" in text for text in told):
            assert await editor.prompt("a little") == 1
            prompts += 1

    async with SqliteStore.open(tmp_path) as log:
        (row,) = await log.sessions()
        events = [parse(text) for text in (await log.read(row.id, limit=10_000)).lines]
    lost = sum(e["payload"]["lost"] for e in events if e["type"] == "log.gap")
    said = [
        e
        for e in events
        if e["type"] in {"acp.session_update", "prompt.submitted", "prompt.finished"}
    ]
    assert lost > 0
    over = 1  # the first prompt has no answer in the log, so its end is made up for
    assert len(said) + lost == CHUNKS + (prompts - 1) + 2 * prompts + over
