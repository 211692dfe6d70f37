"""Sub-agents of Hermes: one entry each."""

from __future__ import annotations

from typing import Any

from replay import (
    Subagent,
)
from tests.replay.records import Log, only


def started(text: str = "Go") -> Log:
    log = Log()
    log.prompt(text)
    log.add("message.start")
    return log


def sub(log: Log, kind: str, **members: Any) -> None:
    log.add(f"subagent.{kind}", goal="Look", task_count=1, task_index=0, **members)


def test_a_subagent_is_one_entry() -> None:
    """F: "subagent.*": upsert by id; tools, notes and thinking grow; the end sticks."""
    log = started()
    sub(log, "spawn_requested", subagent_id="a", model="m", depth=1)
    sub(log, "start", subagent_id="a", status="running")
    sub(log, "thinking", subagent_id="a", text="hmm")
    sub(log, "tool", subagent_id="a", tool_name="search", tool_preview="sleep")
    sub(log, "progress", subagent_id="a", text="half way")
    sub(log, "complete", subagent_id="a", status="completed", summary="Two more")
    sub(log, "progress", subagent_id="a", status="running", text="late")

    entry = only(log.folded(), Subagent)
    assert (entry.status, entry.summary, entry.goal) == ("completed", "Two more", "Look")
    assert (entry.tools, entry.notes, entry.thinking) == (
        ("search sleep",),
        ("half way", "late"),
        3,
    )
    assert not entry.orphan


def test_a_subagent_without_a_start_is_an_orphan() -> None:
    """F: "subagent.*": update before start; without an id, task and goal tell them apart."""
    log = started()
    sub(log, "progress", text="x")
    sub(log, "complete", status="failed")

    entry = only(log.folded(), Subagent)
    assert (entry.orphan, entry.status, entry.key) == (True, "failed", "0 Look")
