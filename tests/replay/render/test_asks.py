"""Questions to the user, standing by themselves (render.md, rule 6; R077)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from replay.entries import Ask, Tool
from replay.pieces import Excerpt, Option, Question, ToolContent
from replay.render import SNAPSHOT, TextOptions

Make = Callable[..., Any]
Show = Callable[..., list[str]]

_CHOICES = tuple(
    Option(id=str(n), label=label) for n, label in enumerate(["teal", "crimson", "鶯色"])
)


def _ask(make: Make, **fields: Any) -> Ask:
    ask: Ask = make(Ask, **{"ask_id": "srq-1", "method": "m", "what": "clarify"} | fields)
    return ask


def test_every_choice_has_a_line_and_the_picked_one_a_dot(make: Make, show: Show) -> None:
    """Render rule 6: `(•) picked  ( ) other`; an answer by label counts as one by id."""
    question = Question(id="q0", text="Which colour?", options=_CHOICES, answer=("鶯色",))

    assert show(_ask(make, state="answered", questions=(question,))) == [
        "◆ question",
        "  Which colour?",
        "    ( ) teal",
        "    ( ) crimson",
        "    (•) 鶯色",
    ]


def test_an_answer_of_ones_own_is_shown_beside_the_choices(make: Make, show: Show) -> None:
    """Free text is an answer like others; so is one to a question without choices."""
    own = Question(id="q0", text="Which?", options=_CHOICES[:1], answer=("blue, please",))
    free = Question(id="q1", text="Why?", answer=("Because.",))
    skipped = Question(id="q2", text="When?", options=_CHOICES[:1], skipped=True)

    assert show(_ask(make, state="answered", questions=(own, free, skipped))) == [
        "◆ question",
        "  Which?",
        "    ( ) teal",
        "    (•) blue, please",
        "  Why?",
        "    → Because.",
        "  When?",
        "    ( ) teal",
        "    skipped",
    ]


def test_an_approval_shows_the_whole_command(make: Make, show: Show) -> None:
    """What is approved is never cut; its choices stand on one line."""
    command = "rm -rf build && " * 6 + "true"
    options = tuple(Option(id=c, label=c) for c in ("once", "session", "always", "deny"))
    ask = _ask(
        make,
        what="approval",
        title="deletes files",
        text=command,
        state="answered",
        questions=(Question(id="choice", text="", options=options, answer=("deny",)),),
    )

    lines = show(ask)
    assert lines[0] == "◆ approval · deletes files"
    assert " ".join(line.removeprefix("  │ ") for line in lines[1:-1]) == command
    assert lines[-1] == "    ( ) once  ( ) session  ( ) always  (•) deny"


@pytest.mark.parametrize(
    ("state", "reason", "shown"),
    [
        ("open", None, "◆ question · waiting"),
        ("expired", "timeout", "◆ question · expired: timeout"),
        ("withdrawn", "interrupted", "◆ question · withdrawn: interrupted"),
        ("resolved", "resolved", "◆ question · resolved"),
        ("failed", "-32601", "◆ question · failed: -32601"),
        ("answered", None, "◆ question"),
    ],
)
def test_how_it_ended_is_told(
    make: Make, show: Show, state: str, reason: str | None, shown: str
) -> None:
    """R077: timed out, cancelled, resolved elsewhere and failed are different words."""
    assert show(_ask(make, state=state, reason=reason))[0] == shown


def test_late_answers_are_noted(make: Make, show: Show) -> None:
    """F "request withdrawn, then answered": withdrawn stays, the late answer is noted."""
    late = ({"choice": "once"}, {"answers": {"q0": ["a", "b"], "q1": None}}, "c", {"all": True})
    ask = _ask(make, state="withdrawn", late_answers=late)

    assert show(ask) == [
        "◆ question · withdrawn",
        "    late answer: once",
        "    late answer: a, b, —",
        "    late answer: c",
        "    late answer: true",
    ]


def test_many_choices_on_a_line_wrap(make: Make, show: Show) -> None:
    """A row of choices is broken between choices, never within one."""
    options = tuple(Option(id=str(n), label=f"choice number {n}") for n in range(5))
    ask = _ask(make, what="permission", questions=(Question(id="q", text="", options=options),))

    assert show(ask, options=TextOptions(profile=SNAPSHOT, width=50))[1:] == [
        "    ( ) choice number 0  ( ) choice number 1",
        "    ( ) choice number 2  ( ) choice number 3",
        "    ( ) choice number 4",
    ]


def test_a_choice_longer_than_a_line_is_wrapped(make: Make, show: Show) -> None:
    """Labels of permissions may hold a whole command: every word of it is shown."""
    options = (
        Option(id="a", label="Always allow " + "rm -rf build && " * 5),
        Option(id="r", label="No"),
    )
    ask = _ask(make, what="permission", questions=(Question(id="q", text="", options=options),))

    assert show(ask)[1:] == [
        "    ( ) Always allow rm -rf build && rm -rf build && rm -rf build && rm -rf",
        "    build && rm -rf build &&",
        "    ( ) No",
    ]


def test_a_recommended_choice_is_picked_by_its_own_name(make: Make, show: Show) -> None:
    """Hermes writes "(Recommended)" behind the first choice on the wire; answers come without."""
    options = (Option(id="teal (Recommended)", label="teal (Recommended)"),)
    ask = _ask(
        make,
        state="answered",
        questions=(
            Question(id="q0", text="Which?", options=options, answer=("teal",)),
            Question(id="q1", text="Anything else?"),
        ),
    )

    assert show(ask)[1:] == [
        "  Which?",
        "    (•) teal (Recommended)",
        "  Anything else?",
        "    —",
    ]


def test_a_permission_shows_the_change_that_was_to_be_approved(make: Make, show: Show) -> None:
    """A tool known from its permission alone is the question; its diff is what was asked about."""
    change = ToolContent(
        type="diff", path="/w/a.py", old=Excerpt(text="1\n"), new=Excerpt(text="2\n")
    )
    tool = make(
        Tool, tool_id="t", title="Edit", permission_only=True, status="rejected", content=(change,)
    )
    question = Question(id="permission", text="Edit", options=_CHOICES[:2], answer=("1",))
    ask = _ask(
        make, what="permission", state="answered", title="Edit", tool=tool.id, questions=(question,)
    )

    assert show(tool, ask) == [
        "◆ permission · Edit",
        "  │ a.py",
        "  │ @@ -1 +1 @@",
        "  │ -1",
        "  │ +2",
        "    ( ) teal  (•) crimson",
    ]
