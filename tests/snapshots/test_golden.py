"""A session as golden text: equal conversations give equal texts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eventlog import Event, line, parse, read_capture
from replay import Transcript, fold
from snapshots import Scrubber, golden_text

ROOT = Path(__file__).parents[2]


def _session(folder: str, start: int, request: str, seconds: float) -> list[bytes]:
    """Return a conversation in which a tool works in *folder*."""
    command = f"cat {folder}/notes.txt && echo " + "word " * 10
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": request,
        "kind": "execute",
        "title": command,
        "status": "completed",
        "rawInput": {"command": command},
        "content": [
            {
                "type": "content",
                "content": {"type": "text", "text": f"{folder}\ndone in {seconds}s"},
            }
        ],
    }
    said = f"I looked into {folder} and found the notes, as was to be expected, all in their place."
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}
    events = [
        Event.of("session.opened", {"cwd": folder}),
        Event.of("prompt.submitted", {"content": [{"type": "text", "text": f"Look in {folder}"}]}),
        Event.of("acp.session_update", {"update": update}),
        Event.of("acp.session_update", {"update": chunk}),
        Event.of("prompt.finished", {"prompt": 2, "result": {"stopReason": "end_turn"}}),
    ]
    return [line(seq, start + seq * 10, event) for seq, event in enumerate(events, 1)]


def test_two_runs_of_a_conversation_give_one_text() -> None:
    """R136: other folder (also a longer name), times, ids and durations: the same golden."""
    uuid = "6f1d2c3b-0a1b-4c2d-8e3f-00010203040"
    short, long = "/tmp/tmpab", "/tmp/pytest-of-somebody/pytest-1234/test_long0"  # noqa: S108 - texts
    one = _session(short, 10**15, uuid + "1", 0.25)
    other = _session(long, 10**15 + 9, uuid + "2", 17.5)

    assert golden_text(one) == golden_text(other)
    assert "cat <path:1>/notes.txt" in golden_text(one)
    assert "done in <duration>" in golden_text(one)


def test_sources_of_every_kind_give_the_same_text(captures: Path) -> None:
    """A path, a file's content, lines, and a transcript are the same session."""
    path = captures / "acp/claude049-reject.jsonl"
    (session,) = read_capture(path.read_bytes())
    expected = golden_text(path)

    assert golden_text(path.read_bytes()) == expected
    assert golden_text(session.lines) == expected
    assert golden_text(fold(Transcript(), map(parse, session.lines))) == expected
    assert golden_text(path, session=session.id) == expected


def test_own_scrubbers_and_width_apply(captures: Path) -> None:
    """What is replaced and how wide lines are can be chosen."""
    path = captures / "acp/claude049-reject.jsonl"
    marks = [Scrubber("script", r"\[\[S:\w+\]\]")]

    assert "<script:1>" in golden_text(path, scrubbers=marks)
    assert max(map(len, golden_text(path, width=40).splitlines())) <= 60


def test_a_damaged_session_is_no_golden(captures: Path) -> None:
    """A golden is made of a whole session, or not at all."""
    data = (captures / "acp/claude049-reject.jsonl").read_bytes()

    with pytest.raises(ValueError, match=r"the session, line \d+: "):
        golden_text(data[:-20])
    with pytest.raises(ValueError, match="holds no session 'x'"):
        golden_text(data, session="x")


_DIGESTS = """
import hashlib, pathlib, sys
from snapshots import golden_text
for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*-tools.jsonl")):
    print(hashlib.sha256(golden_text(path).encode()).hexdigest())
"""


def test_fresh_processes_give_the_same_texts(captures: Path, tmp_path: Path) -> None:
    """R136: other hash seeds, other folders, other copies of the files: the same bytes."""
    copy = shutil.copytree(captures, tmp_path / "copy")
    runs = {
        subprocess.run(
            [sys.executable, "-c", _DIGESTS, str(folder)],
            env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            capture_output=True,
            check=True,
        ).stdout
        for seed, folder in (("0", captures), ("1", copy), ("2", copy))
    }

    assert len(runs) == 1
    assert runs.pop().count(b"\n") == 5
