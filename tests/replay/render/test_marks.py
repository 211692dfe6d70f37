"""What stands beside the conversation: notices, errors, system lines, gaps, unknown records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from replay.entries import (
    Agent,
    Error,
    Gap,
    Interrupt,
    Notice,
    Plan,
    Subagent,
    System,
    Thought,
    Unknown,
    User,
)
from replay.pieces import Block, PlanItem
from replay.render import DEFAULT, SNAPSHOT, TextOptions

Make = Callable[..., Any]
Show = Callable[..., list[str]]


def test_prompts(make: Make, show: Show) -> None:
    """A prompt shows its text, what is no text, and whether it waited, corrected or was refused."""
    user = make(
        User, text="Look at this.\n", blocks=(Block(type="image", mime="image/png", size=3000),)
    )
    queued = make(User, text="Stop.", queued=True)
    steer = make(User, text="Left.", correction="steer")
    refused = make(User, text="Again.", rejected="busy")

    assert show(user, queued, steer, refused) == [
        "› you",
        "  Look at this.",
        "  [image · image/png · 3 000 bytes]",
        "",
        "› you · queued",
        "  Stop.",
        "",
        "› you · steer",
        "  Left.",
        "",
        "› you · not taken: busy",
        "  Again.",
    ]
    assert show(queued, options=TextOptions())[-2] == "› you · queued #2"


def test_messages_without_a_word_are_not_shown(make: Make, show: Show) -> None:
    """R101: white space alone makes no block."""
    assert show(make(Thought, text=" \n"), make(Agent, text="\n\n"), make(Agent, text="x")) == [
        "● agent",
        "  x",
    ]


def test_plans(make: Make, show: Show) -> None:
    """R102: states by box, done of all, unknown states and unusual priorities as they are."""
    items = (
        PlanItem(text="One", status="completed", priority="high"),
        PlanItem(text="Two\nlines", status="in_progress", priority="medium"),
        PlanItem(text="Three", status="cancelled"),
        PlanItem(text="Four", status="from the future"),
        PlanItem(text="Five"),
    )

    assert show(make(Plan, items=items, revs=3), make(Plan, cleared=True)) == [
        "☰ plan · 1/5 · 3 revisions",
        "  [x] One (high)",
        "  [>] Two lines",
        "  [-] Three",
        "  [from the future] Four",
        "  [ ] Five",
        "",
        "☰ plan · cleared",
    ]


def test_errors_say_what_to_do(make: Make, show: Show) -> None:
    """F "Auth": a command to run, or a sentence; the same error twice is told once."""
    command = make(
        Error, text="Authentication required", code="-32000", cls="auth", hint="codex auth"
    )
    sentence = make(Error, text="No.", cls="auth", hint="Please authenticate", times=2)

    assert show(command, sentence) == [
        "! error · auth · code -32000",
        "  Authentication required",
        "  → run: codex auth",
        "",
        "! error · auth · ×2",
        "  No.",
        "  → Please authenticate",
    ]


def test_notices_and_system_lines(make: Make, show: Show) -> None:
    """One line if they fit one, a body if not; what was cleared is said to be."""
    entries = (
        make(Notice, text="Saved."),
        make(Notice, level="warn", text="Slow.", times=2, cleared=True),
        make(Notice, level="error", text="word " * 20),
        make(System, tag="mode", text="— → ask"),
        make(System, tag="review", text="Memory updated: x"),
        make(System, tag="compaction", text="one\ntwo", done=False),
    )

    assert [line for line in show(*entries) if line] == [
        "▲ Saved.",
        "▲ warn Slow. · ×2 · cleared",
        "▲ error",
        f"  {('word ' * 15).strip()}",
        f"  {('word ' * 5).strip()}",
        "~ mode — → ask",
        "~ Memory updated: x",
        "~ compaction · not finished",
        "  one",
        "  two",
    ]


def test_interrupts_gaps_and_unknown_records(make: Make, show: Show) -> None:
    """R103, F-L6: nothing is dropped; an unknown record shows its type and what it holds."""
    entries = (
        make(Interrupt, by="user"),
        make(Interrupt, text="client gone"),
        make(Gap, lost=12, begin=41, end=52, reason="disk full"),
        make(Gap),
        make(Unknown, type="future_thing", payload={"a": [1, "\x1b[31m"]}),
        make(Unknown, type="long", payload={"a": "x" * 200}, problem="a is\tno number"),
    )

    assert [line for line in show(*entries, options=TextOptions(profile=SNAPSHOT)) if line] == [
        "■ interrupt requested · by user",
        "■ interrupted · client gone",
        "≠ gap · 12 events lost · disk full",
        "≠ gap · events lost",
        '? future_thing · {"a": [1, "\\u001b[31m"]}',
        "? long",
        f'  │ {{"a": "{"x" * 68}…',
        "  not understood: a is no number",
    ]
    assert "≠ gap · 12 events lost · #41-52 · disk full" in show(*entries, options=TextOptions())


def test_work_given_away(make: Make, show: Show) -> None:
    """A sub-agent shows its goal, how it went, its tools and what came of it."""
    done = make(
        Subagent, key="k", goal="Look", status="completed", tools=("grep x",), summary="Two more."
    )
    running = make(Subagent, key="k2", goal="Wait", status="running", depth=1)

    assert show(done, running) == [
        "↳✓ Look · 1 tool",
        "  │ grep x",
        "  Two more.",
        "",
        "↳↳◌ Wait · running",
    ]


def test_ascii_maps_our_signs_and_never_the_text(make: Make, show: Show) -> None:
    """Render rule 2: `--ascii` maps glyph by glyph; what people and models wrote stays."""
    lines = show(
        make(User, text="→ ● … └"),
        make(Interrupt),
        options=TextOptions(profile=SNAPSHOT, ascii=True),
    )

    assert lines == ["> you", "  → ● … └", "", "# interrupted"]


def test_without_a_width_nothing_is_wrapped_or_clipped(make: Make, show: Show) -> None:
    """`--width 0`."""
    options = TextOptions(profile=DEFAULT, width=0)

    assert (
        show(make(Agent, text="word " * 50), options=options)[-1] == f"  {('word ' * 50).strip()}"
    )


def test_what_else_was_said_of_an_error_stands_below_it(make: Make, show: Show) -> None:
    """ACP's `data.details`, Hermes's advice: it is often the only part that helps."""
    error = make(Error, text="Internal error", code="-32603", detail="Run `hermes setup` first.")

    assert show(error) == [
        "! error · code -32603",
        "  Internal error",
        "  Run `hermes setup` first.",
    ]
