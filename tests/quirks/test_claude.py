"""Habits of claude-agent-acp 0.49, as recorded (facts of nine agents), and what becomes of them."""

from __future__ import annotations

from replay import Agent, Ask, Notice, Plan, Thought, Tool
from tests.quirks.recording import of_agent, recording


def test_a_call_is_four_frames_and_one_row() -> None:
    """A generic title first, the real one later; the result's shape in `_meta` alone; never
    `in_progress`: one tool with its last title, its input, its output and all of its `_meta`."""
    told = recording("claude049-tools")
    shell = next(tool for tool in told.entries(Tool) if tool.name == "Bash")
    frames = [one for one in told.updates() if one.get("toolCallId") == shell.tool_id]

    assert [one.get("status") for one in frames] == ["pending", None, None, "completed"]
    assert frames[0]["title"] == "Terminal" != shell.title
    assert frames[0]["rawInput"] == {}
    assert "toolResponse" in str(frames[2]["_meta"])
    assert "toolResponse" not in str(frames[3]["_meta"])
    assert shell.title == frames[1]["title"]
    assert shell.input == frames[1]["rawInput"]
    assert shell.status == "completed"
    assert "toolResponse" in shell.meta["claudeCode"]


def test_later_content_takes_the_place_of_earlier() -> None:
    """The description of a command is content first, and then its output is."""
    told = recording("claude049-tools")
    shell = next(tool for tool in told.entries(Tool) if tool.name == "Bash")
    frames = [one for one in told.updates() if one.get("toolCallId") == shell.tool_id]
    described = frames[1]["content"][0]["content"]["text"]

    assert described == frames[1]["rawInput"]["description"]
    assert described not in str(shell.content)
    assert "out line 1" in str(shell.content)


def test_one_id_for_a_thought_and_its_words() -> None:
    """A messageId is shared by the thought and the text of one message: they stay two entries."""
    told = recording("claude049-hello")
    thought, words = told.entries(Thought)[0], told.entries(Agent)[0]

    assert thought.mid == words.mid is not None
    assert thought.text
    assert words.text


def test_an_empty_chunk_opens_each_text() -> None:
    """Nobody sees an entry without words."""
    told = recording("claude049-hello")
    empty = [one for one in told.updates("agent_message_chunk") if not one["content"]["text"]]

    assert len(empty) >= 2
    assert all(entry.text for entry in told.entries(Agent))


def test_each_plan_is_sent_twice() -> None:
    """The same plan again is no new state of it."""
    told = recording("claude049-tools")
    sent = told.updates("plan")
    (plan,) = told.entries(Plan)

    assert len(sent) == 4
    assert [one["entries"] for one in sent][0::2] == [one["entries"] for one in sent][1::2]
    assert plan.revs == 2


def test_a_replayed_plan_is_empty() -> None:
    """On `session/load` plans come without entries: that clears the plan and adds no row of text."""
    told = recording("claude049-load")

    assert [one["entries"] for one in told.updates("plan")] == [[], []]
    assert all(not plan.items for plan in told.entries(Plan))


def test_cancelled_calls_stay_pending() -> None:
    """The agent never ends them: they are shown as aborted, and the log does not say it did."""
    told = recording("claude049-cancel")
    statuses = [one.get("status") for one in told.updates("tool_call_update")]

    assert "completed" not in statuses
    assert "failed" not in statuses
    assert [tool.status for tool in told.entries(Tool)] == ["aborted", "aborted"]


def test_errors_are_words_and_an_error() -> None:
    """401, 500 and 400 are told twice, as the agent's words and as the prompt's error."""
    told = recording("claude049-errors")
    codes = [one["error"]["code"] for one in told.answers("session/prompt") if "error" in one]

    assert codes[:3] == [-32603] * 3
    assert [turn.outcome for turn in told.transcript.turns[:3]] == ["error"] * 3


def test_a_refusal_is_one() -> None:
    """`refusal` is a stop reason, and a notice says so; a stream that broke is an ordinary end."""
    told = recording("claude049-errors")

    assert [turn.outcome for turn in told.transcript.turns].count("refusal") == 1
    assert "refused" in told.entries(Notice)[0].text
    assert told.transcript.turns[3].outcome == "complete"


def test_a_question_is_an_elicitation() -> None:
    """With the capability, AskUserQuestion is `elicitation/create`: a question with its answer."""
    told = recording("claude049-elicit")
    (asked,) = told.calls("elicitation/create")
    (question,) = [one for one in told.entries(Ask) if one.method == "elicitation/create"]

    assert asked["mode"] == "form"
    assert question.state == "answered"
    assert question.questions


def test_leaving_a_plan_is_a_permission_and_a_mode() -> None:
    """ExitPlanMode asks with modes for options; the mode is then told twice, in two ways."""
    told = recording("claude049-plan")
    (asked,) = told.calls("session/request_permission")

    assert asked["toolCall"]["kind"] == "switch_mode"
    assert {"default", "acceptEdits"} <= {option["optionId"] for option in asked["options"]}
    assert told.updates("current_mode_update")
    assert told.updates("config_option_update")
    assert told.transcript.mode == told.updates("current_mode_update")[-1]["currentModeId"]


def test_terminals_that_nobody_made() -> None:
    """A terminal's id is its tool's, its output stands in `_meta`: it is the tool's terminal."""
    told = recording("claude049-termmeta")
    with_terminals = [tool for tool in told.entries(Tool) if tool.terminals]

    assert not told.calls("terminal/create")
    assert with_terminals
    assert all(tool.terminals == (tool.tool_id,) for tool in with_terminals)
    outputs = {terminal.id: terminal.output for terminal in told.transcript.terminals}
    assert any("out line 1" in outputs[tool.tool_id] for tool in with_terminals)


def test_subagents_are_told_by_their_parent() -> None:
    """Nesting stands in `_meta.claudeCode.parentToolUseId` alone; output is a list there."""
    told = recording("claude049-misc")
    nested = [tool for tool in told.entries(Tool) if tool.parent]

    assert nested
    assert {tool.parent for tool in nested} <= {tool.tool_id for tool in told.entries(Tool)}
    assert any(isinstance(one.get("rawOutput"), list) for one in told.updates())


def test_nothing_comes_after_the_end_but_state() -> None:
    """In these recordings; a real one of another day had a chunk behind a cancelled end."""
    for told in of_agent("claude049"):
        assert set(told.after_answers("session/prompt")) <= {
            "usage_update",
            "available_commands_update",
        }
