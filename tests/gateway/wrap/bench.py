"""What the tests of `wrap acp` share: an editor with two pipes, and scripts for the parrot."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from eventlog import Envelope, EventSource, SessionId, codec, open_reader, parse
from gateway.transports import Exit
from gateway.wrap.acp import Wrapping, wrap_acp
from gateway.wrap.relay import Ends
from gateway.wrap.stand_in import Mode
from gateway.wrap.streams import close, read, write

PARROT = str(Path(__file__).with_name("parrot.py"))


def frames_of(capture: Path) -> list[tuple[str, bytes]]:
    """Return a capture's frames as lines: which way, and the bytes with their end."""
    found = []
    for line in capture.read_bytes().splitlines():
        value = codec.loads(line)
        if value["dir"] != "meta":
            frame = value["frame"]
            raw = frame.get("_raw") if isinstance(frame, dict) else None
            found.append((value["dir"], (raw.encode() if raw else codec.dumps(frame)) + b"\n"))
    return found


def parrot(folder: Path, frames: Sequence[tuple[str, bytes]], code: int = 0) -> list[str]:
    """Return the command of an agent that plays *frames*."""
    script = folder / "script"
    script.write_bytes(b"".join((b">" if way == "in" else b"<") + raw for way, raw in frames))
    return [sys.executable, "-S", PARROT, str(script), str(code)]


@dataclass
class Editor:
    """The other end of both pipes."""

    speak: int
    hear: int
    told: list[str] = field(default_factory=list)
    """What the person at the terminal was told."""
    end: Exit | None = None
    _rest: bytes = b""

    async def say(self, raw: bytes) -> None:
        """Send bytes."""
        await write(self.speak, raw)

    async def ask(self, id_: int | str, method: str, params: Any = None) -> Any:
        """Call, and return the answer; what comes before it is dropped."""
        call = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}
        await self.say(codec.dumps(call) + b"\n")
        while True:
            frame = codec.loads(await self.line())
            if frame.get("id") == id_ and "method" not in frame:
                return frame

    async def line(self) -> bytes:
        """Return the next line, with its end; empty when there are no more."""
        while b"\n" not in self._rest:
            piece = await read(self.hear)
            if not piece:
                rest, self._rest = self._rest, b""
                return rest
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line + b"\n"

    async def everything(self) -> bytes:
        """Return all that comes until the end."""
        pieces = [self._rest]
        while piece := await read(self.hear):
            pieces.append(piece)
        self._rest = b""
        return b"".join(pieces)

    def hang_up(self) -> None:
        """Say nothing more."""
        close(self.speak)


@asynccontextmanager
async def editing(
    log: Path, command: Sequence[str], mode: Mode = Mode.FILL, name: str | None = None
) -> AsyncGenerator[Editor, None]:
    """Wrap *command*; on leaving, wait for its end."""
    (hear_editor, speak), (hear, speak_editor) = os.pipe(), os.pipe()
    editor = Editor(speak, hear)

    async def run() -> None:
        wrapping = Wrapping(command, log, mode, name)
        editor.end = await wrap_acp(wrapping, Ends(hear_editor, speak_editor), editor.told.append)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            yield editor
        except BaseException:
            tasks.cancel_scope.cancel()
            raise
    os.close(hear)


async def recorded(log: Path) -> dict[SessionId, list[Envelope]]:
    """Return every event of a log, by session, the oldest session first; `@gateway` last."""
    async with open_reader(log) as reader:
        rows = sorted(await reader.sessions(), key=lambda row: row.created)
        ids = [*(row.id for row in rows), SessionId("@gateway")]
        return {id_: [parse(line) for line in await lines_of(reader, id_)] for id_ in ids}


async def lines_of(source: EventSource, session_id: SessionId) -> list[bytes]:
    """Return every line of a session."""
    lines: list[bytes] = []
    while page := (await source.read(session_id, after=len(lines))).lines:
        lines += page
    return lines
