"""Fixtures for `hermes-replay`: a log with sessions in it, and files that hold sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import CassetteHeader, Event, Seq, SessionId, open_log, read_capture
from replay.program import run
from replay.request import Request

Record = Callable[[str, Sequence[Event]], None]
WriteCassette = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]


def conversation(title: str) -> list[Event]:
    """Return the events of two short turns."""
    said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Yes."}}
    events = [
        Event.of("session.opened", {"source": {"kind": "hosted"}, "title": title}),
        Event.of("session.alias", {"scope": "acp", "id": f"alias-{title}"}),
    ]
    for number in (1, 2):
        prompt = Seq(len(events) + 1)
        events += [
            Event.of(
                "prompt.submitted", {"content": [{"type": "text", "text": f"{title} {number}?"}]}
            ),
            Event.of("acp.session_update", {"update": said}),
            Event.of("prompt.finished", {"prompt": prompt, "result": {"stopReason": "end_turn"}}),
        ]
    return events


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The folder of a log that holds s-one, s-other and, recorded last, t-two."""

    async def record() -> None:
        async with open_log(tmp_path / "log") as store:
            for name in ("s-one", "s-other", "t-two"):
                await store.append(SessionId(name), conversation(name))

    anyio.run(record)
    return tmp_path / "log"


@pytest.fixture
def cassette(tmp_path: Path, captures: Path) -> WriteCassette:
    """Return a function that writes a capture's sessions as a cassette; *change* spoils its lines."""

    def write(
        capture: str = "acp/claude049-reject", change: Callable[[list[bytes]], None] | None = None
    ) -> Path:
        lines: list[bytes] = []
        for session in read_capture((captures / f"{capture}.jsonl").read_bytes()):
            head = Seq(len(session.events))
            lines += [CassetteHeader(session.id, "0" * 32, Seq(0), head).line(), *session.lines]
        if change:
            change(lines)
        path = tmp_path / "session.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    return write


@pytest.fixture
def ask(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return a function that runs a request: exit code, standard output, standard error."""

    def asked(name: str | Path, **fields: Any) -> tuple[int, str, str]:
        code = run(Request(name=str(name), **fields))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return asked
