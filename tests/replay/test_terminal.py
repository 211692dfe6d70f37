"""The terminal: colours, width and pager only there, and a shell that completes ids (cli.md)."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from replay.completion import sessions_that_begin
from replay.terminal import cells, page, paints

ROOT = Path(__file__).parents[2]
FILE = str(ROOT / "tests/captures/acp/claude049-reject.jsonl")


def _on_terminal(arguments: Sequence[str], **environ: str) -> bytes:
    """Return what the program writes to a terminal of 50 columns."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, True)
    subprocess.run(["stty", "cols", "50", "rows", "24"], stdin=theirs, check=True)
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "replay.cli", *arguments],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, cwd=ROOT,
        env=kept | {"TERM": "xterm", "PAGER": "cat"} | environ,
    )  # fmt: skip
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # Linux's word for the other end's being closed
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=20) == 0
    return written.replace(b"\r\n", b"\n")


def _piped(arguments: Sequence[str], **environ: str) -> bytes:
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "replay.cli", *arguments],
        capture_output=True, timeout=20, check=True, cwd=ROOT, env=kept | environ,
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "arguments", "coloured"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({"NO_COLOR": ""}, [], True),
        ({}, ["--color", "never"], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
    ],
)
def test_a_terminal_is_coloured_unless_somebody_objects(
    environ: Mapping[str, str], arguments: list[str], *, coloured: bool
) -> None:
    """R127, cli: `--color auto`, NO_COLOR, TERM=dumb."""
    assert (b"\x1b[" in _on_terminal([FILE, *arguments], **environ)) is coloured


def test_without_being_asked_a_terminal_changes_no_word() -> None:
    """R127: but for the paint a terminal gets what a pipe gets, whatever its width."""
    assert _on_terminal([FILE], NO_COLOR="1") == _piped([FILE], COLUMNS="20", TERM="xterm")


def test_the_width_of_the_terminal_is_taken_if_asked_for() -> None:
    """Cli: `--width auto`; in a pipe that is 80."""
    wide = _on_terminal([FILE, "--width", "auto", "--color", "never"]).decode().splitlines()

    assert max(len(line) for line in wide if line.startswith("──")) == 50
    assert _piped([FILE, "--width", "auto"], COLUMNS="30") == _piped([FILE])


def test_a_pipe_is_coloured_only_on_demand() -> None:
    """R127: FORCE_COLOR is no demand; `--color always` is."""
    assert b"\x1b" not in _piped([FILE], FORCE_COLOR="1", TERM="xterm-256color")
    assert b"\x1b[" in _piped([FILE, "--color", "always"], NO_COLOR="1", TERM="dumb")


def test_a_terminal_has_a_pager(tmp_path: Path) -> None:
    """Cli: what is to be read goes through PAGER on a terminal, and not with `--no-pager`."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged\n")
    pager.chmod(0o755)

    assert _on_terminal([FILE], PAGER=str(pager)) == b"paged\n"
    assert b"paged" not in _on_terminal([FILE, "--no-pager"], PAGER=str(pager))
    assert b"paged" not in _piped([FILE], PAGER=str(pager))


def test_a_pager_that_is_not_there_is_no_failure() -> None:
    """The text is written as it is."""
    assert not page(b"x", environ={"PAGER": "no-such-pager-anywhere"})
    assert not page(b"x", environ={"PAGER": ""})
    assert not page(b"x", environ={"PAGER": "cat", "TERM": "dumb"})


def test_without_a_terminal_there_is_no_width_and_no_paint(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Cli: 80 cells, no colour, whatever the environment says."""
    assert cells() == 80
    assert not paints("auto", environ={"TERM": "xterm", "FORCE_COLOR": "1"})
    assert paints("always", environ={"NO_COLOR": "1"})


def test_a_shell_completes_ids(log: Path, tmp_path: Path) -> None:
    """Cli: ids that begin so, the newest first; without a log there is nothing to say."""
    assert sessions_that_begin("s-", str(log)) == ["s-other", "s-one"]
    assert sessions_that_begin("l", str(log)) == ["latest"]
    assert sessions_that_begin("", str(tmp_path / "none")) == []


def test_bash_asks_the_program(log: Path) -> None:
    """Cli: the completion that `--install-completion` sets up."""
    asked = {
        "_HERMES_REPLAY_COMPLETE": "complete_bash",
        "COMP_WORDS": "hermes-replay s-o",
        "COMP_CWORD": "1",
    }
    told = _completion(asked | {"HERMES_LOG": str(log)})

    assert told.split() == ["s-other", "s-one"]


def _completion(environ: Mapping[str, str]) -> str:
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-c", "from replay.cli import main; main()"],
        capture_output=True, timeout=20, check=False, cwd=ROOT, env=kept | dict(environ),
    )  # fmt: skip
    return run.stdout.decode()
