"""Prompts: submitted, started, finished, rejected, corrected; turns interrupted.

Above this module: `fold`. Below it: `turns`, `blocks`, `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import User
from replay.fold import shape
from replay.fold.blocks import content_of
from replay.fold.draft import Draft
from replay.fold.notes import error, unknown
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.step import Step
from replay.fold.turns import (
    add_usage,
    correct_end,
    end_replay,
    finish_as,
    finish_turn,
    interrupt,
    outcome_of,
    start_turn,
    take_queued,
)
from replay.pieces import Json


def submitted(draft: Draft, payload: Payload) -> None:
    """Show a prompt: it starts a turn, or waits if one runs, or steers that one."""
    text, blocks = content_of(_content(payload))
    ref = shape.maybe_text(payload, "ref")
    internal = payload.get("internal") is True
    if not internal:
        end_replay(draft)
    correction = "steer" if payload.get("steer") is True else None
    fields: dict[str, Any] = {"text": text, "blocks": blocks, "ref": ref}
    if internal:
        draft.add(User, internal=True, hidden=True, **fields)
        draft.count("prompt.submitted (internal)")
    elif draft.turn is None:
        start_turn(draft)
        row = draft.add(User, **fields)
        draft.set_turn(prompts=(row.entry.id,))
    else:
        row = draft.add(User, queued=correction is None, correction=correction, **fields)


def _content(payload: Payload) -> list[Any]:
    """Return the content blocks; an imported `user_message` may hold one block, or a string."""
    content = payload.get("content")
    if type(content) is list:
        return content
    match content:
        case str(text):
            return [{"type": "text", "text": text}]
        case dict(block):
            return [block]
        case None if isinstance(payload.get("text"), str):
            return [{"type": "text", "text": payload["text"]}]
    return shape.items(payload, "content")


def started(draft: Draft, payload: Payload) -> None:
    """Start the turn of a prompt that was queued."""
    row = prompt_row(draft, shape.integer(payload, "prompt"))
    if row is None:
        unknown(draft, "prompt.started", payload, "no such prompt")
    elif row.entry.id in draft.queued:
        _start_queued(draft, row)


def _start_queued(draft: Draft, row: Row[User]) -> None:
    finish_turn(draft, "settled")
    start_turn(draft)
    take_queued(draft, [row])


def finished(draft: Draft, payload: Payload) -> None:
    """End the turn of the prompt that was answered."""
    seq = shape.integer(payload, "prompt")
    failure = shape.maybe_mapping(payload, "error")
    result = shape.maybe_mapping(payload, "result") or {}
    stop = shape.maybe_text(result, "stopReason") or "end_turn"
    used = _usage(result)
    row = prompt_row(draft, seq)
    if row is None:
        unknown(draft, "prompt.finished", payload, "no such prompt")
        return
    if row.entry.internal:
        draft.count("prompt.finished (internal)")
        return
    if row.entry.id in draft.queued:
        _start_queued(draft, row)
    at = _turn_of(row)
    if at is None:
        draft.remark("an end of a prompt that has no turn")
        return
    add_usage(draft, at, used)
    if at == draft.turn:
        _end(draft, stop, failure)
    elif draft.turns[at].outcome == "settled":
        correct_end(draft, at, "error" if failure else outcome_of(stop))
    else:
        draft.remark("a second end of a turn")


def _end(draft: Draft, stop: str, failure: Payload | None) -> None:
    if failure is None:
        finish_as(draft, stop)
        return
    message, details = failure.get("message"), failure.get("data")
    error(
        draft,
        message if isinstance(message, str) else "The agent answered with an error",
        detail=_details(details),
        code=str(failure["code"]) if "code" in failure else None,
        data=details,
    )
    finish_turn(draft, "error")


def _details(data: Json) -> str | None:
    """Return what some agents say of an error beside its message (claude, hermes)."""
    match data:
        case {"details": str(details)}:
            return details
    return None


def _usage(result: Payload) -> dict[str, Json]:
    """Return the tokens of a turn: in `usage`, or where gemini has them."""
    usage = result.get("usage")
    if type(usage) is not dict:
        match result.get("_meta"):
            case {"quota": {"token_count": dict(counted)}}:
                return counted
            case _:
                return {}
    return usage


def prompt_row(draft: Draft, seq: int) -> Row[User] | None:
    """Return the prompt that the record at *seq* made."""
    find = draft.users.get
    return find(f"e{seq}") or find(f"e{seq}.1") or find(f"e{seq}.2")


def _turn_of(row: Row[User]) -> int | None:
    number = row.entry.for_turn if row.entry.queued else row.entry.turn
    return None if number is None else number - 1


def rejected(draft: Draft, payload: Payload) -> None:
    """Mark a prompt as not taken; no other turn is touched."""
    failure = payload.get("error")
    message = failure.get("message") if isinstance(failure, dict) else failure
    reason = message if isinstance(message, str) else "rejected"
    if payload.get("prompt") is None:
        text, blocks = content_of(_content(payload))
        draft.add(User, text=text, blocks=blocks, rejected=reason)
        return
    row = prompt_row(draft, shape.integer(payload, "prompt"))
    if row is None:
        unknown(draft, "prompt.rejected", payload, "no such prompt")
        return
    draft.edit(row, rejected=reason)
    draft.queued.pop(row.entry.id, None)
    if draft.turn is not None and draft.turns[draft.turn].prompts == (row.entry.id,):
        finish_turn(draft, "error", reason)


def corrected(draft: Draft, payload: Payload) -> None:
    """Show words that go into the turn that runs."""
    kind = shape.text(payload, "kind")
    seq = shape.maybe_integer(payload, "prompt")
    if seq is not None and (row := prompt_row(draft, seq)):
        draft.edit(row, correction=kind)  # they stand there already, as the prompt they became
        return
    draft.add(User, text=shape.text(payload, "text"), correction=kind)


def interrupted(draft: Draft, payload: Payload) -> None:
    """Show that somebody stopped the turn; what the agent still says of it is taken."""
    by = shape.maybe_text(payload, "by")
    reason = shape.maybe_text(payload, "reason")
    end_replay(draft)
    if draft.turn is None:
        draft.count("turn.interrupted")
    else:
        interrupt(draft, by, reason or "")


STEPS: Final[Mapping[str, Step]] = {
    "prompt.submitted": submitted,
    "prompt.started": started,
    "prompt.finished": finished,
    "prompt.rejected": rejected,
    "prompt.corrected": corrected,
    "turn.interrupted": interrupted,
    "user_message": submitted,
}
