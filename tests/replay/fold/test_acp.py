"""ACP updates that are neither text, tool nor plan; and sessions told by the log alone."""

from __future__ import annotations

from typing import Any

import pytest

from replay import Error, Notice, System, Tool, Unknown
from tests.replay.records import Log, all_of, only, outline


@pytest.mark.parametrize(
    ("payload", "type_", "problem"),
    [
        ({"update": {"sessionUpdate": "future_thing", "a": {"b": [1]}}}, "future_thing", None),
        ({"update": {"a": 1}}, "acp.session_update", "no sessionUpdate"),
        ({"update": [1]}, "acp.session_update", "update is no object"),
        ({}, "acp.session_update", "update is no object"),
    ],
)
def test_an_update_that_nobody_knows_is_kept_whole(
    payload: dict[str, Any], type_: str, problem: str | None
) -> None:
    """R103; F: "anything else": an unknown entry with the payload whole."""
    log = Log()
    log.add("acp.session_update", **payload)

    entry = only(log.folded(), Unknown)
    assert (entry.type, entry.payload, entry.problem) == (type_, payload, problem)


def test_updates_that_are_known_are_not_unknown() -> None:
    """R103: usage, commands, mode, options and session info are state, not unknown entries."""
    log = Log()
    log.update("usage_update", used=1, size=2)
    log.update("available_commands_update", availableCommands=[])
    log.update("current_mode_update", currentModeId="x")
    log.update("config_option_update", configOptions=[])
    log.update("session_info_update", title="t")

    assert all_of(log.folded(), Unknown) == []


def test_a_notice_is_an_entry_each_time() -> None:
    """F: "notice": each its own, no key."""
    log = Log()
    for _ in range(2):
        log.update("notice", severity="warning", title="Slow", description="The model is busy.")

    entries = all_of(log.folded(), Notice)
    assert [(entry.level, entry.text) for entry in entries] == [
        ("warning", "Slow\nThe model is busy.")
    ] * 2


def test_a_compaction_has_one_place() -> None:
    """F: "compaction_update / _summary_chunk": one system entry per id, place fixed by first."""
    log = Log()
    text = {"type": "text", "text": "What "}
    log.update("compaction_update", compactionId="c", status="in_progress")
    log.says("meanwhile")
    log.update("compaction_summary_chunk", compactionId="c", content=text)
    log.update("compaction_summary_chunk", compactionId="c", content={**text, "text": "happened"})
    going_on = only(log.folded(), System)
    log.update("compaction_update", compactionId="c", status="completed")

    transcript = log.folded()
    assert (going_on.text, going_on.done) == ("What happened", False)
    assert outline(transcript) == [("system", "What happened"), ("agent", "meanwhile")]
    assert only(transcript, System).done


def test_a_compaction_that_failed_says_why() -> None:
    """F: "compaction_update / _summary_chunk": the error is its text."""
    log = Log()
    log.update("compaction_update", compactionId="c", status="failed", error="no room")

    assert only(log.folded(), System).text == "no room"


def test_an_agent_of_version_2_says_itself_whether_it_works() -> None:
    """F: "state_update (v2)"; R117: running, requires_action, idle with a stop reason."""
    log = Log("x", protocol=2)
    log.update("state_update", state="running")
    running = log.folded().status
    log.update("state_update", state="requires_action")
    waiting = log.folded().status
    log.update("state_update", state="idle", stopReason="cancelled")

    transcript = log.folded()
    assert (running, waiting, transcript.status) == ("running", "waiting", "idle")
    assert transcript.turns[0].outcome == "interrupted"


def test_multica_tells_errors_and_answers_in_updates() -> None:
    """F: "error_message, askuserquestion_response (Multica)"; F: "answers (G-3)"."""
    log = Log("claude-agent-acp")
    log.call("t", title="Which?", _meta={"claudeCode": {"toolName": "AskUserQuestion"}})
    log.update("askuserquestion_response", toolCallId="t", response={"selectedOption": "Red"})
    log.update("askuserquestion_response", toolCallId="u", response="x")
    log.update("error_message", content="Unauthorized")

    transcript = log.folded()
    assert (only(transcript, Tool).answer, only(transcript, Tool).status) == ("Red", "completed")
    assert only(transcript, Unknown).problem == "no such tool"
    assert only(transcript, Error).hint == "claude login"


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        ({"selectedOptions": ["a", "b"], "selectedOption": "c"}, "a, b"),
        ({"customText": "own words"}, "own words"),
        ({"answers": [{"answer": "first"}]}, "first"),
        ({}, "Answered"),
    ],
)
def test_an_answer_is_read_in_multicas_order(response: dict[str, Any], shown: str) -> None:
    """F: "answers (G-3)": options joined, option, text, first answer, "Answered"."""
    log = Log()
    log.call("t")
    log.update("askuserquestion_response", toolCallId="t", response=response)

    assert only(log.folded(), Tool).answer == shown


def test_everything_a_person_did_is_in_the_log() -> None:
    """R066: prompts, steering, interrupts, answers, titles, modes and errors come from records."""
    log = Log(modes={"currentModeId": "a"})
    prompt = log.prompt("Go")
    log.add("prompt.corrected", kind="steer", text="Left")
    log.permission("t")
    log.picks("yes")
    log.update("current_mode_update", currentModeId="b")
    log.update("session_info_update", title="A walk")
    log.add("turn.interrupted", by="client")
    log.add("prompt.finished", prompt=prompt, error={"code": 1, "message": "stopped"})

    transcript = log.folded()
    assert [entry.kind for entry in transcript.entries] == [
        "user",
        "user",
        "tool",
        "ask",
        "system",
        "interrupt",
        "error",
    ]
    assert transcript.title == "A walk"


def test_a_log_read_on_from_a_cut_turn_is_idle_at_its_end() -> None:
    """R049: the end of a turn that a client missed is in what it reads on; nothing still runs."""
    log = Log()
    prompt = log.prompt()
    log.call("t", status="in_progress")
    cut = log.folded()
    log.patch("t", status="completed")
    log.ends(prompt)

    transcript = log.folded()
    assert (cut.status, transcript.status) == ("running", "idle")
    assert only(transcript, Tool).status == "completed"


def test_one_message_id_in_two_turns_is_two_messages() -> None:
    """R016: identical ids in different turns stay apart, in the order of the log."""
    log = Log()
    for word in ("one", "two"):
        prompt = log.prompt(word)
        log.says(f"re: {word}", "same-id")
        log.ends(prompt)

    assert outline(log.folded()) == [
        ("user", "one"),
        ("agent", "re: one"),
        ("user", "two"),
        ("agent", "re: two"),
    ]
