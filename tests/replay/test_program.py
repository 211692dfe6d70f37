"""`hermes-replay` in one process: what is written, where, and with which exit code (cli.md)."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from eventlog import parse
from replay import digest, fold, load
from replay.exits import DAMAGED, DONE, NOT_FOUND, UNAVAILABLE, USAGE
from replay.program import run
from replay.request import Request

Capture = pytest.CaptureFixture[bytes]
WriteCassette = Callable[..., Path]


def _run(capsysbinary: Capture, **fields: Any) -> tuple[int, str, str]:
    code = run(Request(**fields))
    out, err = capsysbinary.readouterr()
    return code, out.decode(), err.decode()


def test_text_is_the_default(log: Path, capsysbinary: Capture) -> None:
    """Cli: data on standard output, nothing else on it, nothing on standard error."""
    code, out, err = _run(capsysbinary, name="s-one", log=str(log), profile="snapshot")

    assert (code, err) == (DONE, "")
    rule = "─" * 68
    assert out == (
        f"── turn 1 ──{rule}\n\n› you\n  s-one 1?\n\n● agent\n  Yes.\n\n"
        f"── turn 2 ──{rule}\n\n› you\n  s-one 2?\n\n● agent\n  Yes.\n"
    )


@pytest.mark.parametrize("until", ["5", "turn:1"])
def test_until_stops_behind_an_event_or_a_turn(
    log: Path, capsysbinary: Capture, until: str
) -> None:
    """R169: the state at N is the fold of the first N events; a turn's end is one such N."""
    code, out, _ = _run(capsysbinary, name="s-one", log=str(log), until=until, format="json")
    transcript = load(json.loads(out))

    assert code == DONE
    assert (transcript.seq, len(transcript.turns)) == (5, 1)


@pytest.mark.parametrize("until", ["x", "-1", "turn:", "turn:0", "turn:3", "1.5", "٣", ""])
def test_a_point_that_is_not_there_is_a_usage_error(
    log: Path, capsysbinary: Capture, until: str
) -> None:
    """Cli: exit 2, and what could be given instead."""
    code, out, err = _run(capsysbinary, name="s-one", log=str(log), until=until)

    assert (code, out) == (USAGE, "")
    assert "turn:N" in err


def test_json_is_a_transcript_from_which_a_fold_goes_on(log: Path, capsysbinary: Capture) -> None:
    """F-L2: folding the rest onto `-f json --until 4` gives what the whole log gives."""
    _, start, _ = _run(capsysbinary, name="s-one", log=str(log), until="4", format="json")
    _, lines, _ = _run(capsysbinary, name="s-one", log=str(log), format="jsonl")
    _, whole, _ = _run(capsysbinary, name="s-one", log=str(log), digest=True)
    rest = [parse(line) for line in lines.encode().splitlines()[4:]]

    assert digest(fold(load(json.loads(start)), rest)) + "\n" == whole


def test_jsonl_is_read_again_as_the_same_session(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """R092: the log's own lines, rendered from a file, give the text that the log gives."""
    copy = tmp_path / "copy.jsonl"
    run(Request(name="s-one", log=str(log), output=copy))
    capsysbinary.readouterr()
    from_log = _run(capsysbinary, name="s-one", log=str(log), profile="snapshot")
    from_file = _run(capsysbinary, name=str(copy), profile="snapshot")

    assert from_log == from_file


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".txt", b"s-one \xc2\xb7"), (".json", b'{"fold'), (".jsonl", b'{"seq":1,')],
)
def test_the_suffix_of_the_output_tells_the_format(
    log: Path, tmp_path: Path, capsysbinary: Capture, suffix: str, start: bytes
) -> None:
    """Cli: the format is inferred from `-o`; the file is its owner's alone."""
    target = tmp_path / f"out{suffix}"
    code, out, err = _run(capsysbinary, name="s-one", log=str(log), output=target)

    assert (code, out, err) == (DONE, "", "")
    assert target.read_bytes().startswith(start)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [target.name]


def test_an_output_that_cannot_be_written_is_said(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """Cli: exit 5; a suffix that says nothing, exit 2."""
    nowhere = _run(capsysbinary, name="s-one", log=str(log), output=tmp_path / "no" / "x.txt")
    unknown = _run(capsysbinary, name="s-one", log=str(log), output=tmp_path / "x.docx")

    assert nowhere[:2] == (UNAVAILABLE, "")
    assert "No such file" in nowhere[2]
    assert unknown[:2] == (USAGE, "")


def test_several_sessions_stand_under_their_own_heads(
    captures: Path, capsysbinary: Capture
) -> None:
    """Cli: a file that holds several sessions gives all of them, in order of their first event."""
    file = str(captures / "hermes/15_two_sessions.jsonl")
    code, out, _ = _run(capsysbinary, name=file, profile="snapshot")
    many = _run(capsysbinary, name=file, format="jsonl")
    picked = _run(capsysbinary, name="s-one", pick="s-one")
    digests = _run(capsysbinary, name=file, digest=True)

    assert code == DONE
    assert [line for line in out.split("\n") if line.startswith("~ session")] == [
        "~ session 1 of 2",
        "~ session 2 of 2",
    ]
    assert many[0] == USAGE
    assert "--session" in many[2]
    assert picked[0] == USAGE
    assert len(digests[1].split()) == 2


def test_a_damaged_file_is_shown_named_and_exit_4(
    cassette: WriteCassette, capsysbinary: Capture
) -> None:
    """R031 with cli.md's code: what is there is rendered, what is not is named by line and bytes."""

    def spoil(lines: list[bytes]) -> None:
        lines[7] = b"{torn"

    code, out, err = _run(capsysbinary, name=str(cassette(change=spoil)), profile="snapshot")

    assert code == DAMAGED
    assert "≠ gap · 1 event lost · line 8: " in out
    assert "● agent\n  Okay, after the command.\n" in out
    assert "session.jsonl, line 8: " in err
    assert "(5 bytes)" in err


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", NOT_FOUND), (b"hello\nworld\n", DAMAGED), (b"\x00" * 4096, DAMAGED)],
)
def test_files_without_a_session_have_their_codes(
    tmp_path: Path, capsysbinary: Capture, content: bytes, code: int
) -> None:
    """Bad input: empty is not found, foreign is damaged; nothing on standard output."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    found, out, err = _run(capsysbinary, name=str(path))

    assert (found, out) == (code, "")
    assert err.startswith("hermes-replay: x.jsonl is ")
    assert "\n  try: " in err


@pytest.mark.parametrize(
    ("name", "code"),
    [("../x", USAGE), ("%2e", USAGE), ("", USAGE), ("s-", USAGE), ("zz", NOT_FOUND)],
)
def test_names_that_lead_nowhere_have_their_codes(
    log: Path, capsysbinary: Capture, name: str, code: int
) -> None:
    """R141, cli: exit 2 for what is no id or means several, 3 for what is not there."""
    found, out, err = _run(capsysbinary, name=name, log=str(log))

    assert (found, out) == (code, "")
    assert "\n  try: " in err


def test_logs_that_cannot_be_opened_have_their_codes(tmp_path: Path, capsysbinary: Capture) -> None:
    """R029, cli: no log is 5, a file that is none is 4; both end with what to try."""
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"no database" * 100)
    absent = _run(capsysbinary, name="s-one", log=str(tmp_path / "absent"))
    other = _run(capsysbinary, name="s-one", log=str(foreign))

    assert absent[:2] == (UNAVAILABLE, "")
    assert other[:2] == (DAMAGED, "")
    assert "--log" in absent[2]
    assert "--log" in other[2]
    assert not (tmp_path / "absent").exists()


def test_an_incomplete_session_is_rendered(log: Path, capsysbinary: Capture) -> None:
    """R130: a log that ends anywhere renders what is there, says that it is open, exit 0."""
    for until in range(9):
        code, out, err = _run(capsysbinary, name="s-one", log=str(log), until=str(until))

        assert (code, err) == (DONE, "")
        assert ("· open ──" in out) is (until in {3, 4, 6, 7})


def test_an_output_of_its_own_kind_is_written_through(
    log: Path, tmp_path: Path, capsysbinary: Capture
) -> None:
    """An output that is a device is written to, not replaced by a file."""
    code, _, _ = _run(
        capsysbinary, name="s-one", log=str(log), output=Path("/dev/null"), format="text"
    )

    assert code == DONE
    assert not Path("/dev/null").is_file()


def test_a_damaged_log_is_shown_named_and_exit_4(log: Path, capsysbinary: Capture) -> None:
    """Cli: a batch of the log that was altered is a gap, and exit 4; other sessions are whole."""
    with closing(sqlite3.connect(log / "events.db")) as database:
        database.execute(
            "update batch set body = x'00'"
            " where session = (select id from session where key = 's-one')"
        )
        database.commit()
    code, out, err = _run(capsysbinary, name="s-one", log=str(log), profile="snapshot")

    assert code == DAMAGED
    assert "≠ gap · 8 events lost · damaged" in out
    assert "the log is damaged: 8 events cannot be read" in err
    assert _run(capsysbinary, name="t-two", log=str(log))[0] == DONE


def test_numbers_of_any_size_come_out_exactly(tmp_path: Path, capsysbinary: Capture) -> None:
    """R150: integers beyond 64 bits and -0.0 survive every format; NaN is a damaged line."""
    line = b'{"seq":1,"ts":1,"type":"odd.numbers","payload":{"big":%d,"zero":-0.0}}' % 2**70
    path = tmp_path / "odd.jsonl"
    path.write_bytes(line + b'\n{"seq":2,"ts":1,"type":"odd","payload":{"x":NaN}}\n')
    text = _run(capsysbinary, name=str(path), width=0)
    json_ = _run(capsysbinary, name=str(path), format="json")
    lines = _run(capsysbinary, name=str(path), format="jsonl")

    assert '{"big": 1180591620717411303424, "zero": -0.0}' in text[1]
    assert "line 2: NaN is not JSON (49 bytes)" in text[2]
    assert '"big":1180591620717411303424' in json_[1]
    assert lines[1].encode().startswith(line + b"\n")
    assert [text[0], json_[0], lines[0]] == [DAMAGED] * 3


def test_what_has_no_session_is_shown_if_asked_for(captures: Path, capsysbinary: Capture) -> None:
    """Cli: a file's events without a session are left out if there is nothing to see, unless picked."""
    file = str(captures / "acp/codex26-tools.jsonl")
    all_ = _run(capsysbinary, name=file, digest=True)
    picked = _run(capsysbinary, name=file, pick="imp-c39cb0aaf61c-0", profile="snapshot")

    assert len(all_[1].split()) == 1
    assert picked[:2] == (DONE, "~ nothing recorded\n")


def test_a_capture_without_a_frame_is_damaged(tmp_path: Path, capsysbinary: Capture) -> None:
    """Bad input: exit 4, and what could be given instead."""
    path = tmp_path / "meta.jsonl"
    path.write_bytes(b'{"t":0.0,"dir":"meta","note":"nothing"}\n')
    code, out, err = _run(capsysbinary, name=str(path))

    assert (code, out) == (DAMAGED, "")
    assert "no line of it is a frame" in err
    assert "reads cassettes, captures" in err
