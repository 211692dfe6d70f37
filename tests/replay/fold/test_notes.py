"""What stands beside the conversation: compaction, notices, lines."""

from __future__ import annotations

import pytest

from replay import Agent, Notice, System, Unknown, User, dump, fold, load, render_text
from tests.replay.records import Log, all_of, only


@pytest.mark.parametrize("kind", ["compacting", "compressing"])
def test_a_compaction_is_one_line(kind: str) -> None:
    """F: "status.update": compacting/compressing and compacted are one system entry."""
    log = Log()
    log.add("status.update", kind=kind, text="Compacting…")
    going_on = only(log.folded(), System).done
    log.add("status.update", kind="compacted", text="Compacted 9 messages")
    log.add("status.update", kind=kind, text="Compacting…")

    first, second = all_of(log.folded(), System)
    assert (going_on, first.done, first.text) == (False, True, "Compacted 9 messages")
    assert (second.tag, second.done) == ("compaction", False)


def test_a_status_is_a_line_a_notice_or_counted() -> None:
    """F: "status.update": goal and process lines; warn and error notices; others counted."""
    log = Log()
    for kind in ("goal", "process", "warn", "error", "lifecycle"):
        log.add("status.update", kind=kind, text=kind)

    transcript = log.folded()
    assert [entry.tag for entry in all_of(transcript, System)] == ["goal", "process"]
    assert [entry.level for entry in all_of(transcript, Notice)] == ["warn", "error"]
    assert transcript.ephemeral == {"status.update": 1}


def test_notifications_are_counted_and_cleared_by_key() -> None:
    """F: "notification.show / clear": same key and text count; clear marks all of that key."""
    log = Log()

    def show(text: str) -> None:
        log.add("notification.show", text=text, level="warn", kind="x", key="k")

    show("low disk")
    show("low disk")
    show("no disk")
    log.add("notification.clear", key="k")
    show("low disk")

    entries = all_of(log.folded(), Notice)
    assert [(entry.text, entry.times, entry.cleared) for entry in entries] == [
        ("low disk", 2, True),
        ("no disk", 1, True),
        ("low disk", 1, False),
    ]


def test_background_work_is_a_line() -> None:
    """F: "background.complete, btw.complete, review.summary": system entries."""
    log = Log()
    log.add("background.complete", task_id="1", text="done", question="tidy up")
    log.add("btw.complete", task_id="2", text="by the way")
    log.add("review.summary", text="Memory updated")
    log.add("browser.progress", message="loading", level="info")
    log.add("connection.update", target="mail", to="connected")

    assert [(entry.tag, entry.text) for entry in all_of(log.folded(), System)] == [
        ("background", "tidy up\ndone"),
        ("btw", "by the way"),
        ("review", "Memory updated"),
        ("browser", "loading"),
        ("connection", "mail → connected"),
    ]


def test_reactions_stand_on_the_message_that_they_are_about() -> None:
    """F: "message.reaction": the end of a turn numbers its prompt and its answer; the last word on
    a message's reactions holds, also after the fold was dumped and loaded."""
    log = Log()
    log.add("message.start", input="Is it done?")
    log.add("message.delta", text="It is.")
    kept = {"row_ids": [1, 2, 3], "complete": True, "user_row_id": 1, "final_assistant_row_id": 3}
    log.add("message.complete", text="It is.", status="complete", persisted_turn=kept)
    before = load(dump(log.folded()))
    heart, thumb = {"emoji": "❤", "author": "user"}, {"emoji": "👍", "author": "agent", "at": 1.5}
    log.add("message.reaction", row_id=3, reactions=[heart], role="assistant")
    log.add("message.reaction", row_id=1, reactions=[heart, thumb], role="user")
    log.add("message.reaction", row_id=3, reactions=[], role="assistant")
    after = log.folded()

    assert only(after, Agent).reactions == ()
    assert [(one.emoji, one.author) for one in only(after, User).reactions] == [
        ("❤", "user"),
        ("👍", "agent"),
    ]
    assert fold(before, log.records[3:]) == after
    assert "› you · ❤ user · 👍 agent" in render_text(after)


def test_a_reaction_to_a_row_nobody_knows_is_shown() -> None:
    """F: "message.reaction": unknown if no record has told of that row."""
    log = Log()
    log.add("message.reaction", row_id=3, reactions=[], role="user")

    assert only(log.folded(), Unknown).type == "message.reaction"
