"""Habits of `hermes acp` 0.19, as recorded (facts of nine agents), and what becomes of them."""

from __future__ import annotations

import json

from replay import Agent, Error, Tool
from tests.quirks.recording import of_agent, recording


def test_a_call_has_no_status_and_may_have_no_end() -> None:
    """What never ends is unresolved once its turn is over; the log does not say that it ended."""
    told = recording("hermes-tools")
    called = told.updates("tool_call")
    ended = {one["toolCallId"] for one in told.updates("tool_call_update")}

    assert all("status" not in one for one in called)
    assert {one["toolCallId"] for one in called} - ended
    for tool in told.entries(Tool):
        if tool.tool_id not in ended:
            assert tool.status == "unresolved"


def test_a_question_has_an_id_of_its_own() -> None:
    """`edit-approval-1` is no tool's: the question is shown, and no second row of the same work."""
    told = recording("hermes-tools")
    asked = {one["toolCall"]["toolCallId"] for one in told.calls("session/request_permission")}
    called = {one["toolCallId"] for one in told.updates("tool_call")}

    assert asked
    assert not asked & called
    rows = {tool.tool_id: tool for tool in told.entries(Tool)}
    assert all(rows[id_].permission_only for id_ in asked)


def test_members_come_in_another_order() -> None:
    """`sessionUpdate` is last: what an update is, is not told by where it says so."""
    told = recording("hermes-hello")
    update = told.updates("agent_message_chunk")[0]

    assert list(update)[-1] == "sessionUpdate"
    assert told.entries(Agent)


def test_later_messages_begin_with_empty_lines() -> None:
    """Live, and not on a replay: kept as it came, so the two differ in that alone."""
    live = [entry.text for entry in recording("hermes-tools").entries(Agent)]
    loaded = [entry.text for entry in recording("hermes-load").entries(Agent)]

    assert live[1].startswith("\n\n")
    assert [text.strip() for text in live[:3]] == [text.strip() for text in loaded[:3]]
    assert not loaded[1].startswith("\n")


def test_a_resume_replays() -> None:
    """R121: against the text of ACP: it is a replay, so it is dropped where the log knows better."""
    told = recording("hermes-load")
    resumed = [
        event["payload"]
        for event in told.events
        if event["type"] == "acp.replay" and event["payload"]["method"] == "session/resume"
    ]

    assert [one["state"] for one in resumed] == ["started", "finished"]
    assert resumed[1]["dropped"]["count"] > 20
    texts = [entry.text for entry in told.entries(Agent)]
    assert len(texts) == len(recording("hermes-load").entries(Agent))
    assert texts.count("Reading two files at once.") == 1


def test_ids_are_others_after_a_load() -> None:
    """Live they are made up, on a replay they are the model's."""
    live = {tool.tool_id for tool in recording("hermes-tools").entries(Tool)}
    loaded = {tool.tool_id for tool in recording("hermes-load").entries(Tool)}

    assert not live & loaded


def test_state_comes_before_and_after() -> None:
    """P-36: usage before the first prompt, a title after the end: state, wherever it stands."""
    told = recording("hermes-hello")
    kinds = [
        event["payload"]["update"]["sessionUpdate"]
        if event["type"] == "acp.session_update"
        else event["type"]
        for event in told.events
    ]

    assert kinds.index("usage_update") < kinds.index("prompt.submitted")
    assert "session_info_update" in list(told.after_answers("session/prompt"))
    assert told.transcript.title


def test_a_cancelled_question_breaks_it() -> None:
    """It ends in an error, and takes no prompt any more: each is told as what it is."""
    told = recording("hermes-cancel")
    error = next(one["error"] for one in told.answers("session/prompt") if "error" in one)

    assert "startswith" in json.dumps(error)
    assert [turn.outcome for turn in told.transcript.turns] == [
        "interrupted",
        "complete",
        "error",
        "complete",
        "complete",
    ]
    assert [entry.code for entry in told.entries(Error)] == ["-32603"]


def test_errors_are_words() -> None:
    """Every error of the model is an ordinary end, and an unknown session is a refusal."""
    told = recording("hermes-errors")
    ends = [one["result"]["stopReason"] for one in told.answers("session/prompt")]

    assert ends == ["end_turn"] * 8 + ["refusal"]


def test_an_unknown_call_is_answered_with_nothing() -> None:
    """`null`, and no error: recorded as it was answered."""
    told = recording("hermes-errors")

    assert [one["result"] for one in told.answers("_example.com/unknown")] == [None]


def test_two_options_of_one_kind() -> None:
    """`allow_always` twice: what is answered is the option's id, never its kind."""
    asked = [one for told in of_agent("hermes") for one in told.calls("session/request_permission")]
    kinds = [[option["kind"] for option in one["options"]] for one in asked]

    assert any(one.count("allow_always") == 2 for one in kinds)
    for one in asked:
        ids = [option["optionId"] for option in one["options"]]
        assert len(set(ids)) == len(ids)
