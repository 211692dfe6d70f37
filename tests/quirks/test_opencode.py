"""Habits of opencode 1.18.33, recorded for these tests, and what becomes of them."""

from __future__ import annotations

import json

from replay import Agent, Ask, Tool
from tests.quirks.recording import recording

CAPTURE = "opencode-day"


def test_a_call_begins_with_next_to_nothing() -> None:
    """A tool's name for a title, a folder for an input; then the real ones, and at last another
    title: the row has the last of each."""
    told = recording(CAPTURE)
    shell = next(tool for tool in told.entries(Tool) if tool.tkind == "execute")
    first, *_ = told.updates("tool_call")

    assert (first["title"], first["rawInput"]) == ("bash", {"cwd": "/home/user/project"})
    assert shell.title == "echo one; sleep 1; echo two; touch made"
    assert shell.input["command"] == shell.title
    assert shell.status == "completed"


def test_output_grows() -> None:
    """Each update has all of the output so far: it takes the place of what there was."""
    told = recording(CAPTURE)
    shell = next(tool for tool in told.entries(Tool) if tool.tkind == "execute")
    sent = [
        one["content"][0]["content"]["text"]
        for one in told.updates("tool_call_update")
        if one["toolCallId"] == shell.tool_id and "content" in one
    ]

    assert sent[:3] == ["one\n", "one\ntwo\n", "one\ntwo\n"]
    assert [piece.text.text for piece in shell.content if piece.text] == ["one\ntwo\n"]


def test_a_question_stands_between_two_frames_of_its_call() -> None:
    """It says `pending` of a call that is in progress: the call does not go back."""
    told = recording(CAPTURE)
    asked = told.calls("session/request_permission")[0]["toolCall"]

    assert asked["status"] == "pending"
    statuses = [
        one["status"] for one in told.updates() if one.get("toolCallId") == asked["toolCallId"]
    ]
    assert statuses[:3] == ["pending", "in_progress", "in_progress"]
    assert {ask.state for ask in told.entries(Ask)} == {"answered"}
    assert {tool.status for tool in told.entries(Tool)} == {"completed"}


def test_what_was_allowed_is_written_by_the_client() -> None:
    """P-35: the agent asks, and then has its client write: the call is in the log, with what it
    wrote."""
    told = recording(CAPTURE)
    (written,) = [
        event["payload"]["params"]
        for event in told.events
        if event["type"] == "acp.call" and event["payload"]["method"] == "fs/write_text_file"
    ]

    assert written["content"] == "Grüße, 世界\n"
    edit = next(tool for tool in told.entries(Tool) if tool.tkind == "edit")
    assert edit.title == "home/user/project/written.txt"  # without its first stroke


def test_words_come_late_into_a_cancelled_turn() -> None:
    """P-37: what comes between the cancel and the answer is taken; the turn is interrupted."""
    told = recording(CAPTURE)
    cancelled = told.transcript.turns[3]
    kinds = [event["type"] for event in told.events]
    cancel = kinds.index("turn.interrupted")

    assert cancelled.outcome == "interrupted"
    assert "acp.session_update" in kinds[cancel : kinds.index("prompt.finished", cancel)]
    words = "".join(entry.text for entry in told.entries(Agent) if entry.turn == 4).split()
    assert words == [word for number in range(len(words) // 2) for word in ("tick", str(number))]


def test_a_fork_tells_all_again_with_the_same_ids() -> None:
    """Under the new id, before that is named by the answer (P-36): it is a replay, in a session of its
    own, and calls of one id in two sessions are two."""
    parent, fork = recording(CAPTURE), recording(CAPTURE, number=2)
    opened = fork.events[0]["payload"]
    replays = [e["payload"] for e in fork.events if e["type"] == "acp.replay"]

    assert (fork.events[0]["type"], opened["method"]) == ("session.opened", "session/fork")
    assert opened["parent"]["session_id"].endswith("-1")
    assert [one["state"] for one in replays] == ["started", "finished"]
    ids = [tool.tool_id for tool in fork.entries(Tool)]
    assert ids == [tool.tool_id for tool in parent.entries(Tool)]
    assert {tool.status for tool in fork.entries(Tool)} == {"completed"}
    words = json.dumps([entry.text for entry in fork.entries(Agent)])
    assert words.count("Hello from the script.") == 2
