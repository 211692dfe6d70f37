"""Habits of codex-acp 2.6, as recorded (facts of nine agents), and what becomes of them."""

from __future__ import annotations

import json

from replay import Agent, Tool
from tests.quirks.recording import of_agent, recording


def test_it_tells_of_no_session_before_there_is_one() -> None:
    """`_auth/status_update` names no session and comes first: it is with the gateway, not lost."""
    for told in of_agent("codex26"):
        methods = [frame.get("method") for way, frame in told.frames if way == "out"]
        assert methods.index("_auth/status_update") < methods.index("session/update")
        assert "_auth/status_update" not in json.dumps(told.events)


def test_commands_come_before_the_answer_to_a_load() -> None:
    """P-36: an update before `session/load` is answered has its place, behind `session.opened`."""
    told = recording("codex26-load")
    loads = [
        number
        for number, (way, frame) in enumerate(told.frames)
        if frame in told.answers("session/load")
    ]
    early = [frame for way, frame in told.frames[: loads[0]] if way == "out"]

    assert any("available_commands_update" in json.dumps(frame) for frame in early)
    kinds = [event["type"] for event in told.events]
    assert kinds[0] == "session.opened"
    assert told.transcript.commands


def test_session_info_is_a_private_channel() -> None:
    """Its own status stands in `_meta.codex`; a title only now and then: no rows, and the title."""
    told = recording("codex26-hello")
    infos = told.updates("session_info_update")

    assert any("threadStatus" in str(one.get("_meta")) for one in infos)
    titles = [one["title"] for one in infos if one.get("title")]
    assert told.transcript.title == titles[-1]


def test_a_field_of_its_own_is_kept() -> None:
    """`name` stands at the root of a tool's update, which libraries drop: it is the tool's name."""
    told = recording("codex26-tools")

    assert any(one.get("name") == "exec_command" for one in told.updates())
    assert "exec_command" in [tool.name for tool in told.entries(Tool)]


def test_output_comes_in_pieces_in_meta() -> None:
    """`terminal_output_delta` was not asked for and has to be appended; the exit code is there,
    too."""
    told = recording("codex26-tools")
    pieces = [
        one["_meta"]["terminal_output_delta"]["data"]
        for one in told.updates()
        if "terminal_output_delta" in (one.get("_meta") or {})
    ]
    outputs = "".join(terminal.output for terminal in told.transcript.terminals)

    assert pieces
    assert all(piece in outputs for piece in pieces)
    assert 3 in [terminal.exit_code for terminal in told.transcript.terminals]
    assert all(tool.terminals == (tool.tool_id,) for tool in told.entries(Tool) if tool.terminals)


def test_output_goes_on_after_the_cancel_and_in_the_next_turn() -> None:
    """P-36, P-37: it is recorded where it came, and shown with the tool that it belongs to."""
    told = recording("codex26-cancel")
    command = next(tool for tool in told.entries(Tool) if "sleep" in str(tool.title))
    cancelled, following = told.transcript.turns[3:5]

    assert command.turn == 4
    assert cancelled.ended is not None
    assert command.last > following.started > cancelled.ended
    assert command.status == "aborted"


def test_a_judge_is_a_call_of_its_own() -> None:
    """A model that approves is shown as what it is: a tool that thinks, and no question."""
    told = recording("codex26-reject")
    judged = [tool for tool in told.entries(Tool) if tool.tool_id.startswith("guardian_assessment")]

    assert judged
    assert {tool.tkind for tool in judged} == {"think"}
    assert not told.calls("session/request_permission")


def test_a_warning_stands_before_every_turn() -> None:
    """It has no messageId, the agent's words have one: two entries, not one run together."""
    told = recording("codex26-hello")
    words = told.entries(Agent)
    warnings = [one for one in words if one.text.startswith("Warning: Model metadata")]

    assert len(warnings) == len(told.transcript.turns)
    assert {one.mid for one in warnings} == {None}
    assert all("Warning" not in one.text for one in words if one.mid)


def test_errors_are_ordinary_ends() -> None:
    """401 alone is an error, -32000; what 500, 400 and a limit were is told in words and `_meta`."""
    told = recording("codex26-errors")
    ends = told.answers("session/prompt")

    assert ends[0]["error"]["code"] == -32000
    assert [one["result"]["stopReason"] for one in ends[1:6]] == ["end_turn"] * 5
    assert "codex" in json.dumps([one.get("_meta") for one in told.updates("session_info_update")])


def test_a_rejection_is_the_end_of_the_turn() -> None:
    """Whoever says no in a mode that asks has cancelled: the turn is interrupted, the tool over."""
    told = recording("codex26-askmode")
    outcomes = [turn.outcome for turn in told.transcript.turns]

    assert "cancelled" in [
        one["result"]["stopReason"] for one in told.answers("session/prompt") if "result" in one
    ]
    assert "interrupted" in outcomes
    assert not [tool for tool in told.entries(Tool) if tool.status in ("pending", "in_progress")]


def test_an_option_of_no_known_category_is_kept() -> None:
    """Libraries put nothing in its place; here it is as it came."""
    told = recording("codex26-modes")
    known = {"mode", "model", "thought_level", "model_config", None}
    sent = [
        option for one in told.updates("config_option_update") for option in one["configOptions"]
    ]

    assert {option.get("category") for option in sent} - known
    recorded = [
        event["payload"]["update"]["configOptions"]
        for event in told.events
        if event["type"] == "acp.session_update"
        and event["payload"]["update"]["sessionUpdate"] == "config_option_update"
    ]
    assert [option for options in recorded for option in options] == sent


def test_a_replay_says_completed_and_then_nothing() -> None:
    """An update without a status after the end leaves the status as it was."""
    told = recording("codex26-load")

    assert any("status" not in one for one in told.updates("tool_call_update"))
    assert {tool.status for tool in told.entries(Tool)} == {"completed", "failed"}
