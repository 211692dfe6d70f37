"""The end of a Hermes turn: what was streamed against what the gateway says was the answer.

Above this module: `hermes`. Below it: `text`, `turns`, `notes`.

The steps 1 to 5 are fold.md's ("Reconcile final F"). White space decides nothing; what was
streamed is never lost, only superseded, or kept as a draft.
"""

from __future__ import annotations

from typing import Any, Final

from replay.entries import Agent, Ask, Thought, Tool
from replay.fold import shape
from replay.fold.blocks import as_json
from replay.fold.draft import Draft
from replay.fold.notes import ErrorClass, error, notice
from replay.fold.row import Row
from replay.fold.shape import Payload
from replay.fold.strings import normal, plain
from replay.fold.text import agent_rows, rewrite, say
from replay.fold.turns import add_usage, correct_end, finish_turn
from replay.transcript import Outcome

_OUTCOMES: Final[dict[str, Outcome]] = {"error": "error", "interrupted": "interrupted"}


def complete(draft: Draft, payload: Payload) -> None:
    """Settle the answer and end the turn."""
    status = shape.maybe_text(payload, "status") or "complete"
    warning = shape.maybe_text(payload, "warning")
    reasoning = shape.maybe_text(payload, "reasoning")
    used = shape.maybe_mapping(payload, "usage") or {}
    answer = _answer(payload)
    partial = payload.get("partial") is True
    asked, told = _rows(payload)
    failure = _failure(payload, "" if partial else answer) if status == "error" else None
    if failure is None or partial:
        reconcile(draft, answer)
        _reason(draft, reasoning, answer)
    _number(draft, asked, told)
    if failure is not None:
        error(draft, **failure)
    if warning:
        notice(draft, warning, "warn")
    draft.usage |= used
    _end(draft, _OUTCOMES.get(status, "complete"), used)


def _answer(payload: Payload) -> str:
    text = payload.get("text")
    if isinstance(text, str):
        return text
    rendered = shape.maybe_text(payload, "rendered")
    if rendered is not None:
        return plain(rendered)
    return as_json(text) if text else ""


def _rows(payload: Payload) -> tuple[int | None, int | None]:
    """Return the numbers of the prompt and of the answer in the gateway's own store."""
    kept = shape.maybe_mapping(payload, "persisted_turn") or {}
    user = shape.maybe_integer(kept, "user_row_id")
    return user, shape.maybe_integer(kept, "final_assistant_row_id")


def _number(draft: Draft, asked: int | None, told: int | None) -> None:
    """Note these numbers on the last prompt and the last message of the turn."""
    prompts = draft.turns[-1].prompts if draft.turns else ()
    answers = agent_rows(draft)[-1:] if told is not None else []
    for number, rows in ((asked, [draft.users[name] for name in prompts[-1:]]), (told, answers)):
        for row in rows:
            if number is not None:
                draft.mark(row, row=number)
                draft.messages[number] = row


def _end(draft: Draft, outcome: Outcome, used: Payload) -> None:
    """End the turn that runs, or correct the guess that it had; a second end is none."""
    if draft.turn is not None:
        add_usage(draft, draft.turn, used)
        finish_turn(draft, outcome)
    elif draft.turns and draft.turns[-1].outcome == "settled":
        add_usage(draft, len(draft.turns) - 1, used)
        correct_end(draft, len(draft.turns) - 1, outcome)


def _reason(draft: Draft, reasoning: str | None, answer: str) -> None:
    """Take the thought that came with the answer only if the turn has shown none."""
    for row in thought_rows(draft) if draft.offered else ():
        if row.entry.id in draft.offered and normal(row.text) in normal(answer):
            draft.mark(row, superseded=True)
    draft.offered = []
    if reasoning and not thought_rows(draft):
        say(draft, Thought, reasoning)
        draft.seal()


# -- steps 1 to 5 --------------------------------------------------------------------------------


def reconcile(draft: Draft, answer: str) -> None:
    """Make what the turn shows of the agent's words agree with *answer*."""
    if not answer or answer.isspace():
        return
    shown = agent_rows(draft)
    tail = _tail(draft, shown)
    if _confirms(draft, answer, shown, tail):
        return
    earlier = shown[: len(shown) - len(tail)]
    left = _without(answer, [row.text for row in earlier])
    if not left or _confirms(draft, left, tail, tail):
        return
    draft.seal()
    if not tail:
        draft.add(Agent, text=left, confirmed=True, late=draft.turn is None and bool(draft.turns))
        return
    _settle(draft, tail[0], left)
    for row in tail[1:]:
        draft.mark(row, superseded=True)


def _confirms(draft: Draft, answer: str, shown: list[Row[Agent]], tail: list[Row[Agent]]) -> bool:
    for rows in (shown, tail, shown[-1:]):
        if rows and _same(answer, [row.text for row in rows]):
            for row in rows:
                draft.mark(row, confirmed=True)
            return True
    return False


def _same(answer: str, texts: list[str]) -> bool:
    said = "".join(texts)
    return answer == said or normal(answer) in {normal(said), normal(" ".join(texts))}


def _settle(draft: Draft, row: Row[Agent], answer: str) -> None:
    streamed = row.text
    continues = normal(answer).startswith(normal(streamed))
    kept = {} if continues else {"draft": streamed, "edited": True}
    rewrite(draft, row, answer, confirmed=True, **kept)


def _tail(draft: Draft, shown: list[Row[Agent]]) -> list[Row[Agent]]:
    """Return what the agent has said since the last tool, question or interim message."""
    last = -1
    for row in draft.rows_of_turn():
        entry: Any = row.entry
        if isinstance(entry, Tool | Ask) or (isinstance(entry, Agent) and entry.interim):
            last = row.place
            break
    return [row for row in shown if row.place > last]


def _without(answer: str, earlier: list[str]) -> str:
    """Return *answer* without the earlier messages that it begins with."""
    for text in earlier:
        after = _after(answer, text)
        answer = answer if after is None else answer[after:].lstrip()
    return answer


def _after(answer: str, text: str) -> int | None:
    """Return where *answer* goes on after *text*, if it begins with it word by word."""
    at = 0
    for word in text.split():
        while at < len(answer) and answer[at].isspace():
            at += 1
        if not answer.startswith(word, at):
            return None
        at += len(word)
    return at if at == len(answer) or answer[at].isspace() else None


# -- thoughts and failures -----------------------------------------------------------------------


def thought_rows(draft: Draft) -> list[Row[Thought]]:
    """Return the thoughts of the turn that count."""
    return [
        row
        for row in draft.rows_of_turn()
        if type(row.entry) is Thought and not row.entry.superseded
    ]


def _failure(payload: Payload, answer: str) -> dict[str, Any]:
    surface = shape.maybe_mapping(payload, "error_surface") or {}
    billing = shape.maybe_mapping(payload, "billing") or {}
    told = shape.maybe_text(payload, "error") or shape.maybe_text(payload, "failure_reason")
    retryable = surface.get("retryable", payload.get("recoverable"))
    return {
        "text": told or answer or "The turn failed",
        "detail": answer if told and normal(answer) not in ("", normal(told)) else None,
        "code": shape.maybe_text(surface, "code"),
        "surface": shape.maybe_text(surface, "layer"),
        "retryable": retryable if isinstance(retryable, bool) else None,
        "cls": _class(surface, billing),
    }


def _class(surface: Payload, billing: Payload) -> ErrorClass | None:
    code = str(surface.get("code") or "")
    if billing or "billing" in code:
        return "billing"
    if "auth" in code:
        return "auth"
    return "provider" if surface.get("layer") == "provider" else None
