"""ACP: the updates of a session, one row an update type (fold.md, ACP table).

Above this module: `fold`. Below it: `text`, `tools`, `plans`, `terminals`, `session`, `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import Agent, Thought, User
from replay.fold import plans, shape, terminals, tools
from replay.fold.blocks import content_of, text_or_block
from replay.fold.draft import Draft
from replay.fold.notes import error, notice, system, unknown
from replay.fold.session import change_mode, read_options, take_options
from replay.fold.shape import Misshapen, Payload
from replay.fold.step import Step
from replay.fold.strings import joined
from replay.fold.text import attach, replace_message, say, unsaid, user_chunk
from replay.fold.turns import finish_as, finish_turn, start_turn
from replay.pieces import Block


def session_update(draft: Draft, payload: Payload) -> None:
    """Take one update of the agent, by its type."""
    update = payload.get("update")
    if type(update) is not dict:
        raise Misshapen("update is no object")
    kind = update.get("sessionUpdate")
    if type(kind) is not str:
        raise Misshapen("no sessionUpdate")
    step = UPDATES.get(kind)
    if step is None:
        unknown(draft, kind, payload)
    else:
        step(draft, update)


_CUMULATIVE: Final = "cumulative_thought"
"""The quirk of an agent that sends all of a thought again with each chunk (R099)."""


# -- text ----------------------------------------------------------------------------------------


def _chunk(kind: type[Agent | Thought]) -> Step:
    def chunk(draft: Draft, update: Payload) -> None:
        mid = update.get("messageId")
        if mid is not None and type(mid) is not str:
            raise Misshapen("messageId is no string")
        content = update.get("content")
        if type(content) is dict and content.get("type") == "text":
            text = content.get("text")
            if type(text) is not str:
                text = shape.text(content, "text")
            if kind is Thought and _CUMULATIVE in draft.info.quirks:
                text = unsaid(draft, kind, text, mid)
            say(draft, kind, text, mid)
            return
        part = text_or_block(content)
        assert isinstance(part, Block)  # noqa: S101 - text has been taken above
        attach(draft, kind, part, mid)

    return chunk


def _user_chunk(draft: Draft, update: Payload) -> None:
    mid = shape.maybe_text(update, "messageId")
    user_chunk(draft, text_or_block(update.get("content")), mid)


def _message(kind: type[Agent | Thought | User]) -> Step:
    def message(draft: Draft, update: Payload) -> None:
        mid = shape.text(update, "messageId")
        if "content" in update:  # omitted is no change; null and [] clear
            text, blocks = content_of(shape.maybe_items(update, "content") or [])
            replace_message(draft, kind, mid, text, blocks)

    return message


# -- state ---------------------------------------------------------------------------------------


def _mode(draft: Draft, update: Payload) -> None:
    change_mode(draft, shape.text(update, "currentModeId"))


def _options(draft: Draft, update: Payload) -> None:
    take_options(draft, read_options(update, "configOptions"))


def _commands(draft: Draft, update: Payload) -> None:
    commands = shape.objects(update, "availableCommands")
    draft.commands = tuple(shape.text(command, "name") for command in commands)


def _session_info(draft: Draft, update: Payload) -> None:
    title = shape.maybe_text(update, "title")
    if "title" in update:
        draft.title = title
    else:
        draft.count("session_info_update")


def _usage(draft: Draft, update: Payload) -> None:
    for key in ("used", "size", "cost"):
        if update.get(key) is not None:
            draft.usage[key] = update[key]


def _state(draft: Draft, update: Payload) -> None:
    """Follow the agent's own word on whether it works (v2)."""
    state = shape.text(update, "state")
    stop = shape.maybe_text(update, "stopReason")
    draft.needs_action = state == "requires_action"
    if state == "running" and draft.turn is None:
        start_turn(draft)
    elif state == "idle" and stop:
        finish_as(draft, stop)
    elif state == "idle":
        finish_turn(draft, "settled")


# -- beside the conversation ---------------------------------------------------------------------


def _notice(draft: Draft, update: Payload) -> None:
    title = shape.text(update, "title")
    more = shape.maybe_text(update, "description")
    level = shape.maybe_text(update, "severity") or "info"
    notice(draft, f"{title}\n{more}" if more else title, level)


def _compaction(draft: Draft, update: Payload) -> None:
    key = _compaction_key(update)
    status = shape.text(update, "status")
    failure = shape.maybe_text(update, "error")
    summary = shape.maybe_items(update, "summary")
    words, _ = content_of(summary or [])
    row = draft.systems.get(key) or system(draft, "compaction", "", key=key, done=False)
    said = failure or (words if summary is not None else row.entry.text)
    draft.edit(row, text=said, done=status != "in_progress")


def _compaction_chunk(draft: Draft, update: Payload) -> None:
    key = _compaction_key(update)
    part = text_or_block(update.get("content"))
    row = draft.systems.get(key) or system(draft, "compaction", "", key=key, done=False)
    if isinstance(part, str):
        draft.edit(row, text=joined(row.entry.text, [part]))


def _compaction_key(update: Payload) -> str:
    return f"compaction {shape.name(update, 'compactionId')}"


def _error_message(draft: Draft, update: Payload) -> None:
    """Show an error as Multica's logs have it."""
    message = shape.maybe_text(update, "message") or shape.maybe_text(update, "error")
    if message is None:
        message = shape.text(update, "content")
    error(draft, message, data=update)


def _question_answer(draft: Draft, update: Payload) -> None:
    """Put the answer that a Multica client gave on the tool that asked."""
    tool_id = shape.name(update, "toolCallId")
    said = update.get("response")
    row = draft.tools.get(tool_id)
    if row is None:
        raise Misshapen("no such tool")
    tools.patch(draft, row, {"answer": _picked(said), "status": "completed"})


def _picked(said: Any) -> str:
    """Return what was answered, in Multica's order of precedence."""
    match said:
        case str():
            return said
        case {"selectedOptions": [str(), *_] as options}:
            return ", ".join(str(option) for option in options)
        case {"selectedOption": str(option)}:
            return option
        case {"customText": str(words)}:
            return words
        case {"answers": [{"answer": str(answer)}, *_]}:
            return answer
    return "Answered"


UPDATES: Final[Mapping[str, Step]] = {
    "user_message_chunk": _user_chunk,
    "agent_message_chunk": _chunk(Agent),
    "agent_thought_chunk": _chunk(Thought),
    "user_message": _message(User),
    "agent_message": _message(Agent),
    "agent_thought": _message(Thought),
    "tool_call": tools.tool_call,
    "tool_call_update": tools.tool_call_update,
    "tool_call_content_chunk": tools.content_chunk,
    "terminal_update": terminals.terminal_update,
    "terminal_output_chunk": terminals.terminal_output_chunk,
    "plan": plans.plan,
    "plan_update": plans.plan_update,
    "plan_removed": plans.plan_removed,
    "current_mode_update": _mode,
    "config_option_update": _options,
    "available_commands_update": _commands,
    "session_info_update": _session_info,
    "usage_update": _usage,
    "state_update": _state,
    "notice": _notice,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction_chunk,
    "error_message": _error_message,
    "askuserquestion_response": _question_answer,
}

STEPS: Final[Mapping[str, Step]] = {"acp.session_update": session_update}
