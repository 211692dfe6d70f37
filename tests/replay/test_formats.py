"""Formats on the command line: which one, redacted or not, into which file (cli.md)."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from eventlog import Event, SessionId, codec, open_log, parse
from replay import TextOptions, digest, fold, format_named
from replay.exits import DONE, UNAVAILABLE, USAGE
from replay.program import run
from replay.request import Request
from replay.transcript import Transcript
from tests.replay.records import Log, text_content

Capture = pytest.CaptureFixture[bytes]
WriteCassette = Callable[..., Path]

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ2sT4vX6zA8cF0hJ5kLm"


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A log with a session in which a token stands in title, prompt, tool and answer, cut in two."""
    said = [
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        for text in (f"It is {TOKEN[:20]}", f"{TOKEN[20:]}.")
    ]
    tool = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": f"echo {TOKEN}",
        "kind": "execute",
        "status": "failed",
        "rawInput": {"command": f"echo {TOKEN}"},
        "content": [{"type": "content", "content": {"type": "text", "text": TOKEN}}],
    }
    events = [
        Event.of("session.opened", {"source": {"kind": "hosted"}, "title": f"Use {TOKEN}"}),
        Event.of("prompt.submitted", {"content": [{"type": "text", "text": f"Use {TOKEN}"}]}),
        *(Event.of("acp.session_update", {"update": update}) for update in (tool, *said)),
        Event.of("prompt.finished", {"prompt": 2, "result": {"stopReason": "end_turn"}}),
    ]

    async def record() -> None:
        async with open_log(tmp_path / "log") as store:
            await store.append(SessionId("s-secret"), events)

    anyio.run(record)
    return tmp_path / "log"


def _run(capsysbinary: Capture, log: Path, **fields: object) -> tuple[int, str, str]:
    code = run(Request(name="latest", log=str(log), **fields))  # type: ignore[arg-type]
    out, err = capsysbinary.readouterr()
    return code, out.decode(), err.decode()


@pytest.mark.parametrize(
    ("format_", "hidden"),
    [("markdown", True), ("html", True), ("cast", True), ("text", False), ("json", False)],
)
def test_what_is_made_to_be_shared_is_redacted(
    secrets: Path, capsysbinary: Capture, format_: str, *, hidden: bool
) -> None:
    """R139, R143: on by default for Markdown, HTML and asciicast, off for text and JSON; told."""
    code, out, err = _run(capsysbinary, secrets, format=format_, width=0)

    assert code == DONE
    assert (TOKEN not in out.replace("\\u", "")) is hidden
    assert ("[REDACTED:github-token-" in out) is hidden
    assert ("secrets hidden: " in err) is hidden
    assert TOKEN not in err


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json", "cast"])
def test_redaction_can_be_asked_for_and_declined(
    secrets: Path, capsysbinary: Capture, format_: str
) -> None:
    """R139: the same marks in every format; `--no-redact` shows everything and says nothing."""
    _, hidden, told = _run(capsysbinary, secrets, format=format_, redact=True, width=0)
    code, shown, silent = _run(capsysbinary, secrets, format=format_, redact=False, width=0)

    assert TOKEN not in hidden
    assert "hidden: " in told
    assert (code, silent) == (DONE, "")
    assert TOKEN in shown


def test_redacting_changes_no_status(secrets: Path, capsysbinary: Capture) -> None:
    """R138: what failed has failed, in the redacted JSON as in the other."""
    _, hidden, _ = _run(capsysbinary, secrets, format="json", redact=True)
    _, shown, _ = _run(capsysbinary, secrets, format="json", redact=False)
    before, after = (
        [(entry["id"], entry["kind"], entry.get("status")) for entry in json.loads(text)["entries"]]
        for text in (shown, hidden)
    )

    assert before == after
    assert ("e3", "tool", "failed") in after


@pytest.mark.parametrize("fields", [{"format": "jsonl"}, {"digest": True}])
def test_what_is_the_log_cannot_be_redacted(
    secrets: Path, capsysbinary: Capture, fields: dict[str, object]
) -> None:
    """R143: redacted lines are refused; unredacted they are those of the log, byte for byte."""
    code, out, err = _run(capsysbinary, secrets, redact=True, **fields)
    again, plain, _ = _run(capsysbinary, secrets, **fields)

    assert (code, out) == (USAGE, "")
    assert "cannot be redacted" in err
    assert again == DONE
    assert TOKEN in plain or "digest" in fields


def test_rendering_leaves_the_log_alone(secrets: Path, capsysbinary: Capture) -> None:
    """R143: lines and digest are the same after any redacted rendering."""
    _, before, _ = _run(capsysbinary, secrets, format="jsonl")
    for format_ in ("markdown", "html", "cast", "text"):
        _run(capsysbinary, secrets, format=format_, redact=True)
    _, after, _ = _run(capsysbinary, secrets, format="jsonl")
    _, told, _ = _run(capsysbinary, secrets, digest=True)

    whole = fold(Transcript(session="s-secret"), map(parse, after.encode().splitlines()))
    assert before == after
    assert told == f"{digest(whole)}\n"


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".md", "# s-one"),
        (".HTML", "<!doctype html>"),
        (".htm", "<!doctype html>"),
        (".cast", '{"version": 3'),
        (".json", '{"fold_version"'),
        (".jsonl", '{"seq":1,'),
        (".txt", "s-one ·"),
        ("", "s-one ·"),
    ],
)
def test_the_suffix_tells_the_format(
    log: Path, tmp_path: Path, capsysbinary: Capture, suffix: str, start: str
) -> None:
    """Cli: `-o` alone is enough; the file is its owner's alone, and nothing else is left behind."""
    target = tmp_path / "out" / f"session{suffix}"
    target.parent.mkdir()
    code = run(Request(name="s-one", log=str(log), output=target))
    text = target.read_text(encoding="utf-8")

    assert (code, *capsysbinary.readouterr()) == (DONE, b"", b"")
    assert text.startswith(start)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(target.parent.iterdir()) == [target]


def test_a_file_is_not_overwritten_unless_forced(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """Render, features: no overwrite without --force; with it the file is whole, and private."""
    target = tmp_path / "mine.txt"
    target.write_text("precious", encoding="utf-8")
    refused = _run(capsysbinary, log, output=target)
    kept = target.read_text(encoding="utf-8")
    forced = _run(capsysbinary, log, output=target, force=True)

    assert refused[0] == USAGE
    assert "--force" in refused[2]
    assert kept == "precious"
    assert forced == (DONE, "", "")
    assert target.read_text(encoding="utf-8").startswith("t-two")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_is_not_followed_out_of_its_place(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """Files written: `--force` replaces a link; what it led to stays as it was."""
    other = tmp_path / "other.txt"
    other.write_text("precious", encoding="utf-8")
    link = tmp_path / "link.txt"
    link.symlink_to(other)
    code, _, _ = _run(capsysbinary, log, output=link, force=True)

    assert code == DONE
    assert other.read_text(encoding="utf-8") == "precious"
    assert not link.is_symlink()


def test_a_folder_that_is_not_there_is_said(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """Cli: exit 5, and nothing is made."""
    code, _, err = _run(capsysbinary, log, output=tmp_path / "no" / "x.html")

    assert code == UNAVAILABLE
    assert "No such file" in err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("format_", ["markdown", "html", "cast"])
def test_a_file_of_several_sessions_is_one_document(
    captures: Path, capsysbinary: Capture, format_: str
) -> None:
    """Cli: a file that holds several sessions gives all of them, in every format."""
    code = run(Request(name=str(captures / "hermes/15_two_sessions.jsonl"), format=format_))
    out = capsysbinary.readouterr().out.decode()

    assert code == DONE
    assert out.count('"m", "turn 1"' if format_ == "cast" else "Turn 1") >= 2


@pytest.fixture
def printing(tmp_path: Path) -> Path:
    """A session file whose one tool prints a hundred lines."""
    log = Log()
    prompt = log.prompt("go")
    output = "\n".join(f"line {number}" for number in range(100))
    log.call("t", kind="execute", title="make", status="completed", content=text_content(output))
    log.ends(prompt)
    path = tmp_path / "printing.jsonl"
    path.write_bytes(b"".join(codec.dumps(one) + b"\n" for one in log.records))
    return path


@pytest.mark.parametrize("format_", ["markdown", "html"])
def test_a_page_shows_all_lines_unless_told_how_many(
    format_: str, printing: Path, capsysbinary: Capture
) -> None:
    """cli.md `--lines`: what folds away is whole; asked for few lines, a page has few."""
    shown = []
    for asked in ({}, {"lines": "8+4"}, {"lines": "2"}, {"lines": "2", "full": True}):
        assert run(Request(name=str(printing), format=format_, **asked)) == DONE
        shown.append(capsysbinary.readouterr().out.decode())
    counts = [len(set(re.findall(r"line [0-9]+\b", text))) for text in shown]

    assert counts == [100, 12, 2, 100]
    assert "… 88 lines …" in shown[1]
    assert "… 98 lines …" in shown[2]


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json", "cast"])
def test_every_format_flows(format_: str) -> None:
    """Issue 4: of a long session no format is in memory as a whole: it comes in many pieces."""
    log = Log()
    for number in range(200):
        log.ends(log.prompt(f"question {number}"))
    content, _ = format_named(format_).stream([log.folded()], TextOptions(), hide=True)
    pieces = list(content)

    assert len(pieces) >= 200
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 2


def test_a_cast_runs_as_fast_and_stands_as_long_as_asked(
    printing: Path, capsysbinary: Capture
) -> None:
    """R170, `--speed` and `--idle`: time is divided, and no pause is longer."""
    spans = {}
    for speed, idle in ((1.0, 100.0), (2.0, 100.0), (1.0, 0.5)):
        run(Request(name=str(printing), format="cast", speed=speed, idle=idle))
        head, *events = map(json.loads, capsysbinary.readouterr().out.splitlines())
        assert head["idle_time_limit"] == idle
        spans[speed, idle] = [interval for interval, _, _ in events]

    assert max(spans[1.0, 100.0]) == 1.0
    assert sum(spans[2.0, 100.0]) == pytest.approx(sum(spans[1.0, 100.0]) / 2)
    assert max(spans[1.0, 0.5]) == 0.5
