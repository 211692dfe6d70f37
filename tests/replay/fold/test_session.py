"""The session itself: opening, mode, model, options, title, replays, gaps, ends."""

from __future__ import annotations

from replay import Info, System
from tests.replay.records import Log, all_of, only


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
