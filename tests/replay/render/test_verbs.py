"""What a tool does in a word, and to what (render.md, display verbs; fold.md, name and subject)."""

from __future__ import annotations

import pytest

from replay.entries import Tool
from replay.pieces import Json, Location
from replay.render.verbs import subject_of, verb_of


def _tool(
    name: str | None = None,
    tkind: str | None = None,
    title: str | None = None,
    given: Json = None,
    locations: tuple[str, ...] = (),
) -> Tool:
    return Tool(
        id="e1", first=1, last=1, t0=0, t1=0, tool_id="t", name=name, tkind=tkind,
        title=title, input=given,
        locations=tuple(Location(path=path) for path in locations),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "tkind", "verb"),
    [
        ("Bash", "execute", "run"),
        ("write_file", None, "write"),
        (None, "execute", "run"),
        ("exec_command", "read", "read"),
        ("skill_view", "other", "skill_view"),
        ("skill_view", None, "skill_view"),
        ("anything", "switch_mode", "switch_mode"),
        ("mcp__github__search", None, "github/search"),
        ("mcp__github__create_issue", None, "github/create_issue"),
        ("mcp__files__write_file", None, "files/write"),
        ("ExitPlanMode", "switch_mode", "plan?"),
        (None, "other", ""),
    ],
)
def test_the_verb_comes_from_name_then_kind_then_raw_name(
    name: str | None, tkind: str | None, verb: str
) -> None:
    """F "Display verb": canonical name in the table, else kind, else raw name."""
    assert verb_of(_tool(name, tkind)) == verb


@pytest.mark.parametrize(
    ("tool", "subject"),
    [
        (_tool("read", given={"path": "/w/src/a.py"}), "src/a.py"),
        (_tool("read", given={"file_path": "/elsewhere/a.py"}), "/elsewhere/a.py"),
        (_tool("read", given={"path": "/w2/a.py"}), "/w2/a.py"),
        (_tool("bash", given={"command": ["ls", "-l"], "description": "list"}), "ls -l"),
        (_tool("bash", given={"command": "cat /w/a"}), "cat /w/a"),
        (_tool("bash", title="Terminal", locations=("/w/a",)), "a"),
        (_tool("terminal", title="terminal: ls -l"), "ls -l"),
        (_tool("patch", title="patch (replace): /w/a"), "a"),
        (_tool("Bash", title="Bash"), ""),
        (_tool(None, "read", "Read file '/w/a'"), "Read file 'a'"),
        (_tool(None, "execute", "cat /w/a"), "cat /w/a"),
        (_tool("grep", given={"pattern": 7, "query": "x"}), "x"),
    ],
)
def test_the_subject_comes_from_input_then_title_then_location(tool: Tool, subject: str) -> None:
    """F "Subject": paths below the working folder are shown from there."""
    assert subject_of(tool, "/w") == subject
