"""Habits of gemini-cli 0.61, as recorded (facts of nine agents), and what becomes of them."""

from __future__ import annotations

import json

from replay import Ask, Error, Thought, Tool, User
from tests.quirks.recording import recording


def test_who_has_to_ask_tells_of_no_call() -> None:
    """P-35: the question is all that says what is to be done; an allowed one gets one more frame."""
    told = recording("gemini-tools")
    asked = [one["toolCall"]["toolCallId"] for one in told.calls("session/request_permission")]
    called = [one["toolCallId"] for one in told.updates("tool_call")]
    changed = [one["toolCallId"] for one in told.updates("tool_call_update")]

    alone = [id_ for id_ in asked if id_ not in called]
    assert alone
    assert any(id_ in changed for id_ in alone)
    rows = {tool.tool_id: tool for tool in told.entries(Tool)}
    for id_ in alone:
        assert rows[id_].title
        assert not rows[id_].orphan


def test_a_rejected_call_leaves_nothing_but_the_question() -> None:
    """The row that the question made says that it was rejected."""
    told = recording("gemini-reject")

    assert not told.updates("tool_call")
    assert not told.updates("tool_call_update")
    assert [tool.status for tool in told.entries(Tool)] == ["rejected", "rejected"]
    assert [ask.answer for ask in told.entries(Ask)] == ["Reject", "Reject"]


def test_error_codes_are_those_of_http() -> None:
    """A positive code of its own is told as it is; its message is JSON, and kept as text."""
    told = recording("gemini-errors")
    codes = [one["error"]["code"] for one in told.answers("session/prompt") if "error" in one]

    assert codes[:3] == [401, 400, 500]
    assert [entry.code for entry in told.entries(Error)][:3] == ["401", "400", "500"]
    assert json.loads(told.entries(Error)[0].text)["error"]["code"] == 401


def test_a_thought_comes_whole() -> None:
    """One chunk a thought, with its heading in bold."""
    told = recording("gemini-tools")
    sent = [one["content"]["text"] for one in told.updates("agent_thought_chunk")]

    assert all(text.startswith("**") for text in sent)
    assert [entry.text for entry in told.entries(Thought)] == sent


def test_tokens_stand_in_the_answer() -> None:
    """There are no usage updates: what a turn took is in its end's `_meta.quota`."""
    told = recording("gemini-hello")

    assert not told.updates("usage_update")
    assert all("quota" in one["result"]["_meta"] for one in told.answers("session/prompt"))
    ends = [e["payload"]["result"] for e in told.events if e["type"] == "prompt.finished"]
    assert all("quota" in one["_meta"] for one in ends)


def test_a_load_is_answered_before_it_is_done() -> None:
    """P-36: most of the replay comes behind the answer: it is a replay until the next prompt."""
    told = recording("gemini-load")

    assert len(list(told.after_answers("session/load"))) > 20
    marks = [
        (number, event["payload"]["state"])
        for number, event in enumerate(told.events)
        if event["type"] == "acp.replay"
    ]
    (begun, started), (over, finished) = marks
    assert (started, finished) == ("started", "finished")
    prompts = [n for n, event in enumerate(told.events) if event["type"] == "prompt.submitted"]
    assert prompts[0] == over + 1
    replayed = [e for e in told.events[begun:over] if e["type"] == "acp.session_update"]
    assert len(replayed) > 25


def test_a_replay_holds_what_nobody_said() -> None:
    """Its own context and the results of tools come back as the user's words: kept, as it tells."""
    told = recording("gemini-load")
    words = [entry.text for entry in told.entries(User)]

    assert words[0].startswith("<session_context>")
    assert any(text.startswith("[Function Response: read_file]") for text in words)


def test_reads_have_empty_content() -> None:
    """An empty list is content that is empty, and no fault."""
    told = recording("gemini-tools")
    reads = [tool for tool in told.entries(Tool) if tool.tkind == "read"]

    assert any(one.get("content") == [] for one in told.updates("tool_call"))
    assert reads
    assert all(tool.status in ("completed", "failed") for tool in reads)


def test_files_are_read_and_written_through_the_client() -> None:
    """P-35: what was read and written stands in calls and answers, and in no update."""
    told = recording("gemini-tools")
    calls = [e["payload"] for e in told.events if e["type"] == "acp.call"]
    methods = [one["method"] for one in calls if one["by"] == "agent"]

    assert methods.count("fs/read_text_file") == len(told.calls("fs/read_text_file")) > 0
    assert methods.count("fs/write_text_file") == len(told.calls("fs/write_text_file")) > 0
    results = [e["payload"] for e in told.events if e["type"] == "acp.result"]
    assert next(one["error"]["code"] for one in results if "error" in one) == -32002
