"""Prompts and turns: how they start, wait, end, are refused, are interrupted."""

from __future__ import annotations

import pytest

from replay import Agent, Error, Interrupt, Notice, Tool, Unknown, User
from tests.replay.records import CODEX, Log, all_of, only, outline


def test_a_prompt_starts_a_turn_and_its_answer_ends_it() -> None:
    """F: "prompt.submitted", "prompt.finished": end_turn is complete, with what was used."""
    log = Log()
    prompt = log.prompt("Hi", ref="r-1")
    log.says("Hello")
    open_ = log.folded()
    log.ends(prompt, usage={"totalTokens": 7})

    done = log.folded()
    (turn,) = done.turns
    assert (open_.status, open_.turns[0].outcome) == ("running", "open")
    assert (done.status, turn.outcome, turn.usage) == ("idle", "complete", {"totalTokens": 7})
    assert (turn.n, turn.started, turn.ended, turn.prompts) == (1, 1, 3, ("e1",))
    assert only(done, User).ref == "r-1"


def test_tokens_are_found_where_gemini_has_them() -> None:
    """F: "prompt.finished": usage of a turn, also in `_meta.quota`."""
    log = Log("gemini-cli")
    prompt = log.prompt()
    log.ends(prompt, _meta={"quota": {"token_count": {"input_tokens": 3}}})

    assert log.folded().turns[0].usage == {"input_tokens": 3}


@pytest.mark.parametrize(
    ("stop", "outcome", "warned"),
    [
        ("end_turn", "complete", False),
        ("refusal", "refusal", True),
        ("max_tokens", "max_tokens", True),
        ("max_turn_requests", "max_turn_requests", True),
        ("bored", "complete", True),
    ],
)
def test_a_turn_ends_as_its_stop_reason_says(
    stop: str,
    outcome: str,
    *,
    warned: bool,
) -> None:
    """F: "prompt.finished"; R077: each stop reason is an outcome; what is unusual has a notice."""
    log = Log()
    log.ends(log.prompt(), stop)

    transcript = log.folded()
    assert transcript.turns[0].outcome == outcome
    assert bool(all_of(transcript, Notice)) is warned


def test_a_refusal_removes_nothing() -> None:
    """F: "refusal": the turn is marked, and all of it stays."""
    log = Log()
    prompt = log.prompt("Do harm")
    log.says("I can")
    log.ends(prompt, "refusal")

    assert outline(log.folded())[:2] == [("user", "Do harm"), ("agent", "I can")]


def test_a_failed_turn_keeps_what_was_said() -> None:
    """F: "failed turn": all streamed entries stay; the error stands after them."""
    log = Log()
    prompt = log.prompt("Go")
    log.says("Let me")
    log.add("prompt.finished", prompt=prompt, error={"code": 500, "message": "terminated"})

    transcript = log.folded()
    assert outline(transcript) == [("user", "Go"), ("agent", "Let me"), ("error", "terminated")]
    assert transcript.turns[0].outcome == "error"
    assert only(transcript, Error).code == "500"


def test_two_queued_prompts_wait_in_their_places() -> None:
    """F: "two prompts queued": both as queued; the next Hermes turn answers both."""
    log = Log()
    log.prompt("first")
    log.says("working")
    log.prompt("second")
    log.prompt("third")
    log.add("message.complete", text="working", status="complete")
    log.add("message.start")

    transcript = log.folded()
    first, second, third = all_of(transcript, User)
    assert (first.queued, second.queued, third.queued) == (False, True, True)
    assert (second.turn, second.for_turn, third.for_turn) == (1, 2, 2)
    assert transcript.turns[1].prompts == (second.id, third.id)


def test_a_queued_acp_prompt_starts_its_own_turn() -> None:
    """F: "prompt.started": of two that wait, each is answered in a turn of its own."""
    log = Log()
    first, second, third = log.prompt("1"), log.prompt("2"), log.prompt("3")
    log.ends(first)
    log.add("prompt.started", prompt=second)
    log.says("two")
    log.ends(second)
    log.add("prompt.started", prompt=third)

    transcript = log.folded()
    assert [turn.prompts for turn in transcript.turns] == [("e1",), ("e2",), ("e3",)]
    assert [turn.outcome for turn in transcript.turns] == ["complete", "complete", "open"]
    assert only(transcript, Agent).turn == 2


def test_a_prompt_that_runs_already_does_not_start_again() -> None:
    """F: "prompt.started": said of the prompt whose turn runs, it changes nothing."""
    log = Log()
    log.add("prompt.started", prompt=log.prompt())

    assert len(log.folded().turns) == 1


def test_a_queued_prompt_that_ends_before_it_starts_has_a_turn() -> None:
    """F: "prompt.finished": cancelled while it waited, it is answered in a turn of its own."""
    log = Log()
    first, second = log.prompt("1"), log.prompt("2")
    log.ends(first, "cancelled")
    log.ends(second, "cancelled")

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["interrupted", "interrupted"]
    assert transcript.turns[1].prompts == ("e2",)


def test_an_internal_prompt_is_hidden() -> None:
    """F: "prompt.submitted with `internal`": hidden, counted, and no turn of its own (G-3)."""
    log = Log()
    log.prompt("visible")
    internal = log.prompt("The user chose: Red", internal=True)
    log.ends(internal)
    log.says("Red it is")

    transcript = log.folded()
    hidden = all_of(transcript, User)[1]
    assert (hidden.hidden, hidden.internal, len(transcript.turns)) == (True, True, 1)
    assert transcript.status == "running"
    assert transcript.ephemeral["prompt.submitted (internal)"] == 1


def test_a_rejected_prompt_touches_no_other_turn() -> None:
    """F: "prompt.rejected": the entry is marked, the turn that runs goes on."""
    log = Log()
    log.prompt("one")
    queued = log.prompt("two")
    log.add("prompt.rejected", prompt=queued, error={"code": 4009, "message": "busy"})
    log.says("still here")

    transcript = log.folded()
    assert [entry.rejected for entry in all_of(transcript, User)] == [None, "busy"]
    assert transcript.status == "running"
    log.add("message.complete", text="still here")
    log.add("message.start")
    assert log.folded().turns[1].prompts == ()


def test_a_prompt_that_was_never_taken_is_shown_as_rejected() -> None:
    """F: "prompt.rejected": content instead of a number is a prompt that never was one."""
    log = Log()
    content = [{"type": "text", "text": "x"}]
    log.add("prompt.rejected", content=content, error={"message": "session not found"})

    transcript = log.folded()
    assert only(transcript, User).rejected == "session not found"
    assert transcript.turns == ()


def test_the_only_prompt_of_a_turn_takes_it_along_when_rejected() -> None:
    """F: "prompt.rejected": a turn whose prompt nobody took does not stay open."""
    log = Log()
    log.add("prompt.rejected", prompt=log.prompt(), error={"message": "busy"})

    assert [turn.outcome for turn in log.folded().turns] == ["error"]


@pytest.mark.parametrize("kind", ["steer", "redirect"])
def test_a_correction_goes_into_the_turn_that_runs(kind: str) -> None:
    """F: "prompt.corrected": a user entry, no change of turn."""
    log = Log()
    log.prompt("Go")
    log.add("prompt.corrected", kind=kind, text="Left, not right")

    transcript = log.folded()
    entry = all_of(transcript, User)[1]
    assert (entry.correction, entry.queued, entry.turn) == (kind, False, 1)
    assert len(transcript.turns) == 1


def test_what_the_agent_says_after_an_interrupt_is_taken() -> None:
    """F: "turn.interrupted": open tools are aborted, late text and updates still count."""
    log = Log()
    prompt = log.prompt("Go")
    log.call("t", status="in_progress")
    log.says("Line 0")
    log.add("turn.interrupted", by="client", reason="wrong branch")
    aborted = only(log.folded(), Tool).status
    log.says("Line 1")
    log.patch("t", status="completed")
    log.ends(prompt, "cancelled")

    transcript = log.folded()
    assert aborted == "aborted"
    assert only(transcript, Tool).status == "completed"
    assert [entry.text for entry in all_of(transcript, Agent)] == ["Line 0", "Line 1"]
    assert only(transcript, Interrupt).by == "client"
    assert transcript.turns[0].outcome == "interrupted"


def test_a_cancelled_turn_has_an_interrupt() -> None:
    """F: "prompt.finished": cancelled without an interrupt on record gets one (codex rejects)."""
    log = Log(CODEX)
    log.ends(log.prompt(), "cancelled")

    assert only(log.folded(), Interrupt).turn == 1


def test_an_interrupt_without_a_turn_is_counted() -> None:
    """F: "turn.interrupted": no open turn: counted."""
    log = Log()
    log.add("turn.interrupted", by="client")

    transcript = log.folded()
    assert (transcript.entries, transcript.ephemeral) == ((), {"turn.interrupted": 1})


def test_a_second_end_ends_nothing() -> None:
    """F-L3: the first end of a turn counts; the second is only noted."""
    log = Log()
    prompt = log.prompt()
    log.ends(prompt)
    log.ends(prompt, "cancelled")

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["complete"]
    assert [diagnosis.problem for diagnosis in transcript.diag] == ["a second end of a turn"]


@pytest.mark.parametrize("type_", ["prompt.finished", "prompt.started", "prompt.rejected"])
def test_an_event_about_no_known_prompt_is_shown(type_: str) -> None:
    """F-L6: it lands in an unknown entry that says so."""
    log = Log()
    log.add(type_, prompt=77)

    assert only(log.folded(), Unknown).problem == "no such prompt"


def test_an_imported_user_message_is_a_prompt() -> None:
    """F: "prompt.submitted (imported: user_message)": a list, one block, or a string (Multica)."""
    log = Log()
    log.add("user_message", content=[{"type": "text", "text": "a"}])
    log.add("user_message", content={"type": "text", "text": "b"})
    log.add("user_message", content="c")

    assert [entry.text for entry in all_of(log.folded(), User)] == ["a", "b", "c"]


# -- who is signed in ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "error", "hint"),
    [
        (CODEX, {"code": -32000, "message": "x"}, "codex auth"),
        ("OpenCode", {"code": 1, "message": "Login required!"}, "opencode auth"),
        ("a/claude-agent-acp", {"code": 1, "message": "x", "data": {"errorType": "auth"}}, "claude login"),
        ("claude-agent-acp", {"code": -32603, "message": "Internal error: Invalid API key", "data": {"errorKind": "authentication_failed"}}, "claude login"),
        ("gemini-cli", {"code": 401, "message": '{"status":"UNAUTHENTICATED"}'}, "Please authenticate"),
        ("new", {"code": -32000, "message": "x", "data": {"authCommand": "new login"}}, "new login"),
    ],
)  # fmt: skip
def test_an_error_of_sign_in_says_what_to_do(
    agent: str, error: dict[str, object], hint: str
) -> None:
    """F: "Auth": the given command, else the agent's, else a sentence."""
    log = Log(agent)
    log.add("prompt.finished", prompt=log.prompt(), error=error)

    entry = only(log.folded(), Error)
    assert (entry.cls, entry.hint) == ("auth", hint)


def test_another_error_has_no_hint() -> None:
    """F: "Auth": a server error is none; its details are kept beside the message."""
    log = Log()
    failure = {"code": -32603, "message": "Internal error", "data": {"details": "no startswith"}}
    log.add("prompt.finished", prompt=log.prompt(), error=failure)

    entry = only(log.folded(), Error)
    assert (entry.cls, entry.hint, entry.detail) == ("other", None, "no startswith")
