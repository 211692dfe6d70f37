"""Tool calls over ACP: occurrences, states, names, contents, permissions."""

from __future__ import annotations

import pytest

from replay import (
    Excerpt,
    Tool,
    ToolContent,
)
from tests.replay.records import CLAUDE, Log, all_of, only, outline, text_content


def test_an_update_without_tool_call_is_a_row() -> None:
    """F: "update without tool_call"; R089: a row with what is known, marked as an orphan."""
    log = Log()
    log.prompt()
    log.patch("x", status="completed", title="Read a.py", content=text_content("hi"))

    tool = only(log.folded(), Tool)
    assert (tool.orphan, tool.status, tool.title) == (True, "completed", "Read a.py")
    assert tool.content == (ToolContent(type="content", text=Excerpt(text="hi")),)


def test_a_permission_and_an_update_are_one_row() -> None:
    """R089: what the permission said of its tool stays, and the row is no orphan (gemini)."""
    log = Log("gemini-cli")
    log.prompt()
    log.permission("x", title="rm -rf build", kind="execute", rawInput={"command": "rm -rf build"})
    log.picks("yes")
    log.patch("x", status="completed")

    tool = only(log.folded(), Tool)
    assert (tool.title, tool.tkind, tool.status) == ("rm -rf build", "execute", "completed")
    assert tool.input == {"command": "rm -rf build"}
    assert (tool.orphan, tool.permission_only) == (False, False)


def test_completions_without_starts_are_rows_with_titles() -> None:
    """R094: n completions and no start are n rows; a start that comes later adds none."""
    log = Log(CLAUDE)
    for n in range(5):
        named = {"claudeCode": {"toolName": "Read"}}
        log.patch(f"t{n}", status="completed", title=f"Read {n}.py", _meta=named)
    log.call("t2", title="Read File")

    tools = all_of(log.folded(), Tool)
    assert [tool.name for tool in tools] == ["Read"] * 5
    assert [tool.orphan for tool in tools] == [True, True, False, True, True]


def test_an_update_without_kind_keeps_the_kind() -> None:
    """F: "update without kind": the cached kind stays, and the next occurrence inherits it."""
    log = Log()
    first = log.prompt()
    log.call("t", kind="edit", title="x")
    log.patch("t", status="completed")
    log.ends(first)
    log.prompt()
    log.call("t", title="x")

    assert [tool.tkind for tool in all_of(log.folded(), Tool)] == ["edit", "edit"]


def test_other_never_replaces_a_kind() -> None:
    """F: "Name, kind, title": the last kind counts, but for `other` after a real one."""
    log = Log()
    log.call("t", kind="other")
    log.patch("t", kind="read")
    log.patch("t", kind="other")

    assert only(log.folded(), Tool).tkind == "read"


def test_a_second_tool_call_of_a_turn_patches_the_first() -> None:
    """F: "tool_call twice, same id"; R090: one row at the first place, no way back to pending."""
    log = Log()
    log.prompt("go")
    log.call("t", title="Bash", status="in_progress")
    log.says("wait")
    log.patch("t", status="completed")
    log.call("t", title="Bash ls", status="pending", rawInput={"command": "ls"})

    transcript = log.folded()
    tool = only(transcript, Tool)
    assert outline(transcript) == [("user", "go"), ("tool", ""), ("agent", "wait")]
    assert (tool.title, tool.status, tool.input) == ("Bash ls", "completed", {"command": "ls"})


def test_an_id_used_in_every_turn_is_a_row_in_each() -> None:
    """F: "id constant over turns"; R090: the id of a closed tool begins its next occurrence."""
    log = Log()
    for _ in range(3):
        prompt = log.prompt()
        log.call("call_0", title="ls")
        log.patch("call_0", status="completed")
        log.ends(prompt)
    log.patch("call_0", title="ls -l")

    tools = all_of(log.folded(), Tool)
    assert [(tool.occ, tool.turn) for tool in tools] == [(1, 1), (2, 2), (3, 3)]
    assert [tool.title for tool in tools] == ["ls", "ls", "ls -l"]


def test_an_open_tool_of_an_earlier_turn_is_patched() -> None:
    """F: "tool_call twice, same id": a soft status is not closed."""
    log = Log()
    log.ends(log.prompt())
    log.call("t")
    log.ends(log.prompt())
    log.prompt()
    log.call("t", status="in_progress")

    tool = only(log.folded(), Tool)
    assert (tool.occ, tool.turn, tool.status) == (1, 1, "in_progress")


def test_a_tool_may_come_first() -> None:
    """R096: between the prompt and the message, and as the first record of a log."""
    log = Log()
    log.prompt("go")
    log.call("t")
    log.patch("t", status="completed")
    log.says("done")
    alone = Log()
    alone.call("t")

    assert outline(log.folded()) == [("user", "go"), ("tool", ""), ("agent", "done")]
    assert only(alone.folded(), Tool).turn is None


@pytest.mark.parametrize(
    ("said", "shown", "conflict"),
    [
        (["pending", "in_progress", "pending"], "in_progress", ()),
        (["in_progress", "completed", "in_progress"], "completed", ()),
        (["completed", "failed", "failed"], "completed", ("failed",)),
        (["done-ish", "pending"], "done-ish", ()),
        (["in_progress", "done-ish"], "done-ish", ()),
        (["cancelled"], "cancelled", ()),
    ],
)
def test_a_status_only_rises(said: list[str], shown: str, conflict: tuple[str, ...]) -> None:
    """F: "Status lattice (tools)": hard is never left; an unknown status is shown as it is."""
    log = Log()
    log.call("t")
    for status in said:
        log.patch("t", status=status)

    tool = only(log.folded(), Tool)
    assert (tool.status, tool.status_conflict) == (shown, conflict)


def test_late_output_of_an_ended_tool_is_kept() -> None:
    """F: "Status lattice (tools)": output that comes after the end is stored."""
    log = Log()
    log.call("t", status="completed")
    log.patch("t", rawOutput="late")

    assert only(log.folded(), Tool).output == "late"


def test_a_turn_that_ends_leaves_open_tools_without_a_result() -> None:
    """F: "turn ends with open ask / tool": unresolved, or aborted in an interrupted turn."""
    log = Log()
    first = log.prompt()
    log.call("a")
    log.ends(first)
    second = log.prompt()
    log.call("b")
    log.ends(second, "cancelled")

    assert [tool.status for tool in all_of(log.folded(), Tool)] == ["unresolved", "aborted"]


def test_a_real_status_replaces_ours() -> None:
    """F: "Status lattice (tools)": soft is our guess; the agent's own word replaces it."""
    log = Log()
    prompt = log.prompt()
    log.call("t", status="in_progress")
    log.add("turn.interrupted", by="user")
    log.ends(prompt, "cancelled")
    before = only(log.folded(), Tool).status
    log.patch("t", status="completed")

    assert (before, only(log.folded(), Tool).status) == ("aborted", "completed")
