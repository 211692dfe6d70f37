"""Words searched for in a session (cli.md, `--grep RE`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import parse, read_capture
from replay import Transcript, fold
from replay.entries import Agent, Tool
from replay.errors import WrongName
from replay.grep import hits, pattern_of


def test_a_hit_names_its_entry(captures: Path) -> None:
    """Render, "list and search": each line that holds the words, with the id of its entry."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    transcript = fold(Transcript(session="s"), map(parse, session.lines))
    found = list(hits(transcript, pattern_of(r"nonexistent-dir-\w+")))
    ids = {entry.id: entry.kind for entry in transcript.entries}

    assert found
    assert all(ids[hit.entry] == hit.kind == "tool" for hit in found)
    assert "ls: cannot access '/nonexistent-dir-xyz': No such file or directory" in {
        hit.line for hit in found
    }
    assert str(found[0]).startswith(f"{found[0].entry}  tool  ")
    assert not list(hits(transcript, pattern_of("nowhere to be found")))


def test_what_is_cut_on_the_page_is_found_all_the_same() -> None:
    """The whole output is searched; what is found is clean, and behind no gutter."""
    output = "\n".join(["x"] * 50 + ["needle \x1b[31mred\x1b[0m"] + ["x"] * 50)
    common = {"turn": None, "first": 1, "last": 1, "t0": 0, "t1": 0}
    tool = Tool(id="e1", tool_id="t", name="run", status="completed", output=output, **common)  # type: ignore[arg-type]
    said = Agent(id="e2", text="line one\nneedle two " + "long " * 60, **common)  # type: ignore[arg-type]
    found = list(hits(Transcript(session="s", entries=(tool, said)), pattern_of("needle")))

    assert [(hit.entry, hit.line[:10]) for hit in found] == [
        ("e1", "needle red"),
        ("e2", "needle two"),
    ]


def test_what_is_no_pattern_is_refused() -> None:
    """Cli: exit 2, with the reason."""
    with pytest.raises(WrongName, match="no regular expression"):
        pattern_of("(")
