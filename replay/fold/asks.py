"""Questions to the user: opened, locked, answered, withdrawn; what is answered too late.

Above this module: `fold`. Below it: `questions`, `tools`.

A question ends once: whatever comes after its end is a late answer (P-27, P-28).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import Ask, Tool
from replay.fold import shape
from replay.fold.blocks import as_json
from replay.fold.draft import Draft
from replay.fold.naming import is_question_tool
from replay.fold.notes import unknown
from replay.fold.questions import asked, chosen, is_secret, what_of, with_answers
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.step import Step
from replay.fold.strings import shortened
from replay.fold.tools import set_ours, set_rejected, tool_of_permission
from replay.fold.values import changed
from replay.pieces import Json, Option


def opened(draft: Draft, payload: Payload) -> None:
    """Show a question. A known id again has no effect: it is the same question, shown again."""
    name, method = shape.name(payload, "id"), shape.text(payload, "method")
    params = shape.maybe_mapping(payload, "params") or {}
    fields = asked(method, params)
    if name in draft.asks:
        draft.remark(f"request {name} opened again")
        return
    tool = _tool(draft, method, params)
    draft.add(
        Ask,
        ask_id=name,
        method=method,
        what=what_of(method),
        tool_id=tool.entry.tool_id if tool else None,
        tool=tool.entry.id if tool else None,
        **fields,
    )
    if answers := params.get("answers"):
        _lock_all(draft, draft.asks[name], answers)


def _tool(draft: Draft, method: str, params: Payload) -> Row[Tool] | None:
    """Return the tool that the question is about."""
    if method == "session/request_permission":
        call, subject = params.get("toolCall"), params.get("subject")
        if type(call) is not dict and type(subject) is dict:
            call = subject.get("toolCall")
        return tool_of_permission(draft, call) if type(call) is dict else None
    if method == "elicitation/create":
        tool_id = params.get("toolCallId")
        return draft.tools.get(tool_id) if type(tool_id) is str else None
    return _question_tool(draft) if method == "clarify" else None


def _question_tool(draft: Draft) -> Row[Tool] | None:
    for row in reversed(draft.working.values()):
        if is_question_tool(draft.info.agent, row.entry.name):
            return row
    return None


def locked(draft: Draft, payload: Payload) -> None:
    """Lock the answer to one question of several; the last lock answers the request (P-30)."""
    row = draft.asks.get(shape.name(payload, "id"))
    question = shape.name(payload, "question_id")
    if row is None:
        unknown(draft, "request.locked", payload, "no such request")
    elif row.entry.state != "open":
        _late(draft, row, payload.get("answer"))
    elif all(known.id != question for known in row.entry.questions):
        unknown(draft, "request.locked", payload, "no such question")
    else:
        _lock(draft, row, {question: payload.get("answer")})


def _lock_all(draft: Draft, row: Row[Ask], answers: Json) -> None:
    if isinstance(answers, dict):
        _lock(draft, row, answers)


def _lock(draft: Draft, row: Row[Ask], answers: Mapping[str, Json]) -> None:
    questions = tuple(
        changed(question, locked=True) if question.id in answers else question
        for question in with_answers(row.entry.questions, answers)
    )
    draft.edit(row, questions=questions)
    if questions and all(question.locked for question in questions):
        _close(draft, row, state="answered")


def answered(draft: Draft, payload: Payload) -> None:
    """Take the answer to a question, or note that it came too late."""
    name = shape.name(payload, "id")
    failure = shape.maybe_mapping(payload, "error")
    by = shape.maybe_text(payload, "by")
    row = draft.asks.get(name)
    if row is None:
        unknown(draft, "request.answered", _without_secret(payload), "no such request")
    elif row.entry.state != "open":
        _late(draft, row, payload.get("result"))
    elif failure is not None:
        _close(draft, row, state="failed", by=by, reason=_message(failure))
    else:
        _take(draft, row, payload.get("result"), by)


def _take(draft: Draft, row: Row[Ask], result: Json, by: str | None) -> None:
    ask = row.entry
    if is_secret(ask.method):
        _close(draft, row, state="answered", by=by, answer=_redacted(result))
        return
    match ask.what, result:
        case "permission", {"outcome": {"outcome": "selected", "optionId": str(option)}}:
            _permit(draft, row, option, by)
        case "permission", {"outcome": {"outcome": "cancelled"}}:
            _stop_tool(draft, row)
            _close(draft, row, state="withdrawn", by=by, reason="cancelled")
        case "approval", {"choice": str(choice)}:
            _choose(draft, row, choice, by)
        case "clarify", dict():
            answers = result.get("answers")
            _clarified(draft, row, answers if isinstance(answers, dict) else None, by)
        case "elicitation", {"action": str(action)}:
            _fill_in(draft, row, action, result.get("content"), by)
        case _:
            _close(draft, row, state="answered", by=by, answer=_said(result))


def _permit(draft: Draft, row: Row[Ask], option_id: str, by: str | None) -> None:
    option = _choose(draft, row, option_id, by)
    tool = _tool_row(draft, row)
    if tool is None:
        return
    if option and (option.kind or "").startswith("reject"):
        set_rejected(draft, tool)
    else:
        set_ours(draft, tool, "in_progress")


def _choose(draft: Draft, row: Row[Ask], option_id: str, by: str | None) -> Option | None:
    """Mark the option that was picked; return it if it is one that was offered."""
    questions = with_answers(row.entry.questions, {row.entry.questions[0].id: option_id})
    offered = (one for question in questions for one in question.options)
    option = next((one for one in offered if one.id == option_id), None)
    label = option.label if option else option_id
    _close(draft, row, state="answered", by=by, answer=label, questions=questions)
    return option


def _clarified(
    draft: Draft, row: Row[Ask], answers: Mapping[str, Json] | None, by: str | None
) -> None:
    """Take the answers; none at all skips every question that is not locked (P-30)."""
    if answers is None:
        left = [question.id for question in row.entry.questions if not question.locked]
        answers = dict.fromkeys(left)
    questions = with_answers(row.entry.questions, answers)
    _close(draft, row, state="answered", by=by, questions=questions)


def _fill_in(draft: Draft, row: Row[Ask], action: str, content: Json, by: str | None) -> None:
    values = content if isinstance(content, dict) else {}
    questions = with_answers(row.entry.questions, values)
    _close(draft, row, state="answered", by=by, answer=action, questions=questions)


def cancelled(draft: Draft, payload: Payload) -> None:
    """End a question that nobody has answered."""
    name = shape.name(payload, "id")
    reason = shape.maybe_text(payload, "reason")
    row = draft.asks.get(name)
    if row is None:
        unknown(draft, "request.cancel", payload, "no such request")
    else:
        _withdraw(draft, row, reason)


def approvals_cancelled(draft: Draft, payload: Payload) -> None:
    """End approvals by the ids that their own queue has for them."""
    names = shape.texts(payload, "request_ids")
    reason = shape.maybe_text(payload, "reason")
    rows = [row for row in draft.asks.values() if row.entry.request_id in names]
    for row in rows:
        _withdraw(draft, row, reason)
    if not rows:
        unknown(draft, "approval.cancelled", payload, "no such request")


def _withdraw(draft: Draft, row: Row[Ask], reason: str | None) -> None:
    if row.entry.state != "open":
        draft.count("request.cancel (already settled)")
        return
    state = {"timeout": "expired", "resolved": "resolved"}.get(reason or "", "withdrawn")
    if state == "withdrawn":
        _stop_tool(draft, row)
    _close(draft, row, state=state, reason=reason)


def declined(draft: Draft, payload: Payload) -> None:
    """Count a client that cannot show the question."""
    row = draft.asks.get(shape.name(payload, "id"))
    if row is None:
        draft.count("request.declined")
    else:
        draft.edit(row, declined=row.entry.declined + 1)


def late(draft: Draft, payload: Payload) -> None:
    """Note an answer that came after the end."""
    row = draft.asks.get(shape.name(payload, "id"))
    if row is None:
        draft.count("request.late")
    else:
        _late(draft, row, payload.get("value"))


def _late(draft: Draft, row: Row[Ask], value: Json) -> None:
    kept = "redacted" if is_secret(row.entry.method) else shortened(value)
    draft.edit(row, late_answers=(*row.entry.late_answers, kept))


def _close(draft: Draft, row: Row[Ask], **changes: Any) -> None:
    draft.edit(row, **changes)
    draft.waiting.pop(row.entry.ask_id, None)


def _tool_row(draft: Draft, row: Row[Ask]) -> Row[Tool] | None:
    tool = draft.tools.get(row.entry.tool_id or "")
    return tool if tool and tool.entry.id == row.entry.tool else None


def _stop_tool(draft: Draft, row: Row[Ask]) -> None:
    if row.entry.what == "permission" and (tool := _tool_row(draft, row)):
        set_ours(draft, tool, "aborted")


def _redacted(result: Json) -> str:
    """Return what may be said of a secret: that there was one, or none (P-33)."""
    value = result.get("value", result) if isinstance(result, dict) else result
    return "redacted" if value else "skipped"


def _without_secret(payload: Payload) -> Payload:
    method = payload.get("method")
    if isinstance(method, str) and is_secret(method):
        return {key: value for key, value in payload.items() if key != "result"}
    return payload


def _said(result: Json) -> str | None:
    value = result["value"] if isinstance(result, dict) and "value" in result else result
    match chosen(shortened(value)):
        case ():
            return None
        case words:
            return ", ".join(words)


def _message(failure: Payload) -> str:
    message = failure.get("message")
    return message if isinstance(message, str) else as_json(failure)


STEPS: Final[Mapping[str, Step]] = {
    "request.opened": opened,
    "request.locked": locked,
    "request.answered": answered,
    "request.cancel": cancelled,
    "request.declined": declined,
    "request.late": late,
    "approval.cancelled": approvals_cancelled,
}
