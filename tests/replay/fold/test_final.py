"""The end of a Hermes turn: steps 1 to 5 of fold.md, failures, second ends."""

from __future__ import annotations

import pytest

from replay import (
    Agent,
    Error,
    Interrupt,
    Notice,
)
from tests.replay.records import Log, all_of, only, outline


def started(text: str = "Go") -> Log:
    log = Log()
    log.prompt(text)
    log.add("message.start")
    return log


def says(log: Log, *parts: str) -> None:
    for part in parts:
        log.add("message.delta", text=part)


@pytest.mark.parametrize("final", ["", None, " \n "])
def test_an_empty_answer_keeps_the_stream(final: str | None) -> None:
    """F: "Reconcile final F", step 1."""
    log = started()
    says(log, "streamed")
    log.add("message.complete", text=final)

    entry = only(log.folded(), Agent)
    assert (entry.text, entry.edited) == ("streamed", False)


@pytest.mark.parametrize("final", ["Look. Found.", "Look.\n\nFound.", "Found.", " Found. "])
def test_an_answer_that_was_streamed_is_confirmed(final: str) -> None:
    """F: "Reconcile final F", step 2: equal to all, to the tail, or to the last message."""
    log = started()
    says(log, "Look. ")
    log.add("tool.start", tool_id="t", name="x")
    says(log, "Found.")
    log.add("message.complete", text=final)

    entries = all_of(log.folded(), Agent)
    assert [entry.text for entry in entries] == ["Look. ", "Found."]
    assert entries[-1].confirmed


def test_an_answer_that_repeats_what_came_before_is_stripped_of_it() -> None:
    """F: "Reconcile final F", step 3: earlier entries that the final repeats are not shown twice."""
    log = started()
    says(log, "Let me look.")
    log.add("message.interim", text="Let me look.")
    log.add("tool.start", tool_id="t", name="x")
    log.add("message.complete", text="Let me look.\n\nIt is 4.")

    assert [entry.text for entry in all_of(log.folded(), Agent)] == ["Let me look.", "It is 4."]


def test_only_whole_words_are_stripped() -> None:
    """F: "Reconcile final F", step 3: "Do" is no part of "Done"."""
    log = started()
    says(log, "Do")
    log.add("tool.start", tool_id="t", name="x")
    log.add("message.complete", text="Done")

    assert [entry.text for entry in all_of(log.folded(), Agent)] == ["Do", "Done"]


def test_an_answer_that_goes_on_extends_the_tail() -> None:
    """F: "Reconcile final F", step 4: not `edited` if the final only continues it."""
    log = started()
    says(log, "It is")
    log.add("message.complete", text="It is 4.")

    entry = only(log.folded(), Agent)
    assert (entry.text, entry.edited, entry.draft) == ("It is 4.", False, None)


def test_an_answer_that_differs_replaces_the_tail() -> None:
    """F: "Reconcile final F", step 4: the first gets it, with its draft; others are superseded."""
    log = started()
    says(log, "It is 5")
    log.add("reasoning.delta", text="No.")
    says(log, "It is 5")
    log.add("message.complete", text="It is 4")

    first, second = all_of(log.folded(), Agent)
    assert (first.text, first.edited, first.draft) == ("It is 4", True, "It is 5")
    assert second.superseded


def test_an_answer_without_a_tail_is_a_message() -> None:
    """F: "Reconcile final F", step 5."""
    log = started()
    log.add("tool.start", tool_id="t", name="x")
    log.add("message.complete", text="It is 4")

    assert outline(log.folded()) == [("user", "Go"), ("tool", ""), ("agent", "It is 4")]


def test_a_rendered_answer_counts_where_there_is_no_text() -> None:
    """F: "Reconcile final F": text if string, else rendered without ANSI."""
    log = started()
    log.add("message.complete", text=None, rendered="\x1b[1mBold\x1b[0m")

    assert only(log.folded(), Agent).text == "Bold"


def test_a_failed_answer_is_an_error_alone() -> None:
    """F: "Reconcile final F": status error: not an agent text, only an error entry."""
    log = started()
    says(log, "Let me")
    log.add(
        "message.complete",
        status="error",
        text="The key was refused. See Settings.",
        error="HTTP 401",
        error_surface={"layer": "auth", "code": "auth", "retryable": False},
    )

    transcript = log.folded()
    error = only(transcript, Error)
    assert only(transcript, Agent).text == "Let me"
    assert (error.text, error.detail) == ("HTTP 401", "The key was refused. See Settings.")
    assert (error.cls, error.surface, error.retryable) == ("auth", "auth", False)
    assert transcript.turns[0].outcome == "error"


def test_a_partial_answer_is_reconciled_and_then_an_error() -> None:
    """F: "Reconcile final F": partial: steps 1 to 5, then the error."""
    log = started()
    says(log, "cut off in the m")
    log.add("message.complete", status="error", partial=True, text="cut off in the mid", error="!")

    transcript = log.folded()
    assert outline(transcript)[1:] == [("agent", "cut off in the mid"), ("error", "!")]


def test_an_interrupted_answer_has_an_interrupt() -> None:
    """F: "Reconcile final F": interrupted: steps 1 to 5, and an interrupt entry if none."""
    log = started()
    says(log, "Once upon")
    log.add("message.complete", text=None, status="interrupted")

    transcript = log.folded()
    assert only(transcript, Interrupt).turn == 1
    assert (only(transcript, Agent).text, transcript.turns[0].outcome) == (
        "Once upon",
        "interrupted",
    )


def test_a_second_end_only_confirms() -> None:
    """F: "complete twice": reconciled to confirmed, no second end."""
    log = started()
    log.add("message.complete", text="It is 4")
    log.add("message.complete", text="It is 4")

    transcript = log.folded()
    assert len(all_of(transcript, Agent)) == 1
    assert [turn.outcome for turn in transcript.turns] == ["complete"]


def test_an_error_told_twice_is_one() -> None:
    """F: "error event then error complete, same text": one error entry, times 2."""
    log = started()
    log.add("error", message="HTTP 500")
    running = log.folded().status
    log.add("message.complete", status="error", text="HTTP 500")

    transcript = log.folded()
    assert running == "running"
    assert (only(transcript, Error).times, transcript.turns[0].outcome) == (2, "error")


def test_a_warning_is_a_notice() -> None:
    """F: "message.complete": then warning notice."""
    log = started()
    log.add("message.complete", text="ok", warning="Context is nearly full")

    notice = only(log.folded(), Notice)
    assert (notice.level, notice.text) == ("warn", "Context is nearly full")
