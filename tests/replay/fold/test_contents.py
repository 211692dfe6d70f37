"""What a tool shows: contents, inputs, outputs, what is too long."""

from __future__ import annotations

from typing import Any

import pytest

from replay import (
    Agent,
    Block,
    Excerpt,
    Location,
    Tool,
    Unknown,
    User,
)
from tests.replay.records import CLAUDE, Log, all_of, only, text_content


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
