"""Tool calls over ACP: occurrences, states, names, contents, permissions."""

from __future__ import annotations

from typing import Any

import pytest

from replay import (
    Agent,
    Ask,
    Block,
    Excerpt,
    Location,
    Tool,
    ToolContent,
    Unknown,
    User,
)
from tests.replay.records import CLAUDE, CODEX, Log, all_of, only, outline, text_content


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


# -- names and titles ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "frame", "name"),
    [
        (CLAUDE, {"title": "Terminal", "_meta": {"claudeCode": {"toolName": "Bash"}}}, "Bash"),
        (CODEX, {"title": "Editing files", "kind": "edit"}, "edit"),
        (CODEX, {"title": "ls", "kind": "execute", "name": "exec_command"}, "exec_command"),
        ("OpenCode", {"title": "bash", "kind": "execute"}, "bash"),
        ("gemini-cli", {"title": "ReadFile", "kind": "read"}, "ReadFile"),
        ("gemini-cli", {"title": "src/app.py", "kind": "read"}, "read"),
        ("qwen-code", {"title": "ReadFile: a", "_meta": {"toolName": "read_file"}}, "read_file"),
        ("Kimi Code CLI", {"title": "TodoList", "kind": "other"}, "TodoList"),
        ("hermes-agent", {"title": "patch (replace): /a", "kind": "edit"}, "patch"),
        ("hermes-agent", {"title": "todo (3 items)", "kind": "other"}, "todo"),
        ("new-agent", {"title": "x y", "_meta": {"tool_name": "web_search"}}, "web_search"),
        ("new-agent", {"title": "Glob", "kind": "search"}, "Glob"),
        ("new-agent", {"title": "Find it", "kind": "search"}, "search"),
        (None, {"title": "Find it", "kind": "other"}, None),
    ],
)
def test_each_agent_names_its_tools_in_its_own_way(
    agent: str | None, frame: dict[str, Any], name: str | None
) -> None:
    """F: "What is known of agents": one row an agent says where its tool names are."""
    log = Log(agent)
    log.call("t", **frame)

    assert only(log.folded(), Tool).name == name


def test_the_first_name_stays() -> None:
    """F: "Name, kind, title": later titles are subjects, not names (OpenCode, Kimi)."""
    log = Log("OpenCode")
    log.call("t", title="bash")
    log.patch("t", title="ls -l")
    log.patch("t", title="List the files", status="completed")

    tool = only(log.folded(), Tool)
    assert (tool.name, tool.title) == ("bash", "List the files")


@pytest.mark.parametrize("placeholder", ["Tool Call", "tool", "Terminal", ""])
def test_a_placeholder_never_replaces_a_title(placeholder: str) -> None:
    """F: "Name, kind, title": the last title counts if it says something."""
    log = Log()
    log.call("t", title="ls -l")
    log.patch("t", title=placeholder)

    assert only(log.folded(), Tool).title == "ls -l"


# -- what a tool shows -----------------------------------------------------------------------------


def test_content_and_locations_are_replaced_whole() -> None:
    """F: "tool_call / tool_call_update": arrays replace; absent and null change nothing (v1)."""
    log = Log()
    log.call("t", content=text_content("draft"), locations=[{"path": "a", "line": 1}])
    log.patch("t", content=text_content("one", "two"), locations=[{"path": "b", "line": None}])
    log.patch("t", content=None, locations=None, title=None, rawInput=None)

    tool = only(log.folded(), Tool)
    assert [piece.text for piece in tool.content] == [Excerpt(text="one"), Excerpt(text="two")]
    assert tool.locations == (Location(path="b"),)


def test_null_clears_in_version_2() -> None:
    """F: "tool_call / tool_call_update": v2 null clears; its first update creates."""
    log = Log(agent="x", protocol=2)
    log.patch("t", title="ls", content=text_content("draft"), rawInput={"a": 1})
    log.patch("t", title=None, content=None, rawInput=None)

    tool = only(log.folded(), Tool)
    assert (tool.title, tool.content, tool.input, tool.orphan) == (None, (), None, False)


def test_one_item_may_be_appended_to_the_content() -> None:
    """F: "tool_call_content_chunk": appended (v2)."""
    log = Log(agent="x", protocol=2)
    log.patch("t", content=text_content("one"))
    log.update("tool_call_content_chunk", toolCallId="t", content=text_content("two")[0])

    tool = only(log.folded(), Tool)
    assert [piece.text for piece in tool.content] == [Excerpt(text="one"), Excerpt(text="two")]


def test_empty_input_never_replaces_input() -> None:
    """F: "rawInput": empty never replaces non-empty."""
    log = Log()
    log.call("t", rawInput={})
    log.patch("t", rawInput={"command": "ls"})
    log.patch("t", rawInput={})

    assert only(log.folded(), Tool).input == {"command": "ls"}


def test_diffs_terminals_and_unknown_content_are_kept() -> None:
    """F: "diffs": old null is a new file; a v2 patch stays as it is; unknown types are kept."""
    log = Log()
    log.call(
        "t",
        content=[
            {"type": "diff", "path": "a", "oldText": None, "newText": "new"},
            {"type": "diff", "changes": [{"path": "b"}], "patch": "@@ -1 +1 @@"},
            {"type": "terminal", "terminalId": "term"},
            {"type": "content", "content": {"type": "image", "data": "", "mimeType": "x/y"}},
            {"type": "chart", "rows": 3},
        ],
    )

    new, patch, terminal, image, chart = only(log.folded(), Tool).content
    assert (new.path, new.old, new.new) == ("a", None, Excerpt(text="new"))
    assert (patch.path, patch.text) == ("b", Excerpt(text="@@ -1 +1 @@"))
    assert terminal.terminal == "term"
    assert image.block is not None
    assert image.block.mime == "x/y"
    assert chart.block == Block(type="chart", text='{"type":"chart","rows":3}')


def test_meta_is_merged_object_into_object() -> None:
    """F: "_meta": merged per namespace, deep: claude's toolResponse survives the last update."""
    log = Log(CLAUDE)
    log.call("t", _meta={"claudeCode": {"toolName": "Read"}})
    log.patch("t", _meta={"claudeCode": {"toolResponse": {"lines": 3}, "toolName": "Read"}})
    log.patch("t", status="completed", _meta={"claudeCode": {"toolName": "Read"}, "x": 1})

    meta = only(log.folded(), Tool).meta
    assert meta == {"claudeCode": {"toolName": "Read", "toolResponse": {"lines": 3}}, "x": 1}


@pytest.mark.parametrize(
    "meta", [{"claudeCode": {"parentToolUseId": "task"}}, {"parentToolCallId": "task"}]
)
def test_the_parent_of_a_tool_is_known(meta: dict[str, Any]) -> None:
    """F: "_meta": parentToolUseId of claude, parentToolCallId of qwen."""
    log = Log(CLAUDE)
    log.call("t", _meta=meta)

    assert only(log.folded(), Tool).parent == "task"


def test_a_huge_output_is_kept_as_its_ends() -> None:
    """F: "huge output": over 64 KiB a string becomes head, tail, size and hash, however it came."""
    log = Log()
    prompt = log.prompt("p" * 70_000)
    text = "ü" * 40_000
    log.call("t", rawInput={"deep": [text]}, rawOutput=text, content=text_content(text))
    log.says("a" * 70_000)
    log.ends(prompt)

    transcript = log.folded()
    tool = only(transcript, Tool)
    cut = tool.content[0].text
    assert cut is not None
    assert (cut.size, len(cut.text.encode()), len((cut.tail or "").encode())) == (
        80_000,
        4096,
        1024,
    )
    assert tool.output == {
        "text": cut.text,
        "size": 80_000,
        "sha256": cut.sha256,
        "tail": cut.tail,
    }
    assert tool.input == {"deep": [tool.output]}
    assert (len(only(transcript, User).text), len(only(transcript, Agent).text)) == (70_000, 70_000)


def test_an_update_that_breaks_its_own_rule_changes_no_tool() -> None:
    """F-L8: a payload that cannot be read is shown, with what is wrong; the tool is untouched."""
    log = Log()
    log.call("t", title="ls")
    log.patch("t", title="other", status="completed", content=[{"type": "diff"}])
    log.patch("t", title="other", locations=[{"path": 3}])
    log.update("tool_call", title="no id")

    transcript = log.folded()
    tool = only(transcript, Tool)
    assert (tool.title, tool.status) == ("ls", "pending")
    assert [entry.problem for entry in all_of(transcript, Unknown)] == [
        "a tool's content of type diff lacks what it needs",
        "path is a number, not a string",
        "toolCallId is missing, not an id",
    ]


# -- permissions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "status"), [("yes", "in_progress"), ("always", "in_progress"), ("no", "rejected")]
)
def test_a_permission_lets_its_tool_go_on_or_not(option: str, status: str) -> None:
    """F: "request.answered": allow_* in_progress, reject_* rejected."""
    log = Log()
    log.prompt()
    log.call("t")
    log.permission("t")
    waiting = only(log.folded(), Tool).status
    log.picks(option)

    transcript = log.folded()
    tool, ask = only(transcript, Tool), only(transcript, Ask)
    assert (waiting, tool.status) == ("waiting", status)
    assert (ask.state, ask.tool, ask.questions[0].answer) == ("answered", tool.id, (option,))


def test_a_rejected_tool_that_then_fails_stays_rejected() -> None:
    """R077: what the user decided is not overwritten by how the agent reports it."""
    log = Log()
    log.prompt()
    log.call("t")
    log.permission("t")
    log.picks("no")
    log.patch("t", status="failed")

    tool = only(log.folded(), Tool)
    assert (tool.status, tool.status_conflict) == ("rejected", ("failed",))


def test_a_permission_never_takes_its_tool_back() -> None:
    """F: "Permissions": its pending, and its question-like content, are not the tool's."""
    log = Log(CODEX)
    log.prompt()
    log.call("t", status="in_progress", title="ls", content=text_content("real"))
    log.permission("t", status="pending", content=text_content("Proposed amendment: …"))

    transcript = log.folded()
    tool, ask = only(transcript, Tool), only(transcript, Ask)
    assert (tool.status, tool.content[0].text) == ("in_progress", Excerpt(text="real"))
    assert ask.text == "Proposed amendment: …"


def test_a_tool_known_only_from_its_permission_is_the_question_alone() -> None:
    """F: "Permissions": marked, so that renderers show the question and no row (hermes)."""
    log = Log("hermes-agent")
    log.prompt()
    diff = {"type": "diff", "path": "a", "oldText": "x", "newText": "y"}
    log.permission("edit-approval-1", title="Approve edit: a", content=[diff])
    log.picks("no")

    tool = only(log.folded(), Tool)
    assert (tool.permission_only, tool.status, tool.content[0].path) == (True, "rejected", "a")


def test_an_answer_of_cancelled_withdraws_the_question() -> None:
    """F: "request.answered": cancelled aborts the tool and withdraws the question (R076)."""
    log = Log()
    log.prompt()
    log.call("t")
    log.permission("t")
    log.add("request.answered", id="srq-1", result={"outcome": {"outcome": "cancelled"}})

    transcript = log.folded()
    assert only(transcript, Tool).status == "aborted"
    assert only(transcript, Ask).state == "withdrawn"
