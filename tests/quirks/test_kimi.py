"""Habits of kimi-code 2.1, as recorded (facts of nine agents), and what becomes of them."""

from __future__ import annotations

import json
from collections import Counter

from replay import Agent, Ask, Tool, User
from tests.quirks.recording import recording


def test_arguments_come_as_a_growing_text() -> None:
    """Dozens of updates a call, each with all of the arguments so far: one row, the last content."""
    told = recording("kimi-tools")
    frames = Counter(one["toolCallId"] for one in told.updates("tool_call_update"))
    rows = Counter(tool.tool_id for tool in told.entries(Tool))

    assert max(frames.values()) > 12
    assert set(frames) <= set(rows)
    assert set(rows.values()) == {1}
    assert not any('"command":' in str(tool.content) for tool in told.entries(Tool))


def test_ids_are_others_after_a_load() -> None:
    """The turn stands before the call's id live, the step on a replay: nothing can be joined by
    them, so the log's own account is kept where there is one."""
    live = {tool.tool_id for tool in recording("kimi-tools").entries(Tool)}
    loaded = {tool.tool_id for tool in recording("kimi-load").entries(Tool)}

    assert live
    assert loaded
    assert not live & loaded
    assert {id_.partition(":")[0] for id_ in live} <= {"0", "1", "2"}


def test_commands_run_in_the_clients_terminal() -> None:
    """P-35: output stands in the client's answers alone; it is the tool's terminal all the same."""
    told = recording("kimi-tools")
    shown = [piece.terminal for tool in told.entries(Tool) for piece in tool.content]
    outputs = {terminal.id: terminal.output for terminal in told.transcript.terminals}

    assert told.calls("terminal/create")
    assert told.calls("terminal/output")
    assert set(shown) >= set(outputs)
    assert any("out line 1" in output for output in outputs.values())


def test_usage_comes_after_the_end() -> None:
    """P-36: it is recorded behind the turn's end, and is the session's usage."""
    told = recording("kimi-hello")

    assert "usage_update" in list(told.after_answers("session/prompt"))
    kinds = [
        event["payload"]["update"]["sessionUpdate"]
        if event["type"] == "acp.session_update"
        else event["type"]
        for event in told.events
    ]
    assert kinds[kinds.index("prompt.finished") + 1] == "usage_update"
    assert told.transcript.usage["used"] == told.updates("usage_update")[-1]["used"]


def test_a_word_comes_after_the_end() -> None:
    """P-36: after `/compact` one chunk comes behind the answer: it is not lost, and is late."""
    told = recording("kimi-modes")

    assert "agent_message_chunk" in list(told.after_answers("session/prompt"))
    assert any(entry.late for entry in told.entries(Agent))


def test_a_question_says_little() -> None:
    """A permission names its tool, a title and content: what the call had said before stays."""
    told = recording("kimi-tools")
    asked = told.calls("session/request_permission")

    assert all(set(one["toolCall"]) <= {"toolCallId", "title", "content"} for one in asked)
    rows = {tool.tool_id: tool for tool in told.entries(Tool)}
    for one in asked:
        assert rows[one["toolCall"]["toolCallId"]].tkind
    assert {ask.state for ask in told.entries(Ask)} == {"answered"}


def test_it_looks_for_files_that_are_not_there() -> None:
    """It expects errors: each is recorded with its call, and nobody sees a row of it."""
    told = recording("kimi-tools")
    results = [e["payload"] for e in told.events if e["type"] == "acp.result"]
    refused = [one for one in results if one["by"] == "agent" and "error" in one]

    assert len(told.calls("fs/read_text_file")) > 50
    assert len(refused) > 20
    assert not [entry for entry in told.transcript.entries if entry.kind == "error"]


def test_a_replay_reminds_itself() -> None:
    """`<system-reminder>` comes back as the user's words: kept, as it tells."""
    told = recording("kimi-load")

    assert any(entry.text.startswith("<system-reminder>") for entry in told.entries(User))


def test_modes_change_by_themselves() -> None:
    """Nobody asked: the mode is what was told last."""
    told = recording("kimi-modes")
    modes = told.updates("current_mode_update")

    assert modes
    assert told.updates("config_option_update")
    assert told.transcript.mode == modes[-1]["currentModeId"]


def test_errors_and_refusals_are_what_they_are() -> None:
    """-32000 for a key that is wrong, `refusal` for a refusal."""
    told = recording("kimi-errors")
    ends = told.answers("session/prompt")

    assert ends[0]["error"]["code"] == -32000
    assert "refusal" in json.dumps([one.get("result") for one in ends])
    assert "refusal" in [turn.outcome for turn in told.transcript.turns]
