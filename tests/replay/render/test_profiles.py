"""Profiles: what each of the five shows, as data (render.md, rule 8), and what the options change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from replay.entries import Agent, Error, Gap, Notice, Plan, Subagent, System, Thought, Tool, User
from replay.pieces import Excerpt, PlanItem, ToolContent
from replay.render import COMPACT, DEFAULT, FULL, PROFILES, SNAPSHOT, Profile, TextOptions
from replay.render.text import render_text
from replay.transcript import Transcript, Turn

Make = Callable[..., Any]
Show = Callable[..., list[str]]


def _page(*entries: Any, options: TextOptions, **fields: Any) -> list[str]:
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome="complete")
    transcript = Transcript(session="s", turns=(turn,), entries=entries, **fields)
    return render_text(transcript, options).splitlines()


def _bare(profile: Profile) -> TextOptions:
    return TextOptions(profile=replace(profile, head=False, times=False))


def test_there_are_five_profiles() -> None:
    """Render rule 8."""
    assert set(PROFILES) == {"default", "compact", "full", "snapshot", "timeline"}


def test_compact_shows_the_conversation_and_counts_the_work(make: Make) -> None:
    """Render rule 8: user, agent, errors; tools as one count line a run; the rest is counted."""
    entries = (
        make(User, text="Go"),
        make(Thought, text="Hm"),
        make(Tool, tool_id="a", name="read", status="completed"),
        make(Notice, text="by the way"),
        make(Tool, tool_id="b", name="run", status="failed"),
        make(Subagent, key="k", status="completed"),
        make(Agent, text="Once more."),
        make(Tool, tool_id="c", name="run", status="completed"),
        make(Tool, tool_id="d", name="run", status="in_progress"),
        make(Error, text="Broken"),
        make(Gap, lost=3),
        make(Plan, items=(PlanItem(text="a"),)),
    )

    assert _page(*entries, options=_bare(COMPACT))[1:] == [
        "",
        "› you",
        "  Go",
        "",
        "✗ 3 tools, 1 failed",
        "",
        "● agent",
        "  Once more.",
        "",
        "◌ 2 tools, 1 open",
        "",
        "! error",
        "  Broken",
        "",
        "≠ gap · 3 events lost",
        "",
        "─" * 80,
        "3 other entries not shown",
    ]


def test_full_shows_inputs_drafts_and_what_was_replaced(make: Make) -> None:
    """Render rule 8: interim marks, drafts, inputs, all output, and entries that are hidden else."""
    output = "\n".join(f"line {n} {'x' * 90}" for n in range(30))
    entries = (
        make(User, text="again", internal=True, hidden=True),
        make(Agent, text="Look.", interim=True),
        make(
            Tool, tool_id="t", name="bash", status="completed", exit_code=0,
            input={"command": "ls", "env": {"A": 1}, "script": "one\ntwo"},
            output={"output": output, "pid": 7},
        ),
        make(Tool, tool_id="r", name="read", status="completed", input={"path": "a"},
             content=(ToolContent(type="content", text=Excerpt(text="inside")),)),
        make(Agent, text="Better.", edited=True, draft="Worse."),
        make(Agent, text="Old.", superseded=True),
    )  # fmt: skip

    lines = _page(*entries, options=_bare(FULL))
    assert lines[1:12] == [
        "",
        "› you · internal",
        "  again",
        "",
        "● agent · interim",
        "  Look.",
        "",
        "✓ run     ls",
        "  → command: ls",
        '  → env: {"A": 1}',
        "  → script:",
    ]
    assert lines[12:14] == ["    one", "    two"]
    assert lines[14:44] == [f"  │ line {n} {'x' * 90}" for n in range(30)]
    assert lines[44:] == [
        '  │ {"pid": 7}',
        "",
        "✓ read    a",
        "  → path: a",
        "  │ inside",
        "",
        "● agent · edited",
        "  Better.",
        "  draft:",
        "  │ Worse.",
        "",
        "● agent · replaced",
        "  Old.",
    ]


@pytest.mark.parametrize(
    ("thoughts", "expected"),
    [
        ("show", ["∴ thought", "  One.", "", "  Two.", "", "● agent", "  Yes."]),
        ("fold", ["∴ thought · 3 lines", "", "● agent", "  Yes."]),
        ("hide", ["● agent", "  Yes.", "", "─" * 80, "1 thought not shown"]),
    ],
)
def test_thoughts_are_shown_folded_or_hidden(
    make: Make, thoughts: Any, expected: list[str]
) -> None:
    """Render, "thoughts": hidden ones are counted, for nothing is hidden silently (rule 7)."""
    entries = (make(Thought, text="One.\n\nTwo."), make(Agent, text="Yes."))
    options = TextOptions(profile=SNAPSHOT, thoughts=thoughts)

    assert _page(*entries, options=options)[2:] == expected


def test_as_many_lines_of_an_output_as_asked_for(make: Make) -> None:
    """Render, "truncation": `--lines 2+1`, `--full`; what is cut is counted."""
    content = (ToolContent(type="content", text=Excerpt(text="1\n2\n3\n4\n5")),)
    tool = make(Tool, tool_id="t", name="run", status="completed", content=content)
    few = TextOptions(profile=SNAPSHOT, lines=(2, 1))
    whole = TextOptions(profile=SNAPSHOT, lines=None, diff_lines=None)

    assert _page(tool, options=few)[2:] == [
        "✓ run · 5 lines", "  │ 1", "  │ 2", "  │ … 2 lines …", "  │ 5",
    ]  # fmt: skip
    assert _page(tool, options=whole)[2:] == ["✓ run", *(f"  │ {n}" for n in range(1, 6))]


def test_a_long_silence_is_a_line_if_asked_for(make: Make) -> None:
    """Render, "timing": a gap of more than N seconds between two entries."""
    second = 1_000_000
    entries = (
        make(User, text="Go", t0=0, t1=0),
        make(Agent, text="Yes.", t0=90 * second, t1=91 * second),
        make(Agent, text="Done.", t0=95 * second, t1=95 * second),
    )
    options = replace(_bare(DEFAULT), profile=replace(DEFAULT, head=False), silence=5)

    assert _page(*entries, options=options)[2:] == [
        "› you",
        "  Go",
        "",
        "~ 1m 30s later",
        "",
        "● agent",
        "  Yes.",
        "",
        "● agent",
        "  Done.",
    ]
    none = replace(options, profile=SNAPSHOT)
    assert not any("later" in line for line in _page(*entries, options=none))


def test_a_golden_has_no_numbers_of_the_log(make: Make) -> None:
    """Render rule 8: two runs of the same conversation give equal text, also where they rewound."""
    line = make(System, tag="rewind", text="rewound to 27")

    assert _page(line, options=TextOptions(profile=SNAPSHOT))[2:] == ["~ rewind"]
    assert _page(line, options=_bare(DEFAULT))[2:] == ["~ rewind rewound to 27"]


@pytest.mark.parametrize("profile", ["default", "compact", "full", "snapshot"])
def test_an_empty_session_has_a_head_and_a_foot(profile: str) -> None:
    """R130: only its transient events tell that there was one; they are counted."""
    empty = Transcript(session="s-1", seq=3, t0=5, t1=9, ephemeral={"skin.changed": 3})
    text = render_text(empty, TextOptions(profile=PROFILES[profile]))

    if profile == "snapshot":
        assert text == "~ nothing recorded\n"
    else:
        assert text.startswith("s-1 · untitled\n0 turns · 3 events")
        assert text.endswith("3 transient events not shown\n")


def test_a_session_that_is_not_over_says_so() -> None:
    """R130: the log ends within a turn; the last event is named, where it was not cut on purpose."""
    turn = Turn(n=1, started=1, t0=0, t1=0)
    running = Transcript(session="s", seq=15, turns=(turn,), status="running")

    assert render_text(running).endswith("session incomplete: last event seq 15\n")
    assert "incomplete" not in render_text(running, TextOptions(until=True))
    assert render_text(running, TextOptions(profile=SNAPSHOT)).endswith("session incomplete\n")
    done = replace(running, status="idle")
    assert "incomplete" not in render_text(done)
