"""Hermes's tools: started, completed, failed, completed twice."""

from __future__ import annotations

from typing import Any

import pytest

from replay import (
    Terminal,
    Tool,
    Unknown,
)
from tests.replay.records import Log, all_of, only


def started(text: str = "Go") -> Log:
    log = Log()
    log.prompt(text)
    log.add("message.start")
    return log


def tool(log: Log, tool_id: str = "t", **members: Any) -> None:
    log.add("tool.complete", tool_id=tool_id, name="terminal", **members)


def test_a_tool_starts_and_completes() -> None:
    """F: "tool.start / tool.complete": input from args, output from result."""
    log = started()
    log.add("tool.start", tool_id="t", name="terminal", context="ls", args={"command": "ls"})
    working = only(log.folded(), Tool).status
    tool(log, result={"output": "a", "exit_code": 0, "error": None}, duration_s=0.25, summary="1")

    entry = only(log.folded(), Tool)
    assert (working, entry.status, entry.name, entry.title) == (
        "in_progress",
        "completed",
        "terminal",
        "ls",
    )
    assert (entry.input, entry.output["output"]) == ({"command": "ls"}, "a")
    assert (entry.duration_s, entry.exit_code, entry.summary) == (0.25, 0, "1")


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"error": "no such file"}, "no such file"),
        ({"success": False}, None),
        ({"exit_code": 3, "error": None}, None),
        ({"error": {"code": 1}}, None),
    ],
)
def test_a_tool_fails_as_its_result_says(result: dict[str, Any], error: str | None) -> None:
    """F: "tool.start / tool.complete": failed when result has error, success=false, exit code."""
    log = started()
    tool(log, result=result)

    entry = only(log.folded(), Tool)
    assert (entry.status, entry.error, entry.orphan) == ("failed", error, True)


def test_the_same_id_again_is_the_next_occurrence() -> None:
    """F: "Occurrence": tool.start for a closed id, also in the same turn."""
    log = started()
    for _ in range(2):
        log.add("tool.start", tool_id="t", name="x")
        tool(log, result="r")

    assert [entry.occ for entry in all_of(log.folded(), Tool)] == [1, 2]


def test_a_second_completion_is_ignored_filled_in_or_apart() -> None:
    """F: "Occurrence": same output ignored, missing output filled in, another one an orphan."""
    log = started()
    tool(log)
    tool(log, result="r")
    tool(log, result="r")
    tool(log, result="other")

    entries = all_of(log.folded(), Tool)
    assert [(entry.occ, entry.output) for entry in entries] == [(1, "r"), (2, "other")]


def test_output_is_the_text_where_there_is_no_result() -> None:
    """F: "tool.start / tool.complete": output from result, else result_text."""
    log = started()
    tool(log, result_text="shown")

    assert only(log.folded(), Tool).output == "shown"


def test_a_bridged_tool_has_the_name_of_its_label() -> None:
    """F: "Name, kind, title": Hermes name is labels[].text when bridged."""
    log = started()
    label = {"kind": "mcp", "app": "gh", "action": "a", "emoji": "", "text": "GitHub", "name": "x"}
    log.add("tool.start", tool_id="t", name="mcp_call", labels=[label])

    entry = only(log.folded(), Tool)
    assert (entry.name, entry.labels) == ("GitHub", ("GitHub",))


def test_a_risk_is_on_its_tool() -> None:
    """F: "tool.output_risk": risk on the tool; without one it is shown as it came."""
    log = started()
    log.add("tool.start", tool_id="t", name="fetch")
    log.add(
        "tool.output_risk", tool_id="t", name="fetch", risk="high", findings=["x"], redacted=True
    )
    log.add("tool.output_risk", tool_id="u", name="fetch", risk="high", findings=[], redacted=False)

    transcript = log.folded()
    assert only(transcript, Tool).risk == {"risk": "high", "findings": ["x"], "redacted": True}
    assert only(transcript, Unknown).problem == "no such tool"


def test_processes_write_to_terminals() -> None:
    """F: "agent.terminal.output / terminal.close": terminal by process id."""
    log = started()
    log.add("agent.terminal.output", process_id="p", chunk="a\n")
    log.add("agent.terminal.output", process_id="p", chunk="b\n")
    log.add("terminal.close", process_id="p")

    assert log.folded().terminals == (Terminal(id="p", output="a\nb\n", closed=True),)
