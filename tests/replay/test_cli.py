"""`hermes-replay` as a program of its own: help, pipes, signals, surroundings."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "replay.cli"]
ROOT = Path(__file__).parents[2]


def _environment(**changes: str) -> dict[str, str]:
    kept = {
        name: os.environ[name] for name in ("PATH", "COVERAGE_PROCESS_START") if name in os.environ
    }
    return kept | {"PYTHONPATH": str(ROOT)} | changes


def _run(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    given: bytes | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=environment or _environment(),
        capture_output=True,
        timeout=20,
        check=False,
        cwd=cwd,
        input=given,
    )


MATRIX = [
    {},
    {"COLUMNS": "20", "FORCE_COLOR": "1", "TERM": "xterm-256color", "PYTHONHASHSEED": "1"},
    {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", "TZ": "Asia/Tokyo", "LANG": "ja_JP.UTF-8"},
    {"FORCE_COLOR": "", "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "2"},
    {"TERM_PROGRAM": "iTerm.app", "LANG": "en_US.UTF-8", "PYTHONUTF8": "0", "HOME": "/"},
    {"PYTHONIOENCODING": "ascii", "COLUMNS": "0", "LINES": "1", "PYTHONHASHSEED": "0"},
]


def test_the_bytes_do_not_depend_on_the_surroundings(captures: Path, tmp_path: Path) -> None:
    """R127: width, colour, terminal, time zone, language, hash seed, folder: the same bytes."""
    file = str(captures / "hermes/02_unicode_reasoning.jsonl")
    runs = [
        _run(file, environment=_environment(**changes), cwd=place)
        for changes, place in zip(MATRIX, [ROOT, tmp_path] * 3, strict=True)
    ]

    assert {run.returncode for run in runs} == {0}
    assert {run.stderr for run in runs} == {b""}
    assert len({hashlib.sha256(run.stdout).hexdigest() for run in runs}) == 1
    assert "こんにちは 🌸".encode() in runs[0].stdout
    assert b"\x1b" not in runs[0].stdout


def test_help_is_plain_and_ends_with_examples() -> None:
    """Cli: every help ends with examples; it is as wide as everything else, on every terminal."""
    plain = _run("--help")
    wide = _run("--help", environment=_environment(COLUMNS="200", FORCE_COLOR="1"))

    assert plain.returncode == 0
    assert plain.stdout == wide.stdout
    assert b"\x1b" not in plain.stdout
    assert b"Examples:\n    hermes-replay " in plain.stdout
    assert b"Exit codes: 0 done, 1 a difference" in plain.stdout


def test_a_wrong_option_is_a_usage_error() -> None:
    """Cli: exit 2, in words, on standard error only."""
    for arguments in (["--no-such"], ["-f", "docx"], ["--width", "-1"], ["a", "b"]):
        run = _run(*arguments)

        assert (run.returncode, run.stdout) == (2, b"")
        assert b"Error" in run.stderr
        assert b"Traceback" not in run.stderr


def test_a_reader_who_has_enough_ends_it_quietly(captures: Path) -> None:
    """R128: `| head -1` shows the first line, nothing on standard error, and ends at once."""
    file = captures / "hermes/13_ring_overflow.jsonl"
    began = time.monotonic()
    run = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m replay.cli '{file}' --width 0 -f json | head -c 20"],
        env=_environment(PYTHONUNBUFFERED="1"),
        capture_output=True,
        timeout=20,
        check=False,
    )

    assert run.stdout.startswith(b'{"fold_version":')
    assert run.stderr == b""
    assert time.monotonic() - began < 5


def test_a_closed_pipe_is_no_failure(captures: Path) -> None:
    """R128: a reader that has gone before the first byte leaves exit code 0 and no words."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [*PROGRAM, str(captures / "hermes/13_ring_overflow.jsonl")],
        env=_environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=20)

    assert (process.returncode, errors) == (0, b"")


def test_standard_input_is_a_session_too(captures: Path) -> None:
    """Cli: `-` reads what is piped in, and says the same of it as of the file."""
    file = captures / "acp/claude049-reject.jsonl"
    piped = _run("-", "--profile", "snapshot", given=file.read_bytes())

    assert piped.returncode == 0
    assert piped.stdout == _run(str(file), "--profile", "snapshot").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_ends_it_with_130() -> None:
    """R029, cli: an interrupt while waiting for input ends the process, without a traceback."""
    with subprocess.Popen(
        [*PROGRAM, "-"],
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"seq":1,')
        process.stdin.flush()
        _wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=5)

    assert process.returncode == 130
    assert b"Traceback" not in errors


def _wait_until_reading(pid: int) -> None:
    """Wait until the process sleeps in a read of its standard input."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if Path(f"/proc/{pid}/wchan").read_text() in {"pipe_read", "anon_pipe_read"}:
            return
    pytest.skip("the kernel does not tell what a process waits for")


@pytest.mark.parametrize("arguments", [["zz"], ["../x"], ["nothing.jsonl"], ["--digest"]])
def test_every_failure_ends_soon(tmp_path: Path, arguments: list[str]) -> None:
    """R029: whatever goes wrong, the process ends within five seconds, with words and a code."""
    began = time.monotonic()
    run = _run(*arguments, "--log", str(tmp_path / "log"))

    assert time.monotonic() - began < 5
    assert run.returncode in {2, 3, 5}
    assert run.stderr.startswith(b"hermes-replay: ")
    assert b"Traceback" not in run.stderr
