"""Tools that work for other tools: shown behind them (R114)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from replay.entries import Agent, Tool
from replay.render.nesting import depth_of, parents_of

Make = Callable[..., Any]
Show = Callable[..., list[str]]


def _tool(make: Make, name: str, parent: str | None = None, **fields: Any) -> Tool:
    tool: Tool = make(
        Tool,
        tool_id=name,
        name="run",
        status="completed",
        input={"command": name},
        parent=parent,
        **fields,
    )
    return tool


def test_children_stand_behind_their_parents(make: Make, show: Show) -> None:
    """R114: two sub-agents at once, their calls in between one another, each under its own."""
    entries = (
        _tool(make, "a"), _tool(make, "b"), _tool(make, "a1", "a"), _tool(make, "b1", "b"),
        make(Agent, text="Meanwhile."), _tool(make, "a2", "a"), _tool(make, "a11", "a1"),
    )  # fmt: skip

    assert [line for line in show(*entries) if line] == [
        "✓ run     a",
        "↳✓ run     a1",
        "↳↳✓ run     a11",
        "↳✓ run     a2",
        "✓ run     b",
        "↳✓ run     b1",
        "● agent",
        "  Meanwhile.",
    ]


def test_a_child_may_come_first_and_a_parent_may_not_be_there(make: Make, show: Show) -> None:
    """R114: before its parent, with one unknown, of another turn, or in a circle: no crash."""
    entries = (
        _tool(make, "early", "late"), _tool(make, "late"), _tool(make, "lost", "nobody"),
        _tool(make, "self", "self"), _tool(make, "x", "y"), _tool(make, "y", "x"), _tool(make, "z", "x"),
        _tool(make, "other", "late", turn=None),
    )  # fmt: skip

    assert [line for line in show(*entries) if line] == [
        "✓ run     late",
        "↳✓ run     early",
        "✓ run     lost",
        "✓ run     self",
        "✓ run     x",
        "✓ run     y",
        "✓ run     z",
        "✓ run     other",
    ]


def test_depth_has_no_end(make: Make, show: Show) -> None:
    """R114: fifty deep is shown; the signs stop at three, so that there is room for words."""
    chain = [_tool(make, "t0"), *(_tool(make, f"t{n}", f"t{n - 1}") for n in range(1, 51))]
    lines = [line for line in show(*chain) if line]

    assert depth_of(chain[50].id, parents_of(chain)) == 50
    assert lines[1].startswith("↳✓")
    assert lines[50] == "↳↳↳✓ run     t50"
