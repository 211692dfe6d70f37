"""Nothing that must not be recorded is anywhere: not in the log's files, not in what is printed."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import anyio
import pytest

from eventlog import Event, SessionId, import_file, open_log
from gateway.jsonrpc import Reply, dump
from gateway.questions import Settled
from tests.gateway.stage import RawClient, Stage, staged

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
METHODS = ("sudo", "secret", "display.install.sudo", "vault.code", "vault.unlock_prompt")
PLANTED = 'pl4nted/"w0rd"+ü€\t'


def forms(word: str) -> Iterator[bytes]:
    """Yield a word in every form in which it might be found again."""
    raw = word.encode()
    yield raw
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for lead in range(3):  # base64 of the word inside a longer text: three alignments
        yield b64encode(b"x" * lead + raw)[lead + 1 : -4]
    for text in (dumps(word), dumps(word, ensure_ascii=False)):
        yield text[1:-1].encode()
        yield dumps(text)[1:-1].encode()
    yield quote(word).encode()
    yield quote(word, safe="").encode()
    yield quote_plus(word).encode()


def found(folder: Path, printed: str, *words: str) -> list[str]:
    """Return where any form of any of *words* is."""
    places = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    places["what was printed"] = printed.encode()
    return [
        f"{form!r} in {place}"
        for word in words
        for form in forms(word)
        for place, content in places.items()
        if form in content
    ]


def has_wal(folder: Path) -> bool:
    """Whether there is a write-ahead log to scan."""
    return bool(list(folder.glob("*-wal")))


def test_the_scan_finds_what_is_there(tmp_path: Path) -> None:
    """P-33: it would see the word in each of its forms."""
    for form in forms(PLANTED):
        (tmp_path / "log.db").write_bytes(b"before" + form + b"after")
        assert found(tmp_path, "", PLANTED)
    (tmp_path / "log.db").write_bytes(b"nothing")
    assert found(tmp_path, "", PLANTED) == []


async def told(stage: Stage, client: RawClient, method: str) -> Settled:
    """Ask for a secret; answer it wrongly, rightly, again, and under an id that nobody asked."""
    settled: list[Settled] = []
    sessions = stage.gateway.sessions

    async def ask() -> None:
        settled.append(await sessions.questions.ask(SESSION, method, {"prompt": "?"}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        request = await client.hear(method)
        await client.say(dump(Reply(request.id, {"value": [PLANTED]})))
        await client.say(dump(Reply(request.id, {"value": PLANTED})))
    await client.say(dump(Reply(request.id, {"value": PLANTED})))
    await client.say(dump(Reply("srq-00000000aaaa", {"value": PLANTED})))
    await client.ask("gateway.ping")
    return settled[0]


async def test_a_secret_is_handed_over_and_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """P-33: planted values are in no file of the log, no WAL, no log line, in no encoding; the
    log says that there was an answer, and of a late one that it came.
    """
    caplog.set_level(logging.DEBUG)
    async with staged(tmp_path) as stage, stage.client() as client:
        opened = Event.of("session.opened", {"source": {"kind": "imported"}})
        await stage.gateway.log.append(SESSION, [opened])
        await client.ask("session.events.subscribe", {"session_id": SESSION})
        for method in METHODS:
            assert (await told(stage, client, method)).result == {"value": PLANTED}
        events = await stage.log(SESSION)
        assert has_wal(tmp_path)
        while_open = found(tmp_path, "", PLANTED)
    printed = caplog.text + "".join(capfd.readouterr())

    assert while_open == []
    assert found(tmp_path, printed, PLANTED, "a-token-of-the-tests") == []
    answered = [e["payload"] for e in events if e["type"] == "request.answered"]
    late = [e["payload"] for e in events if e["type"] == "request.late"]
    assert [item["redacted"] for item in answered] == [True] * len(METHODS)
    assert len(late) == len(METHODS)
    assert all("value" not in item for item in late)


async def test_an_imported_secret_is_not_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """P-33: a recording in which a secret was answered is imported without it."""
    caplog.set_level(logging.DEBUG)
    ask = {"session_id": "1234abcd", "env_var": "KEY", "prompt": "?"}
    frames: list[tuple[str, dict[str, Any]]] = [
        ("out", {"method": "event", "params": {"type": "gateway.ready", "payload": {}}}),
        ("in", {"id": 1, "method": "session.create", "params": {}}),
        ("out", {"id": 1, "result": {"session_id": "1234abcd", "stored_session_id": "s"}}),
        ("out", {"id": "srq-0123456789ab", "method": "secret", "params": ask}),
        ("in", {"id": "srq-0123456789ab", "result": {"value": PLANTED}}),
        ("in", {"id": "srq-0123456789ab", "result": {"value": PLANTED}}),
        ("in", {"id": 2, "method": "vault.unlock", "params": {"password": PLANTED}}),
    ]
    lines = [
        dumps({"t": n, "dir": way, "frame": {"jsonrpc": "2.0", **frame}})
        for n, (way, frame) in enumerate(frames)
    ]
    capture = tmp_path / "capture.jsonl"
    capture.write_text("\n".join(lines), encoding="utf-8")
    async with open_log(tmp_path / "log") as log:
        report = await import_file(log, "capture.jsonl", capture.read_bytes())
    assert report.frames == len(frames)
    assert found(tmp_path / "log", caplog.text, PLANTED) == []
