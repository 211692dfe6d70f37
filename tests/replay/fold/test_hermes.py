"""Hermes's events: streaming, interim messages, the final answer, notices, sub-agents."""

from __future__ import annotations

from replay import (
    Agent,
    Thought,
    User,
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


def test_a_turn_of_hermes() -> None:
    """F: "message.start", "message.delta", "message.complete": one turn, the answer confirmed."""
    log = started("Hi")
    log.add("message.start")
    log.add("thinking.delta", text="(◕‿◕)")
    log.add("reasoning.delta", text="Simple.")
    says(log, "Hel", "lo")
    log.add("message.complete", text="Hello", status="complete", usage={"total": 3})

    transcript = log.folded()
    (turn,) = transcript.turns
    assert outline(transcript) == [("user", "Hi"), ("thought", "Simple."), ("agent", "Hello")]
    assert only(transcript, Agent).confirmed
    assert (turn.outcome, turn.usage, transcript.usage) == ("complete", {"total": 3}, {"total": 3})
    assert transcript.ephemeral == {"thinking.delta": 1}


def test_the_gateway_may_say_what_a_turn_answers() -> None:
    """F: "message.start": newer payloads carry the input; it is shown if no prompt record is."""
    log = Log()
    log.add("message.start", input={"text": "from the phone", "ref": "r"})
    log.add("message.complete", text="ok")
    log.prompt("from here", ref="r2")
    log.add("message.start", inputs=[{"text": "from here", "ref": "r2"}, {"text": "and there"}])

    transcript = log.folded()
    assert [entry.text for entry in all_of(transcript, User)] == [
        "from the phone",
        "from here",
        "and there",
    ]
    assert [len(turn.prompts) for turn in transcript.turns] == [1, 2]


def test_an_interim_message_is_sealed() -> None:
    """F: "message.interim": what was streamed becomes the interim text, and is closed."""
    log = started()
    says(log, "Let me look first. ")
    log.add("message.interim", text="Let me look first.", already_streamed=True)
    says(log, "Found it.")

    first, second = all_of(log.folded(), Agent)
    assert (first.text, first.interim, first.draft) == ("Let me look first.", True, None)
    assert (second.text, second.interim) == ("Found it.", False)


def test_an_interim_message_that_differs_keeps_the_draft() -> None:
    """F: "message.interim": tail text := interim text when different, draft kept."""
    log = started()
    says(log, "Let me lok")
    log.add("message.interim", text="Let me look")

    entry = only(log.folded(), Agent)
    assert (entry.text, entry.draft) == ("Let me look", "Let me lok")


def test_an_interim_message_settles_on_an_equal_one_or_is_new() -> None:
    """F: "message.interim": without a tail it settles on an equal last message, else is new."""
    log = started()
    says(log, "Looking.")
    log.add("tool.start", tool_id="t", name="ls")
    log.add("message.interim", text="Looking. ")
    log.add("message.interim", text="Something else")

    first, second = all_of(log.folded(), Agent)
    assert (first.interim, second.text, second.interim) == (True, "Something else", True)


def test_an_answer_told_as_a_thought_is_none() -> None:
    """F: "reasoning.available": nothing if the turn has a thought or says the same."""
    log = started()
    says(log, "The answer is **4**.")
    log.add("reasoning.available", text="The answer  is\n**4**.")
    log.add("reasoning.delta", text="Hm.")
    log.add("reasoning.available", text="Another thought")

    assert [entry.text for entry in all_of(log.folded(), Thought)] == ["Hm."]


def test_a_thought_that_turns_out_to_be_the_answer_is_superseded() -> None:
    """F: "reasoning.available": else a thought, superseded if the final later contains it."""
    log = started()
    log.add("reasoning.available", text="It is 4.")
    kept = only(log.folded(), Thought).superseded
    log.add("message.complete", text="It is 4. Done.")

    assert (kept, only(log.folded(), Thought).superseded) == (False, True)


def test_a_thought_beside_the_answer_stays() -> None:
    """F: "reasoning.available": two of 58 in the captures carry a thought."""
    log = started()
    log.add("reasoning.available", text="Add the numbers.")
    log.add("message.complete", text="It is 4.")

    assert not only(log.folded(), Thought).superseded


def test_the_thought_in_the_end_counts_only_without_another() -> None:
    """F: "Reconcile final F": `reasoning` used only when the turn has no thought."""
    log = started()
    log.add("message.complete", text="4", reasoning="2 and 2")
    log.add("message.start")
    log.add("reasoning.delta", text="streamed")
    log.add("message.complete", text="4", reasoning="again")

    assert [entry.text for entry in all_of(log.folded(), Thought)] == ["2 and 2", "streamed"]


def test_thoughts_of_reference_models_are_labelled() -> None:
    """F: "moa.reference": a thought with its place and model; the rest is counted."""
    log = started()
    log.add("moa.progress", label="x", refs_done=1, refs_total=2)
    log.add("moa.reference", label="opus", text="I'd say 4", index=1, count=2)

    transcript = log.folded()
    assert only(transcript, Thought).label == "reference 1/2 opus"
    assert transcript.ephemeral == {"moa.progress": 1}


def test_deltas_after_the_end_are_late() -> None:
    """F: "deltas after complete": late, and hidden where the answer says them already."""
    log = started()
    log.add("message.complete", text="All is well.")
    says(log, "All is", " well.")
    log.add("tool.start", tool_id="t", name="x")
    says(log, "But wait")

    answer, repeated, new = all_of(log.folded(), Agent)
    assert (answer.late, repeated.late, repeated.hidden) == (False, True, True)
    assert (new.late, new.hidden, new.turn) == (True, False, 1)
