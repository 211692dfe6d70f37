"""The page: head, rules, spacing, foot, and the rules that hold for every line of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wcwidth import wcswidth

from eventlog import parse, read_capture
from replay import (
    SNAPSHOT,
    Agent,
    Ask,
    Diagnosis,
    Error,
    Info,
    Notice,
    Option,
    Plan,
    PlanItem,
    Question,
    Renderer,
    TextOptions,
    Thought,
    Tool,
    ToolContent,
    Transcript,
    Turn,
    User,
    fold,
    render_text,
    render_texts,
)
from replay.pieces import Excerpt

Make = Callable[..., Any]

MIXED = (
    "承知しました。承知しました。承知しました、👩‍👩‍👧‍👦 and 🇯🇵 with e\u0301te\u0301 ❤️ "
    "שלום עולם مرحبا بالعالم plus\ttabs and some more words to wrap"
)


def test_no_line_is_wider_than_asked_in_any_script(make: Make) -> None:
    """R126: prose, lists, tools, outputs, plans, questions and errors at width 40."""
    output = ToolContent(type="text", text=Excerpt(text=f"{MIXED}\n┌────┐\n│ 列 │\n└────┘\na\tb"))
    options = tuple(Option(id=str(n), label=MIXED) for n in range(2))
    entries = (
        make(User, text=f"{MIXED}\n\n- {MIXED}"),
        make(Thought, text=MIXED),
        make(Tool, tool_id="t", name="run", status="completed", input={"command": MIXED}, content=(output,), error=MIXED),
        make(Plan, items=(PlanItem(text=MIXED, status="completed"),)),
        make(Ask, ask_id="a", method="m", what="clarify", title=MIXED,
             questions=(Question(id="q", text=MIXED, options=options),)),
        make(Ask, ask_id="b", method="m", what="approval", text=MIXED,
             questions=(Question(id="q", text="", options=options),)),
        make(Notice, text=MIXED),
        make(Error, text=MIXED, hint=MIXED),
    )  # fmt: skip
    turns = (Turn(n=1, started=1, t0=0, t1=0),)
    text = render_text(
        Transcript(session="s", title="t", turns=turns, entries=entries), TextOptions(width=40)
    )

    assert [line for line in text.split("\n") if wcswidth(line) > 40] == []
    assert "\n  │ ┌────┐\n  │ │ 列 │\n  │ └────┘\n  │ a   b\n" in text
    for whole in ("👩‍👩‍👧‍👦", "🇯🇵", "e\u0301", "❤️"):
        assert whole in text


@pytest.mark.parametrize("width", [0, 10, 40, 80, 200])
def test_every_recording_keeps_the_rules_of_the_page(captures: Path, width: int) -> None:
    """Render rule 1: LF, one newline at the end, no blanks at line ends, no tabs, no controls."""
    for path in sorted(captures.glob("*/*.jsonl"))[:: 3 if width else 1]:
        for session in read_capture(path.read_bytes()):
            transcript = fold(Transcript(session=session.id), map(parse, session.lines))
            text = render_text(transcript, TextOptions(width=width))

            assert text.endswith("\n")
            assert not text.endswith("\n\n")
            assert all(line == line.rstrip() for line in text.split("\n"))
            assert not set(text) & {"\t", "\r", "\x1b", "\x00"}


def test_grep_finds_what_failed(captures: Path) -> None:
    """Render rule 2: a glyph in column 0, text never there: `grep '^✗'` lists failures."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    transcript = fold(Transcript(), map(parse, session.lines))
    text = render_text(transcript, TextOptions(profile=SNAPSHOT))
    failed = [e for e in transcript.entries if isinstance(e, Tool) and e.status == "failed"]

    assert sum(line.startswith("✗ ") for line in text.split("\n")) == len(failed) == 2
    assert {line[0] for line in text.split("\n") if line[:1].strip()} == set("─›∴●✓✗☰")


def test_the_head_says_what_is_known(make: Make) -> None:
    """Head: what is not known leaves no hole; a hosted agent goes by the name it was given."""
    info = Info(agent="x-agent", agent_version="1.2", model="m", cwd="/w")
    transcript = Transcript(session="s-1", info=info, seq=3, t0=10**15, t1=10**15 + 90_000_000)

    assert render_text(transcript).split("\n")[:3] == [
        "s-1 · untitled",
        "x-agent 1.2 · m · /w",
        "2001-09-09 01:46:40Z · 0 turns · 3 events · 1m 30s",
    ]
    named = replace(transcript, info=replace(info, name="mine"), t0=5, t1=5, title="T")
    assert render_text(named).split("\n")[:3] == ["s-1 · T", "mine · m · /w", "0 turns · 3 events"]


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        ({"used": 21734, "size": 272000}, "21 734 of 272 000 context"),
        ({"total": 1062, "cost_usd": 0.5}, "1 062 tokens · $0.5000"),
        ({"cost": {"amount": 0.02, "currency": "USD"}}, "$0.0200"),
        ({"cost": {"amount": 2, "currency": "EUR"}}, "2.0000 EUR"),
        ({"used": None, "total": "many"}, ""),
    ],
)
def test_the_head_says_what_it_took(usage: dict[str, Any], shown: str) -> None:
    """Head: tokens and cost, in ACP's and in Hermes's words; nonsense is left out."""
    line = render_text(Transcript(session="s", usage=usage)).split("\n")[1]

    assert line == " · ".join(part for part in ("0 turns · 0 events", shown) if part)


@pytest.mark.parametrize(
    ("outcome", "rule"),
    [
        ("complete", "── turn 1 ──"),
        ("settled", "── turn 1 ──"),
        ("open", "── turn 1 · open ──"),
        ("interrupted", "── turn 1 · interrupted ──"),
        ("max_tokens", "── turn 1 · token limit ──"),
        ("max_turn_requests", "── turn 1 · request limit ──"),
        ("refusal", "── turn 1 · refusal ──"),
    ],
)
def test_the_rule_of_a_turn_says_how_it_ended(outcome: Any, rule: str) -> None:
    """Render rule 3; R130: the outcome only when not complete; what is not over is open."""
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome=outcome)
    text = render_text(Transcript(turns=(turn,)), TextOptions(profile=SNAPSHOT))

    assert text.startswith(rule)
    assert len(text) == 81


def test_times_can_be_offsets_or_left_out() -> None:
    """`--time offset`, `--time none`."""
    turn = Turn(n=1, started=1, t0=10**15 + 2_500_000, t1=0, outcome="complete")
    transcript = Transcript(turns=(turn,), t0=10**15)

    assert "turn 1 · +2.5s ──" in render_text(transcript, TextOptions(time="offset"))
    assert "turn 1 ──" in render_text(transcript, TextOptions(time="none"))
    assert "turn 1 · 01:46:42 ──" in render_text(transcript)


def test_the_foot_says_what_is_not_shown(make: Make) -> None:
    """Render rule 7: nothing is hidden silently; a snapshot counts only what timing cannot change."""
    entries = (
        make(User, text="again, in words", internal=True, hidden=True),
        make(Agent, text="draft", superseded=True),
        make(Agent, text="shown"),
    )
    diag = (Diagnosis(seq=2, problem="duplicate"),)
    transcript = Transcript(entries=entries, ephemeral={"thinking.delta": 2, "x": 1}, diag=diag)

    assert render_text(transcript, TextOptions(width=0)).split("\n")[-2] == (
        "3 transient events, 1 internal message, 1 replaced entry, 1 log warning not shown"
    )
    assert render_text(transcript, TextOptions(profile=SNAPSHOT)).split("\n")[-2] == (
        "1 internal message, 1 replaced entry not shown"
    )
    assert "again, in words" not in render_text(transcript)


def test_nothing_is_something_too() -> None:
    """R130: an empty session renders; several stand under their own heads."""
    options = TextOptions(profile=SNAPSHOT)

    assert render_text(Transcript(), options) == "~ nothing recorded\n"
    assert render_texts([Transcript()] * 2, options) == (
        "~ session 1 of 2\n\n~ nothing recorded\n\n~ session 2 of 2\n\n~ nothing recorded\n"
    )
    assert render_texts([], options) == ""


def test_it_is_a_renderer() -> None:
    """Design, "Renderer": a transcript and options in, a text out."""
    renderer: Renderer[TextOptions] = render_text

    assert renderer(Transcript(), TextOptions()) == renderer(Transcript(), TextOptions())
