"""Lines that stay in their file."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from eventlog import line
from eventlog.event import Event
from replay.lines import FileLines, Spool
from replay.part import Part, take
from replay.recordings import read_recordings, read_recordings_of
from replay.source import read_file
from tests.replay.conftest import WriteCassette

SPINNER = Event.of("thinking.delta", {"text": "x" * 10_000})


def test_a_files_lines_are_a_sequence(tmp_path: Path) -> None:
    """What is in the file and what is not come in one order, by number, slice and one by one."""
    path = tmp_path / "file"
    path.write_bytes(b"one\r\ntwo\nthree")
    lines = FileLines(path)
    for text, place in ((b"one", 0), (b"between", None), (b"two", 5), (b"three", 9)):
        lines.append(text, place)

    assert list(lines) == [b"one", b"between", b"two", b"three"]
    assert (lines[0], lines[-1], lines[1]) == (b"one", b"three", b"between")
    assert lines[1:3] == [b"between", b"two"]
    assert lines[::2] == [b"one", b"two"]
    with pytest.raises(IndexError):
        lines[4]


def spoiled(lines: list[bytes]) -> None:
    lines[3] = b"{"
    del lines[6]


@pytest.mark.parametrize("change", [None, spoiled])
@pytest.mark.parametrize(
    "form",
    [
        bytes,
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        lambda data: data.split(b"\n", 1)[1],
        lambda data: b"\xef\xbb\xbf" + data.split(b"\n", 1)[1],
    ],
    ids=["cassette", "of another system", "lines alone", "lines with a mark"],
)
def test_a_file_is_read_as_its_bytes_are(
    cassette: WriteCassette,
    tmp_path: Path,
    form: Callable[[bytes], bytes],
    change: Callable[[list[bytes]], None] | None,
) -> None:
    """R031, R119: read line by line it gives the same sessions, lines and flaws as read whole."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(form(cassette(change=change).read_bytes()))
    held, whole = read_recordings_of(path, "x"), read_recordings(path.read_bytes(), "x")

    assert [(one.id, list(one.lines), one.begin) for one in held.sessions] == [
        (one.id, list(one.lines), one.begin) for one in whole.sessions
    ]
    assert held.flaws == whole.flaws
    assert len(held.sessions[0].lines) > 5


@pytest.mark.parametrize("piped", [False, True])
def test_memory_is_not_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, piped: bool
) -> None:
    """Issue 4: of 20 MB that nobody sees, a file's or a stream's, a few lines are in memory."""
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"".join(line(seq, seq, SPINNER) + b"\n" for seq in range(1, 2_001)))
    with path.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("Stream", (), {"buffer": stream}))
        tracemalloc.start()
        try:
            held = read_file("-" if piped else str(path))
            (one,) = held.sessions
            taken = take(one.id, one.lines, Part())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert taken.transcript.ephemeral == {"thinking.delta": 2_000}
    assert peak < 2_000_000


def test_what_was_spooled_is_gone_with_its_spool() -> None:
    """Rule 7: a copy of a session is its owner's alone, and stays no longer than it is read."""
    spool = Spool(BytesIO(b"secret\n"))
    path = spool.path

    assert path.read_bytes() == b"secret\n"
    assert path.stat().st_mode & 0o777 == 0o600
    del spool
    assert not path.exists()


def test_a_pipe_is_read_though_it_can_be_read_but_once(cassette: WriteCassette) -> None:
    """`hermes-replay <(command)` shows what the file would."""
    path = cassette()
    whole = [sys.executable, "-m", "replay", str(path)]
    shown = subprocess.run(whole, capture_output=True, check=True, timeout=60).stdout
    out, into = os.pipe()
    with os.fdopen(into, "wb") as pipe:
        pipe.write(path.read_bytes())
    piped = [sys.executable, "-m", "replay", f"/dev/fd/{out}"]
    try:
        again = subprocess.run(piped, pass_fds=[out], capture_output=True, check=True, timeout=60)
    finally:
        os.close(out)

    assert again.stdout == shown
