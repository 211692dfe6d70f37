"""Permissions: what the user's answer does to a tool."""

from __future__ import annotations

import pytest

from replay import (
    Ask,
    Excerpt,
    Tool,
)
from tests.replay.records import CODEX, Log, only, text_content


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
