"""Hermes's events: streaming, interim messages, the final answer, notices, sub-agents."""

from __future__ import annotations

from typing import Any

import pytest

from replay import (
    Agent,
    Error,
    Interrupt,
    Notice,
    Subagent,
    System,
    Terminal,
    Thought,
    Tool,
    Unknown,
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


# -- reconciling -----------------------------------------------------------------------------------


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


# -- tools -----------------------------------------------------------------------------------------


def tool(log: Log, tool_id: str = "t", **members: Any) -> None:
    log.add("tool.complete", tool_id=tool_id, name="terminal", **members)


def test_a_tool_starts_and_completes() -> None:
    """F: "tool.start / tool.complete": input from args, output from result."""
    log = started()
    log.add("tool.start", tool_id="t", name="terminal", context="ls", args={"command": "ls"})
    working = only(log.folded(), Tool).status
    tool(log, result={"output": "a", "exit_code": 0, "error": None}, duration_s=0.25, summary="1")

    entry = only(log.folded(), Tool)
    assert (working, entry.status, entry.name, entry.title) == (
        "in_progress",
        "completed",
        "terminal",
        "ls",
    )
    assert (entry.input, entry.output["output"]) == ({"command": "ls"}, "a")
    assert (entry.duration_s, entry.exit_code, entry.summary) == (0.25, 0, "1")


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"error": "no such file"}, "no such file"),
        ({"success": False}, None),
        ({"exit_code": 3, "error": None}, None),
        ({"error": {"code": 1}}, None),
    ],
)
def test_a_tool_fails_as_its_result_says(result: dict[str, Any], error: str | None) -> None:
    """F: "tool.start / tool.complete": failed when result has error, success=false, exit code."""
    log = started()
    tool(log, result=result)

    entry = only(log.folded(), Tool)
    assert (entry.status, entry.error, entry.orphan) == ("failed", error, True)


def test_the_same_id_again_is_the_next_occurrence() -> None:
    """F: "Occurrence": tool.start for a closed id, also in the same turn."""
    log = started()
    for _ in range(2):
        log.add("tool.start", tool_id="t", name="x")
        tool(log, result="r")

    assert [entry.occ for entry in all_of(log.folded(), Tool)] == [1, 2]


def test_a_second_completion_is_ignored_filled_in_or_apart() -> None:
    """F: "Occurrence": same output ignored, missing output filled in, another one an orphan."""
    log = started()
    tool(log)
    tool(log, result="r")
    tool(log, result="r")
    tool(log, result="other")

    entries = all_of(log.folded(), Tool)
    assert [(entry.occ, entry.output) for entry in entries] == [(1, "r"), (2, "other")]


def test_output_is_the_text_where_there_is_no_result() -> None:
    """F: "tool.start / tool.complete": output from result, else result_text."""
    log = started()
    tool(log, result_text="shown")

    assert only(log.folded(), Tool).output == "shown"


def test_a_bridged_tool_has_the_name_of_its_label() -> None:
    """F: "Name, kind, title": Hermes name is labels[].text when bridged."""
    log = started()
    label = {"kind": "mcp", "app": "gh", "action": "a", "emoji": "", "text": "GitHub", "name": "x"}
    log.add("tool.start", tool_id="t", name="mcp_call", labels=[label])

    entry = only(log.folded(), Tool)
    assert (entry.name, entry.labels) == ("GitHub", ("GitHub",))


def test_a_risk_is_on_its_tool() -> None:
    """F: "tool.output_risk": risk on the tool; without one it is shown as it came."""
    log = started()
    log.add("tool.start", tool_id="t", name="fetch")
    log.add(
        "tool.output_risk", tool_id="t", name="fetch", risk="high", findings=["x"], redacted=True
    )
    log.add("tool.output_risk", tool_id="u", name="fetch", risk="high", findings=[], redacted=False)

    transcript = log.folded()
    assert only(transcript, Tool).risk == {"risk": "high", "findings": ["x"], "redacted": True}
    assert only(transcript, Unknown).problem == "no such tool"


def test_processes_write_to_terminals() -> None:
    """F: "agent.terminal.output / terminal.close": terminal by process id."""
    log = started()
    log.add("agent.terminal.output", process_id="p", chunk="a\n")
    log.add("agent.terminal.output", process_id="p", chunk="b\n")
    log.add("terminal.close", process_id="p")

    assert log.folded().terminals == (Terminal(id="p", output="a\nb\n", closed=True),)


# -- beside the conversation -----------------------------------------------------------------------


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


def test_a_reaction_to_a_row_nobody_knows_is_shown() -> None:
    """F: "message.reaction": unknown, as Hermes's row ids stand in no record."""
    log = Log()
    log.add("message.reaction", row_id=3, reactions=[], role="user")

    assert only(log.folded(), Unknown).type == "message.reaction"


# -- sub-agents ------------------------------------------------------------------------------------


def sub(log: Log, kind: str, **members: Any) -> None:
    log.add(f"subagent.{kind}", goal="Look", task_count=1, task_index=0, **members)


def test_a_subagent_is_one_entry() -> None:
    """F: "subagent.*": upsert by id; tools, notes and thinking grow; the end sticks."""
    log = started()
    sub(log, "spawn_requested", subagent_id="a", model="m", depth=1)
    sub(log, "start", subagent_id="a", status="running")
    sub(log, "thinking", subagent_id="a", text="hmm")
    sub(log, "tool", subagent_id="a", tool_name="search", tool_preview="sleep")
    sub(log, "progress", subagent_id="a", text="half way")
    sub(log, "complete", subagent_id="a", status="completed", summary="Two more")
    sub(log, "progress", subagent_id="a", status="running", text="late")

    entry = only(log.folded(), Subagent)
    assert (entry.status, entry.summary, entry.goal) == ("completed", "Two more", "Look")
    assert (entry.tools, entry.notes, entry.thinking) == (
        ("search sleep",),
        ("half way", "late"),
        3,
    )
    assert not entry.orphan


def test_a_subagent_without_a_start_is_an_orphan() -> None:
    """F: "subagent.*": update before start; without an id, task and goal tell them apart."""
    log = started()
    sub(log, "progress", text="x")
    sub(log, "complete", status="failed")

    entry = only(log.folded(), Subagent)
    assert (entry.orphan, entry.status, entry.key) == (True, "failed", "0 Look")
