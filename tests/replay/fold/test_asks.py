"""Questions to the user: approvals, clarify with locks, forms, secrets, and late answers."""

from __future__ import annotations

from typing import Any

import pytest

from replay import EMPTY, Ask, Option, Tool, Unknown, fold
from tests.replay.records import CLAUDE, Log, only

APPROVAL = {
    "session_id": "s",
    "request_id": "b69f",
    "command": "rm -rf build",
    "description": "delete in root path",
    "choices": ["once", "session", "always", "deny"],
}
QUESTIONS = {
    "session_id": "s",
    "questions": [
        {"qid": "q0", "question": "Which database?", "choices": ["SQLite", "DuckDB"]},
        {"qid": "q1", "question": "Which features?", "choices": ["a"], "multi_select": True},
    ],
}


def asked(method: str, params: dict[str, Any]) -> Log:
    log = Log()
    log.prompt()
    log.add("request.opened", id="srq-1", method=method, params=params)
    return log


def test_an_approval_is_a_question_with_its_choices() -> None:
    """F: "request.opened": approval, with command, reason and choices; the session waits."""
    log = asked("approval", APPROVAL)
    open_ = log.folded()
    log.add("request.answered", id="srq-1", method="approval", result={"choice": "once"}, by="tui")

    done = log.folded()
    ask = only(done, Ask)
    assert (open_.status, done.status) == ("waiting", "running")
    assert (ask.what, ask.title, ask.text) == ("approval", "delete in root path", "rm -rf build")
    assert [option.id for option in ask.questions[0].options] == APPROVAL["choices"]
    assert (ask.state, ask.questions[0].answer, ask.by) == ("answered", ("once",), "tui")


def test_a_clarify_is_one_block_with_its_tool() -> None:
    """F: "clarify tool + clarify request": the question points to the tool that runs."""
    log = Log()
    log.prompt()
    log.add("tool.start", tool_id="t", name="clarify", args={"questions": []})
    log.add("request.opened", id="srq-1", method="clarify", params=QUESTIONS)
    answers = {"answers": {"q0": "DuckDB", "q1": None}}
    log.add("request.answered", id="srq-1", method="clarify", result=answers)

    transcript = log.folded()
    ask = only(transcript, Ask)
    first, second = ask.questions
    assert ask.tool == only(transcript, Tool).id
    assert (first.text, first.answer, first.skipped) == ("Which database?", ("DuckDB",), False)
    assert first.options == (
        Option(id="SQLite", label="SQLite"),
        Option(id="DuckDB", label="DuckDB"),
    )
    assert (second.multiple, second.answer, second.skipped) == (True, (), True)


def test_a_form_is_its_fields() -> None:
    """F: "request.opened": elicitation/create of claude's AskUserQuestion, linked to its tool."""
    log = Log(CLAUDE)
    log.prompt()
    log.call("t", _meta={"claudeCode": {"toolName": "AskUserQuestion"}})
    choices = [{"const": "Red", "title": "Red — warm"}, {"const": "Blue", "title": "Blue — cool"}]
    schema = {
        "type": "object",
        "properties": {
            "q": {"type": "string", "title": "Colour", "oneOf": choices},
            "many": {"type": "array", "items": {"enum": ["x", "y"]}},
            "free": {"type": "string", "description": "Anything else"},
        },
    }
    log.add(
        "request.opened",
        id="srq-1",
        method="elicitation/create",
        params={"message": "Which?", "toolCallId": "t", "requestedSchema": schema},
    )
    given = {"action": "accept", "content": {"q": "Red", "many": ["x", "y"]}}
    log.add("request.answered", id="srq-1", result=given)

    transcript = log.folded()
    ask = only(transcript, Ask)
    colour, many, free = ask.questions
    assert (ask.title, ask.tool, ask.answer) == ("Which?", only(transcript, Tool).id, "accept")
    assert (colour.text, colour.options[0].label, colour.answer) == (
        "Colour",
        "Red — warm",
        ("Red",),
    )
    assert (many.multiple, many.answer) == (True, ("x", "y"))
    assert (free.text, free.options, free.answer) == ("Anything else", (), ())


@pytest.mark.parametrize("method", ["sudo", "secret", "vault.code", "display.install.sudo"])
def test_a_secret_never_stands_in_a_transcript(method: str) -> None:
    """P-33; F: "request.answered": even from a log that wrongly holds it, the value is not taken."""
    log = asked(method, {"session_id": "s", "env_var": "TOKEN", "prompt": "Token?"})
    log.add("request.answered", id="srq-1", method=method, result={"value": "hunter2"})
    log.add("request.late", id="srq-1", value="hunter2")
    log.add("request.answered", id="srq-9", method=method, result={"value": "hunter2"})

    transcript = log.folded()
    ask = only(transcript, Ask)
    assert (ask.state, ask.answer, ask.late_answers) == ("answered", "redacted", ("redacted",))
    assert "hunter2" not in repr(transcript)


def test_a_secret_that_was_not_given_is_skipped() -> None:
    """F: "request.answered": an empty answer to a secret request is "skipped"."""
    log = asked("sudo", {"session_id": "s", "command": "apt install x"})
    log.add("request.answered", id="srq-1", method="sudo", result={"value": ""})

    ask = only(log.folded(), Ask)
    assert (ask.text, ask.answer) == ("apt install x", "skipped")


def test_a_bridge_is_asked_by_its_method() -> None:
    """F: "request.opened": terminal.read and its like are questions with that `what`."""
    log = asked("terminal.read", {"session_id": "s", "start": 3})
    log.add("request.answered", id="srq-1", result={"value": "three lines"})

    ask = only(log.folded(), Ask)
    assert (ask.what, ask.text, ask.answer) == ("terminal.read", '{"start":3}', "three lines")


def test_a_question_that_was_opened_again_is_the_same() -> None:
    """F: "request.opened"; R087: a known id has no effect, above all not on a settled one."""
    log = asked("approval", APPROVAL)
    log.add("request.answered", id="srq-1", result={"choice": "once"})
    before = log.folded()
    log.add("request.opened", id="srq-1", method="approval", params=APPROVAL)

    after = log.folded()
    assert after.entries == before.entries
    assert after.status == "running"


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("timeout", "expired"),
        ("resolved", "resolved"),
        ("interrupted", "withdrawn"),
        ("agent_gone", "withdrawn"),
    ],
)
def test_a_question_ends_as_its_cancel_says(reason: str, state: str) -> None:
    """F: "request.cancel"; R077: timeout, resolved and withdrawn are told apart."""
    log = asked("approval", APPROVAL)
    log.add("request.cancel", id="srq-1", method="approval", reason=reason)

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.reason) == (state, reason)


def test_an_answer_after_the_end_is_late() -> None:
    """F: "request withdrawn, then answered": it stays withdrawn; the late answer is noted (R082)."""
    log = asked("approval", APPROVAL)
    log.add("request.cancel", id="srq-1", method="approval", reason="interrupted")
    log.add("request.answered", id="srq-1", result={"choice": "always"})
    log.add("request.late", id="srq-1", value={"choice": "deny"})
    log.add("request.cancel", id="srq-1", method="approval", reason="timeout")

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.reason) == ("withdrawn", "interrupted")
    assert ask.late_answers == ({"choice": "always"}, {"choice": "deny"})


def test_a_turn_that_ends_withdraws_its_question() -> None:
    """F: "turn ends with open ask / tool": withdrawn, "turn ended"."""
    log = Log()
    prompt = log.prompt()
    log.permission("t")
    log.ends(prompt)

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.reason) == ("withdrawn", "turn ended")


def test_a_question_of_no_turn_outlives_a_turn() -> None:
    """F: "turn ends with open ask / tool": a turn withdraws its own questions only."""
    log = Log()
    log.add("request.opened", id="srq-1", method="approval", params=APPROVAL)
    log.ends(log.prompt())

    assert only(log.folded(), Ask).state == "open"
    assert log.folded().status == "waiting"


def test_an_error_is_no_answer() -> None:
    """F: "request.answered": an error fails the question, with its message."""
    log = asked("approval", APPROVAL)
    log.add("request.answered", id="srq-1", error={"code": -32603, "message": "crashed"})

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.reason) == ("failed", "crashed")


def test_clients_that_decline_are_counted() -> None:
    """P-29: the question goes on waiting for another client."""
    log = asked("approval", APPROVAL)
    log.add("request.declined", id="srq-1", code=-32601)

    ask = only(log.folded(), Ask)
    assert (ask.declined, ask.state) == (1, "open")


def test_approvals_are_withdrawn_by_the_ids_of_their_queue() -> None:
    """F: "approval.cancelled": its ids are the approvals' own, not those of the requests."""
    log = asked("approval", APPROVAL)
    log.add("approval.cancelled", request_ids=["b69f"], reason="session_closed", cancelled_count=1)

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.reason) == ("withdrawn", "session_closed")


@pytest.mark.parametrize("type_", ["request.cancel", "request.answered", "request.locked"])
def test_an_event_about_no_known_question_is_shown(type_: str) -> None:
    """F: "request.cancel": an unknown id is an unknown entry (F-L6)."""
    log = Log()
    log.add(type_, id="srq-0", question_id="q")

    assert only(log.folded(), Unknown).problem == "no such request"


def test_no_resolved_question_ever_shows_as_open_while_a_log_is_read() -> None:
    """R087: of twenty settled requests and one open, the open one is the one that waits."""
    log = Log()
    log.prompt()
    for n in range(20):
        log.permission(f"t{n}", f"srq-{n}")
        log.picks("yes", f"srq-{n}")
    log.permission("last", "srq-last")

    transcript = fold(EMPTY, log.records)
    open_ = [e.ask_id for e in transcript.entries if isinstance(e, Ask) and e.state == "open"]
    assert open_ == ["srq-last"]
    assert transcript.status == "waiting"
