"""What the agent says that the user said, and whole messages of ACP 2."""

from __future__ import annotations

import pytest

from replay import EMPTY, Agent, System, User, fold
from tests.replay.records import Log, all_of, only, outline


@pytest.mark.parametrize("parts", [["Do it"], ["Do", " i", "t"], ["", "Do it"]])
def test_an_echo_of_the_prompt_is_no_message(parts: list[str]) -> None:
    """F: "user_message_chunk": an echo, whole or in chunks, lends the prompt its id (F-L5)."""
    log = Log()
    log.prompt("Do it")
    for part in parts:
        log.told(part, "u1")
    log.says("Done")

    entry = only(log.folded(), User)
    assert (entry.text, entry.mid) == ("Do it", "u1")


@pytest.mark.parametrize("parts", [["Do that"], ["Do", " that"], ["Do that", ""]])
def test_what_begins_like_the_prompt_may_be_another_message(parts: list[str]) -> None:
    """F-L5: however it is cut, a message that only begins like the prompt is shown."""
    log = Log()
    log.prompt("Do it")
    for part in parts:
        log.told(part)
    log.says("Done")

    assert outline(log.folded()) == [("user", "Do it"), ("user", "Do that"), ("agent", "Done")]


def test_half_an_echo_is_a_message() -> None:
    """F-L6: a user message that is the beginning of the prompt is not lost."""
    log = Log()
    log.prompt("yes please")
    log.told("yes")
    log.says("Done")

    assert [entry.text for entry in all_of(log.folded(), User)] == ["yes please", "yes"]


def test_a_user_message_without_a_turn_starts_one() -> None:
    """F: "user_message_chunk": it starts a turn if none runs."""
    log = Log()
    log.told("from another window")
    log.says("Hello")

    transcript = log.folded()
    assert [turn.prompts for turn in transcript.turns] == [("e1",)]
    assert [entry.turn for entry in transcript.entries] == [1, 1]


# -- ACP 2 -----------------------------------------------------------------------------------------


def test_a_whole_message_replaces_its_chunks() -> None:
    """F: "user/agent_message, agent_thought (v2)"; R117: other parts are superseded."""
    log = Log(agent="x", protocol=2)
    log.says("dra", "m")
    log.call()
    log.says("ft", "m")
    log.update("agent_message", messageId="m", content=[{"type": "text", "text": "final"}])

    first, second = all_of(log.folded(), Agent)
    assert (first.text, first.superseded) == ("final", False)
    assert (second.text, second.superseded) == ("ft", True)


@pytest.mark.parametrize("content", [None, []])
def test_null_or_empty_content_clears_a_message(content: list[object] | None) -> None:
    """F: "user/agent_message, agent_thought (v2)": null and [] clear, omitted changes nothing."""
    log = Log(agent="x", protocol=2)
    log.says("text", "m")
    log.update("agent_message", messageId="m")
    before = only(log.folded(), Agent).text
    log.update("agent_message", messageId="m", content=content)

    assert before == "text"
    assert only(log.folded(), Agent).text == ""


def test_a_whole_message_may_come_first() -> None:
    """R117: a v2 message that no chunk announced stands where it came."""
    log = Log(agent="x", protocol=2)
    log.update("user_message", messageId="u", content=[{"type": "text", "text": "Hi"}])
    log.update("agent_message", messageId="m", content=[{"type": "text", "text": "Hello"}])

    assert outline(log.folded()) == [("user", "Hi"), ("agent", "Hello")]


def test_a_snapshot_holds_entries_that_never_change() -> None:
    """F-L1: a transcript that was taken is a value; what comes later makes new entries."""
    log = Log()
    log.says("one")
    before = log.folded()
    after = fold(before, Log().records)
    log.says(" two")
    later = fold(EMPTY, log.records)

    assert only(before, Agent).text == only(after, Agent).text == "one"
    assert only(later, Agent).text == "one two"
    assert not all_of(later, System)
