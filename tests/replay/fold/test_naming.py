"""Names and titles of tools: which frame says them, and which saying stays."""

from __future__ import annotations

from typing import Any

import pytest

from replay import (
    Tool,
)
from tests.replay.records import CLAUDE, CODEX, Log, only


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
