"""What is said and thought: chunks, message ids, echoes, whole messages."""

from __future__ import annotations

import pytest

from replay import Agent, Block, Thought, User
from tests.replay.records import Log, all_of, only, outline


def test_chunks_of_a_kind_are_one_message() -> None:
    """F: "agent_message_chunk / agent_thought_chunk"; R097, R100: joined exactly as they came."""
    log = Log()
    log.prompt()
    for part in ("**Bo", "ld**\r\n", "``", "`\n x  "):
        log.says(part)

    assert only(log.folded(), Agent).text == "**Bold**\r\n```\n x  "


def test_every_character_of_a_text_may_be_a_chunk_of_its_own() -> None:
    """R100: char-sized chunks of Markdown give the text that one chunk gives."""
    text = "```py\nprint('**hi**')\r\n```\n\n- one  \n- twö 🚀\n"
    whole, cut = Log(), Log()
    whole.says(text)
    for character in text:
        cut.says(character)

    assert only(cut.folded(), Agent).text == only(whole.folded(), Agent).text == text


def test_text_thought_text_are_three_entries() -> None:
    """F: "text, thought, text"; R097: in the order in which they came, not sorted by kind."""
    log = Log()
    log.prompt("go")
    for say, part in ((log.thinks, "T1"), (log.thinks, "T2"), (log.says, "M1")):
        say(part)
    log.call(title="x")
    log.thinks("T3")
    log.says("M2")
    log.says("M3")

    assert outline(log.folded()) == [
        ("user", "go"),
        ("thought", "T1T2"),
        ("agent", "M1"),
        ("tool", ""),
        ("thought", "T3"),
        ("agent", "M2M3"),
    ]


def test_another_message_id_is_another_message() -> None:
    """R097: ids a, b in consecutive chunks make two messages."""
    log = Log()
    log.says("one", "a")
    log.says("two", "b")

    assert [entry.text for entry in all_of(log.folded(), Agent)] == ["one", "two"]


def test_a_chunk_without_id_is_not_of_a_message_that_has_one() -> None:
    """F: "agent_message_chunk / agent_thought_chunk": codex's warnings stay apart."""
    log = Log()
    log.says("Warning: fallback.\n\n")
    log.says("I'll read", "msg_1")
    log.says(" it.", "msg_1")
    log.says("Reconnecting")

    texts = [entry.text for entry in all_of(log.folded(), Agent)]
    assert texts == ["Warning: fallback.\n\n", "I'll read it.", "Reconnecting"]


def test_one_id_for_thought_and_text_are_two_entries() -> None:
    """F: "agent_message_chunk / agent_thought_chunk": the key is kind and id (claude)."""
    log = Log()
    log.thinks("Hm", "m")
    log.says("Yes", "m")

    transcript = log.folded()
    assert (only(transcript, Thought).part, only(transcript, Agent).part) == (1, 1)


def test_the_same_id_after_a_tool_is_the_next_part() -> None:
    """R097: a message that goes on after a boundary is a new entry, and no text is lost."""
    log = Log()
    log.says("before", "m")
    log.call()
    log.says("after", "m")

    first, second = all_of(log.folded(), Agent)
    assert [(first.text, first.part), (second.text, second.part)] == [("before", 1), ("after", 2)]


def test_a_thought_that_is_told_from_its_start_each_time_is_one_thought() -> None:
    """F: "cumulative chunks"; R099: only where the recorder names the quirk; never guessed."""
    named, guessed = Log("x", quirks=["cumulative_thought"]), Log("x")
    for log in (named, guessed):
        for text in ("a", "ab", "abc"):
            log.thinks(text)

    assert only(named.folded(), Thought).text == "abc"
    assert only(guessed.folded(), Thought).text == "aababc"


def test_an_empty_chunk_makes_nothing_and_parts_nothing() -> None:
    """R101: an empty chunk between two text chunks, of whatever kind and id, does not split."""
    log = Log()
    log.says("a", "m")
    log.says("", "m")
    log.thinks("", "other")
    log.says("b", "m")

    assert outline(log.folded()) == [("agent", "ab")]


def test_white_space_is_text() -> None:
    """R101: a chunk of white space is kept; whether to show it is the renderer's."""
    log = Log()
    log.thinks(" \n")

    assert only(log.folded(), Thought).text == " \n"


@pytest.mark.parametrize("beside", ["notice", "mode", "usage", "unknown", "patch", "internal"])
def test_what_stands_beside_the_conversation_does_not_part_it(beside: str) -> None:
    """F: "Not a boundary": notices, system lines, usage, unknown types, updates, hidden prompts."""
    log = Log(modes={"currentModeId": "a"})
    log.prompt()
    log.call()
    log.says("one ")
    match beside:
        case "notice":
            log.add("notice", message="careful")
        case "mode":
            log.update("current_mode_update", currentModeId="b")
        case "usage":
            log.update("usage_update", used=1, size=2)
        case "unknown":
            log.update("from_the_future")
        case "patch":
            log.patch(status="completed")
        case "internal":
            log.prompt("re-prompt", internal=True)
    log.says("message")

    assert only(log.folded(), Agent).text == "one message"


@pytest.mark.parametrize("between", ["tool", "plan", "ask", "error", "interrupt", "user", "gap"])
def test_a_boundary_ends_the_text(between: str) -> None:
    """F: "Boundary": creation of a tool, plan, question, error, interrupt, user message; a gap."""
    log = Log()
    log.prompt()
    log.says("one")
    match between:
        case "tool":
            log.call()
        case "plan":
            log.update("plan", entries=[{"content": "x"}])
        case "ask":
            log.add("request.opened", id="srq-1", method="clarify", params={"questions": []})
        case "error":
            log.add("error", message="no")
        case "interrupt":
            log.add("turn.interrupted", by="user")
        case "user":
            log.prompt("queued")
        case "gap":
            log.add("log.gap", lost=2)
    log.says("two")

    assert [entry.text for entry in all_of(log.folded(), Agent)] == ["one", "two"]


def test_a_character_cut_in_two_is_whole_again() -> None:
    """F: "lone surrogate": halves in two chunks are one character; a half alone stays one."""
    log = Log()
    log.says("go \ud83d")
    log.says("\ude80!")
    log.thinks("\ud83d alone")

    transcript = log.folded()
    assert only(transcript, Agent).text == "go 🚀!"
    assert only(transcript, Thought).text == "\ud83d alone"


def test_other_content_is_kept_without_its_bytes() -> None:
    """F: "images, audio, blobs": a block with mime, size and hash; no base64 in the state."""
    log = Log()
    log.says("Look: ")
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    log.update("agent_message_chunk", content=image)
    log.says("there")

    entry = only(log.folded(), Agent)
    (block,) = entry.blocks
    assert entry.text == "Look: there"
    assert (block.type, block.mime, block.size) == ("image", "image/png", 5)
    assert block.sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


def test_links_and_embedded_text_are_kept() -> None:
    """F: "resource link / embedded text": uri and name; the text of an embedded resource."""
    log = Log()
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 9}
    text = {"type": "resource", "resource": {"uri": "file:///b", "text": "words"}}
    log.add("prompt.submitted", content=[{"type": "text", "text": "See "}, link, text])

    entry = only(log.folded(), User)
    assert entry.text == "See "
    assert entry.blocks == (
        Block(type="resource_link", uri="file:///a", name="a", size=9),
        Block(type="resource", uri="file:///b", size=5, text="words"),
    )


def test_content_of_an_unknown_type_is_kept_whole() -> None:
    """F: "unknown content, status, level": kept; R115: so is an image that is no base64."""
    log = Log()
    log.update("agent_message_chunk", content={"type": "hologram", "depth": 3})
    log.update("agent_message_chunk", content={"type": "image", "data": "%%%", "mimeType": "x/y"})

    hologram, image = only(log.folded(), Agent).blocks
    assert hologram == Block(type="hologram", text='{"type":"hologram","depth":3}')
    assert image == Block(type="image", mime="x/y")


def test_text_outside_a_turn_is_late() -> None:
    """F: "deltas after complete": shown at the turn that has ended, marked as late."""
    log = Log()
    log.ends(log.prompt())
    log.says("by the way")

    entry = only(log.folded(), Agent)
    assert (entry.late, entry.turn) == (True, 1)


def test_late_text_that_the_turn_has_said_is_hidden() -> None:
    """F: "deltas after complete": hidden where the turn's own words contain it."""
    log = Log()
    prompt = log.prompt()
    log.says("All done, really.")
    log.ends(prompt)
    log.says("done, ")
    log.says("really.")

    assert [entry.hidden for entry in all_of(log.folded(), Agent)] == [False, True]


def test_text_before_any_turn_is_a_preamble() -> None:
    """F: "Entries before any turn have turn null"."""
    log = Log()
    log.says("Welcome")

    entry = only(log.folded(), Agent)
    assert (entry.turn, entry.late) == (None, False)


def test_in_a_replay_each_chunk_of_the_user_is_a_message() -> None:
    """ADR 0007; R120: gemini and kimi send messages without ids, each in one chunk."""
    log = Log("gemini-cli")
    log.add("acp.replay", method="session/load", state="started")
    log.told("<session_context>")
    log.told("Do it")
    link = {"type": "resource_link", "name": "a", "uri": "file:///a"}
    log.update("user_message_chunk", content=link)
    log.says("Done.")
    log.told("Again")
    log.add("acp.replay", method="session/load", state="finished")

    transcript = log.folded()
    assert outline(transcript) == [
        ("user", "<session_context>"),
        ("user", "Do it"),
        ("agent", "Done."),
        ("user", "Again"),
    ]
    assert [block.name for block in all_of(transcript, User)[1].blocks] == ["a"]
    assert [turn.prompts for turn in transcript.turns] == [("e3", "e4"), ("e7",)]
