"""The session itself: opening, mode, model, options, title, replays, gaps, ends."""

from __future__ import annotations

import pytest

from replay import Agent, Ask, Error, Gap, Info, Interrupt, System, Tool, User
from tests.replay.records import Log, all_of, only, outline


def test_what_is_known_of_a_session_is_merged() -> None:
    """F: "session.opened, session.info": a later record adds to what is known."""
    log = Log(
        "codex-acp",
        source={"kind": "hosted", "name": "codex"},
        cwd="/srv/shop",
        protocol=1,
        parent={"session_id": "p", "seq": 3},
        quirks=["cumulative_thought"],
    )
    log.add("session.info", model="m", provider="custom", branch="main", title="A title")

    transcript = log.folded()
    assert transcript.info == Info(
        agent="codex-acp",
        source="hosted",
        name="codex",
        protocol="1",
        model="m",
        provider="custom",
        cwd="/srv/shop",
        branch="main",
        parent="p",
        quirks=("cumulative_thought",),
    )
    assert transcript.title == "A title"


def test_a_change_of_mode_is_a_line() -> None:
    """F: "current_mode_update, config_option_update": a line when a known value changes."""
    log = Log(modes={"currentModeId": "default"})
    log.update("current_mode_update", currentModeId="plan")
    log.update("current_mode_update", currentModeId="plan")

    transcript = log.folded()
    assert transcript.mode == "plan"
    assert [(entry.tag, entry.text) for entry in all_of(transcript, System)] == [
        ("mode", "default → plan")
    ]


def test_a_mode_that_was_not_known_has_no_name() -> None:
    """F: "current_mode_update, config_option_update": the first mode told is a change too."""
    log = Log()
    log.update("current_mode_update", currentModeId="ask")

    assert only(log.folded(), System).text == "— → ask"


def test_an_option_that_stands_for_the_mode_is_no_second_line() -> None:
    """F: "current_mode_update, config_option_update": claude tells of a change of mode twice."""
    mode = {"id": "mode", "category": "mode", "currentValue": "default"}
    effort = {"id": "effort", "category": "thought_level", "currentValue": "low"}
    log = Log(modes={"currentModeId": "default"}, config_options=[mode, effort])
    log.update("current_mode_update", currentModeId="plan")
    changed = [{**mode, "currentValue": "plan"}, {**effort, "currentValue": "high"}]
    log.update("config_option_update", configOptions=changed)

    transcript = log.folded()
    assert transcript.config == {"mode": "plan", "effort": "high"}
    assert [entry.text for entry in all_of(transcript, System)] == [
        "default → plan",
        "effort low → high",
    ]


def test_a_change_of_model_after_the_first_is_a_line() -> None:
    """F: "session.opened, session.info": model change after first = system."""
    log = Log()
    for model in ("a", "a", "b"):
        log.add("session.info", model=model)

    transcript = log.folded()
    assert transcript.info.model == "b"
    assert [(entry.tag, entry.text) for entry in all_of(transcript, System)] == [("model", "a → b")]


def test_one_of_two_names_of_a_model_counts() -> None:
    """F: "session.opened, session.info": codex names it `gpt[medium]` and `gpt` in one breath."""
    option = {"id": "model", "category": "model", "currentValue": "gpt"}
    log = Log(models={"currentModelId": "gpt[medium]"}, config_options=[option])

    transcript = log.folded()
    assert (transcript.info.model, transcript.entries) == ("gpt", ())


def test_titles_commands_and_use_are_state() -> None:
    """F: "session_info_update", "usage_update", "available_commands_update": no entry; R103."""
    log = Log()
    log.update("session_info_update", title="One", updatedAt="now")
    log.update("available_commands_update", availableCommands=[{"name": "compact"}])
    log.update("usage_update", used=3, size=9, cost={"amount": 1, "currency": "USD"})
    log.update("usage_update", used=None, size=9)
    log.update("session_info_update", _meta={"codex": {"threadStatus": {"type": "idle"}}})
    known = log.folded()
    log.update("session_info_update", title=None)

    assert (known.title, known.commands, known.entries) == ("One", ("compact",), ())
    assert known.usage == {"used": 3, "size": 9, "cost": {"amount": 1, "currency": "USD"}}
    assert known.ephemeral == {"session_info_update": 1}
    assert log.folded().title is None


# -- Hermes's session.info -------------------------------------------------------------------------


def test_a_sign_of_idleness_settles_a_turn() -> None:
    """F: "session.opened, session.info": running=false; the real end replaces it."""
    log = Log()
    log.prompt()
    log.add("message.start")
    log.says("Hi")
    log.add("session.info", running=False)
    settled = log.folded()
    log.add("message.complete", text="Hi", status="interrupted")

    assert (settled.turns[0].outcome, settled.status) == ("settled", "idle")
    assert log.folded().turns[0].outcome == "interrupted"


def test_the_trailing_info_of_the_turn_before_ends_nothing() -> None:
    """F: "session.opened, session.info": a turn that shows no sign of the agent goes on."""
    log = Log()
    log.prompt()
    log.add("session.info", running=False)
    log.add("message.start")

    transcript = log.folded()
    assert [turn.outcome for turn in transcript.turns] == ["open"]


# -- an agent's own replay -------------------------------------------------------------------------


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
