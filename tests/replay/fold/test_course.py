"""The course of a session: replays, ends, gaps, forks, rewinding."""

from __future__ import annotations

import pytest

from replay import Agent, Ask, Error, Gap, Interrupt, System, Tool, User
from tests.replay.records import Log, all_of, only, outline


def test_a_replay_is_turns_that_are_over() -> None:
    """F: "acp.replay started/finished": a new user entry ends one turn and begins the next."""
    log = Log()
    log.add("acp.replay", method="session/load", state="started")
    log.told("one")
    log.says("1")
    log.told("two")
    log.says("2")
    running = log.folded().status
    log.add("acp.replay", method="session/load", state="finished")
    log.prompt("three")

    transcript = log.folded()
    assert outline(transcript) == [
        ("user", "one"),
        ("agent", "1"),
        ("user", "two"),
        ("agent", "2"),
        ("user", "three"),
    ]
    assert running == "idle"
    assert [(turn.outcome, turn.replayed) for turn in transcript.turns] == [
        ("complete", True),
        ("complete", True),
        ("open", False),
    ]
    assert [entry.turn for entry in transcript.entries] == [1, 1, 2, 2, 3]


def test_a_prompt_ends_a_replay_that_nobody_ended() -> None:
    """F: "acp.replay started/finished": it lasts to the next prompt, which is never queued by it."""
    log = Log()
    log.add("acp.replay", method="session/load", state="started")
    log.told("one")
    log.prompt("two")

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["complete", "open"]
    assert [entry.queued for entry in all_of(transcript, User)] == [False, False]


def test_a_replay_leaves_a_turn_that_runs_alone() -> None:
    """F: "acp.replay started/finished": its end ends what it began, not the turn of a prompt."""
    log = Log()
    log.prompt("live")
    log.add("acp.replay", method="session/resume", state="started")
    log.says("still here")
    log.add("acp.replay", method="session/resume", state="finished")

    assert [turn.outcome for turn in log.folded().turns] == ["open"]


def test_a_session_that_closes_in_a_replay_interrupts_nothing() -> None:
    """F: "acp.replay started/finished": turns of a replay are complete, whatever follows."""
    log = Log()
    log.add("acp.replay", method="session/load", state="started")
    log.told("one")
    log.add("session.closed", reason="client")

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["complete"]
    assert all_of(transcript, Interrupt) == []


def test_what_a_replay_dropped_is_counted() -> None:
    """F: "acp.replay started/finished": dropped updates are counted (R121)."""
    log = Log()
    log.add("acp.replay", method="session/load", state="started")
    dropped = {"count": 37, "sha256": "ab"}
    log.add("acp.replay", method="session/load", state="finished", dropped=dropped)

    assert log.folded().ephemeral == {"acp.replay": 2, "acp.replay dropped": 37}


# -- ends ------------------------------------------------------------------------------------------


def test_an_agent_that_is_gone_ends_its_turn_with_an_error() -> None:
    """F: "agent.exited"; P-38: questions withdrawn, tools aborted, an error that says so."""
    log = Log()
    log.prompt()
    log.permission("t")
    log.add("agent.exited", code=137, signal="SIGKILL")

    transcript = log.folded()
    assert only(transcript, Error).text == "The agent's process ended (code 137, signal SIGKILL)"
    assert only(transcript, Tool).status == "aborted"
    assert (only(transcript, Ask).state, only(transcript, Ask).reason) == (
        "withdrawn",
        "agent gone",
    )
    assert (transcript.turns[0].outcome, transcript.status) == ("error", "idle")


def test_an_idle_agent_may_go() -> None:
    """F: "agent.exited": between turns it is only counted."""
    log = Log()
    log.add("agent.exited", reason="gateway_restarted")

    transcript = log.folded()
    assert (transcript.entries, transcript.ephemeral) == ((), {"agent.exited": 1})


def test_the_end_of_a_prompt_after_its_agent_is_gone_is_no_second_end() -> None:
    """P-40: agent.exited, then prompt.finished with an error, is one error and one end."""
    log = Log()
    prompt = log.prompt()
    log.add("agent.exited", reason="gateway_restarted")
    log.add("prompt.finished", prompt=prompt, error={"code": 5035, "message": "gone"})

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["error"]
    assert len(all_of(transcript, Error)) == 1


def test_closing_interrupts_a_turn() -> None:
    """F: "session.closed": an open turn is interrupted; the session is closed until it reopens."""
    log = Log()
    log.prompt()
    log.add("session.closed", reason="client")
    closed = log.folded()
    log.add("session.opened", agent={"name": "x"})

    assert (closed.status, closed.turns[0].outcome) == ("closed", "interrupted")
    assert only(closed, Interrupt).turn == 1
    assert log.folded().status == "idle"


def test_a_reclaimed_session_is_closed() -> None:
    """F: "session.title, session.usage, session.control.update, session.reclaimed"."""
    log = Log()
    log.add("session.title", title="T", session_id="s")
    log.add("session.usage", usage={"total": 3})
    log.add("session.control.update", control={})
    log.add("session.reclaimed", reason="idle_timeout", session_id="s", stored_session_id="s")

    transcript = log.folded()
    assert (transcript.title, transcript.usage, transcript.status) == ("T", {"total": 3}, "closed")
    assert only(transcript, System).text == "reclaimed: idle_timeout"


# -- gaps, forks, rewinding ------------------------------------------------------------------------


def test_a_gap_is_shown() -> None:
    """F: "log.gap": an entry with what is known of the loss; the text before it is sealed."""
    log = Log()
    log.says("one")
    log.add("log.gap", lost=5, first=2, last=6, reason="disk full")
    log.says("two")

    transcript = log.folded()
    gap = only(transcript, Gap)
    assert (gap.lost, gap.begin, gap.end, gap.reason) == (5, 2, 6, "disk full")
    assert [entry.text for entry in all_of(transcript, Agent)] == ["one", "two"]


def test_numbers_that_are_missing_are_a_gap() -> None:
    """F: "duplicate seq / gap / out of order": a hole in the numbers is shown where it is."""
    log = Log()
    for word in "abcd":
        log.says(word)
    del log.records[1:3]

    transcript = log.folded()
    assert [entry.kind for entry in transcript.entries] == ["agent", "gap", "agent"]
    gap = only(transcript, Gap)
    assert (gap.id, gap.lost, gap.begin, gap.end) == ("e4", 2, 2, 3)
    assert transcript.entries[2].id == "e4.1"


def test_a_fork_says_where_it_came_from() -> None:
    """F: "log.forked, session.rewound": a system entry."""
    log = Log()
    log.add("log.forked", **{"from": {"session_id": "s-1", "seq": 40}})

    transcript = log.folded()
    assert only(transcript, System).text == "forked from s-1 at 40"
    assert transcript.info.parent == "s-1"


def test_a_cut_branch_is_superseded_and_kept() -> None:
    """F: "rewind / fork": later entries of the cut branch are superseded, none is removed."""
    log = Log()
    first = log.prompt("one")
    log.ends(first)
    second = log.prompt("two")
    log.says("2")
    log.ends(second)
    log.add("session.rewound", by="client", to_seq=second - 1)
    log.prompt("three")

    transcript = log.folded()
    assert [entry.superseded for entry in all_of(transcript, User)] == [False, True, False]
    assert only(transcript, Agent).superseded
    assert only(transcript, System).tag == "rewind"


@pytest.mark.parametrize("payload", [{"to_seq": "x"}, {}])
def test_a_rewind_to_nowhere_changes_nothing(payload: dict[str, object]) -> None:
    """F-L8: it is shown, and no entry is superseded."""
    log = Log()
    log.prompt("one")
    log.add("session.rewound", **payload)

    transcript = log.folded()
    assert not only(transcript, User).superseded
    assert transcript.entries[-1].kind == "unknown"
