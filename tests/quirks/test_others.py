"""Habits of agents of which no recording is kept here, written by hand from the facts of nine agents.

claude-agent-acp 0.23, codex-acp 0.16, qwen 0.15, and what opencode 1.18 does with a broken model.
"""

from __future__ import annotations

from replay import Agent, Plan, Tool, Unknown
from tests.replay.records import Log, all_of, only, text_content


def test_turns_that_have_shifted() -> None:
    """P-36 (claude 0.23, after a cancel): the next prompt ends at once, and what it asked for comes in
    the turn after it: nothing is lost, doubled or moved from where it came."""
    log = Log("@agentclientprotocol/claude-agent-acp")
    first = log.prompt("one")
    log.says("One is")
    log.add("turn.interrupted", by="client")
    log.ends(first, "cancelled")
    second = log.prompt("two")
    log.ends(second)
    third = log.prompt("three")
    log.says("Two is 2.")
    log.ends(third)
    log.says("Three is 3.")

    transcript = log.folded()
    assert [entry.text for entry in all_of(transcript, Agent)] == [
        "One is",
        "Two is 2.",
        "Three is 3.",
    ]
    assert [entry.turn for entry in all_of(transcript, Agent)][:2] == [1, 3]
    assert [turn.outcome for turn in transcript.turns] == ["interrupted", "complete", "complete"]
    assert transcript.status == "idle"


def test_a_usage_of_nothing() -> None:
    """(claude 0.23, after a broken stream): `"used": null` is against the schema, and no fault here."""
    log = Log("@agentclientprotocol/claude-agent-acp")
    log.update("usage_update", used=7, size=200_000)
    log.update("usage_update", used=None, size=200_000)

    assert not all_of(log.folded(), Unknown)
    assert log.folded().usage["size"] == 200_000


def test_a_question_before_its_call() -> None:
    """(codex 0.16): it says what the call will do, and `pending` when that has begun long ago: what it
    says is kept, the status does not go back."""
    log = Log("codex-acp")
    log.prompt()
    log.permission("c1", title="ls", kind="execute", status="pending", rawInput={"command": "ls"})
    log.call("c1", title="ls", kind="execute", status="in_progress")
    log.permission("c1", "srq-2", status="pending", content=text_content("Available Decisions"))
    log.picks("yes", "srq-2")

    tool = only(log.folded(), Tool)
    assert (tool.title, tool.tkind, tool.status) == ("ls", "execute", "in_progress")
    assert tool.input == {"command": "ls"}
    assert "Available Decisions" not in str(tool.content)


def test_a_rejection_leaves_the_call_open() -> None:
    """(codex 0.16): the turn is cancelled and the call never ends: it is over with its turn."""
    log = Log("codex-acp")
    prompt = log.prompt()
    log.call("c1", title="rm", status="in_progress")
    log.permission("c1")
    log.picks("no")
    log.ends(prompt, "cancelled")

    assert only(log.folded(), Tool).status not in ("pending", "in_progress")
    assert log.folded().turns[0].outcome == "interrupted"


def test_a_plan_that_comes_back_as_a_call() -> None:
    """(codex 0.16, on a replay): `update_plan` is a tool then, without kind and already completed."""
    log = Log("codex-acp")
    log.call("p1", title="update_plan", status="completed", rawInput={"plan": []}, rawOutput="ok")

    tool = only(log.folded(), Tool)
    assert (tool.title, tool.status) == ("update_plan", "completed")
    assert not all_of(log.folded(), Plan)


def test_a_tool_that_does_not_exist_is_completed() -> None:
    """(opencode): its title changes, its status is `completed`: told as the agent tells it."""
    log = Log("opencode")
    log.prompt()
    log.call("x1", title="no_such_tool", status="pending")
    log.patch("x1", title="invalid", status="in_progress")
    log.patch("x1", title="Invalid Tool", status="completed")

    tool = only(log.folded(), Tool)
    assert (tool.title, tool.status) == ("Invalid Tool", "completed")


def test_a_stream_that_begins_again() -> None:
    """(opencode, after a broken stream): the text comes from the start, under the same messageId, and
    nothing is taken back: both are what was said."""
    log = Log("opencode")
    log.prompt()
    log.says("This stream will break in Thi", "msg_1")
    log.says("This stream is whole.", "msg_1")

    assert only(log.folded(), Agent).text == "This stream will break in ThiThis stream is whole."


def test_a_cancelled_command_is_completed() -> None:
    """(opencode, qwen): a note in its output says that it was not: it is told as the agent tells it."""
    log = Log("opencode")
    prompt = log.prompt()
    log.call("b1", title="sleep 60", status="in_progress")
    log.add("turn.interrupted", by="client")
    log.patch("b1", status="completed", content=text_content("<shell_metadata>aborted"))
    log.ends(prompt, "cancelled")

    assert only(log.folded(), Tool).status == "completed"


def test_an_empty_chunk_that_carries_numbers() -> None:
    """(qwen): `_meta.usage` on a chunk without words: no entry of nothing."""
    log = Log("qwen-code")
    log.prompt()
    log.update(
        "agent_message_chunk",
        content={"type": "text", "text": ""},
        _meta={"usage": {"totalTokens": 3}, "durationMs": 5},
    )

    assert not all_of(log.folded(), Agent)
    assert not all_of(log.folded(), Unknown)


def test_a_place_without_a_line() -> None:
    """(qwen): `"line": null` is a file without a line."""
    log = Log("qwen-code")
    log.prompt()
    log.call("r1", title="read", locations=[{"path": "/a", "line": None}])

    (place,) = only(log.folded(), Tool).locations
    assert (place.path, place.line) == ("/a", None)


def test_calls_within_a_call() -> None:
    """(qwen): a sub-agent's frames stand flat, with `_meta.parentToolCallId`."""
    log = Log("qwen-code")
    log.prompt()
    log.call("task", title="Task", kind="think")
    log.call("r1", title="read", _meta={"parentToolCallId": "task", "subagentType": "general"})

    assert [tool.parent for tool in all_of(log.folded(), Tool)] == [None, "task"]
