"""Turns: how one starts, and what its end does to what is still open in it.

Above this module: `prompts`, `hermes`, `acp`, `text`. Below it: `draft`, `lattice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replay.entries import Interrupt, Notice, User
from replay.fold.draft import Draft
from replay.fold.lattice import given_up
from replay.fold.row import Row
from replay.fold.values import made
from replay.pieces import Json
from replay.transcript import Outcome, Turn

_OUTCOMES: Final[dict[str, Outcome]] = {
    "end_turn": "complete",
    "cancelled": "interrupted",
    "refusal": "refusal",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_turn_requests",
}
_WARNINGS: Final = {
    "refusal": "The agent refused to answer.",
    "max_tokens": "The answer stops at the limit of tokens.",
    "max_turn_requests": "The turn stops at the limit of model requests.",
}


def start_turn(draft: Draft, *, replayed: bool = False) -> None:
    """Start a turn; it has no prompt yet. In an agent's own replay it is complete at once."""
    draft.seal()
    draft.turn = len(draft.turns)
    fields = {
        "n": draft.turn + 1,
        "started": draft.seq,
        "t0": draft.ts,
        "t1": draft.ts,
        "outcome": "complete" if replayed else "open",
        "replayed": replayed,
    }
    draft.turns.append(made(Turn, fields))
    draft.lively = False


def take_queued(draft: Draft, rows: Sequence[Row[User]]) -> None:
    """Make queued prompts those of the turn that runs."""
    assert draft.turn is not None  # noqa: S101 - callers have started it
    for row in rows:
        draft.mark(row, for_turn=draft.turns[draft.turn].n)
        draft.queued.pop(row.entry.id, None)
    names = tuple(row.entry.id for row in rows)
    draft.set_turn(prompts=(*draft.turns[draft.turn].prompts, *names))


def finish_turn(draft: Draft, outcome: Outcome, reason: str | None = None) -> None:
    """End the turn that runs: what is open in it is withdrawn or left without a result."""
    if draft.turn is None:
        return
    if draft.turns[draft.turn].replayed:
        outcome, reason = "complete", None
    draft.seal()
    give_up_tools(draft, "aborted" if outcome == "interrupted" else "unresolved")
    withdraw_asks(draft, "turn ended", of_turn=draft.turns[draft.turn].n)
    if outcome == "interrupted":
        _say_interrupted(draft)
    draft.set_turn(ended=draft.seq, t1=draft.ts, outcome=outcome, reason=reason)
    draft.turn = None
    draft.lively = False
    draft.needs_action = False


def outcome_of(stop: str) -> Outcome:
    """Return how a turn ended of which ACP says *stop*."""
    return _OUTCOMES.get(stop, "complete")


def finish_as(draft: Draft, stop: str) -> None:
    """End the turn that runs as ACP's *stop* reason says."""
    known = stop in _OUTCOMES
    finish_turn(draft, outcome_of(stop), None if known else stop)
    if warning := _WARNINGS.get(stop):
        draft.add(Notice, level="warn", text=warning)
    elif not known:
        draft.add(Notice, level="warn", text=f"The turn ended: {stop}")


def correct_end(draft: Draft, at: int, outcome: Outcome) -> None:
    """Replace the guess that the turn at index *at* had settled by its real end."""
    draft.change_turn(at, outcome=outcome, ended=draft.seq, t1=draft.ts)


def add_usage(draft: Draft, at: int, usage: dict[str, Json]) -> None:
    """Add what the turn at index *at* has used."""
    if usage:
        draft.change_turn(at, usage={**draft.turns[at].usage, **usage})


def give_up_tools(draft: Draft, status: str) -> None:
    """Say of every tool that still works that it was stopped, or that no result came."""
    for row in draft.working.values():
        draft.mark(row, status=given_up(row.entry.status, status))
    draft.working.clear()


def withdraw_asks(draft: Draft, reason: str, *, of_turn: int | None = None) -> None:
    """Take back every question that is still open, or those of one turn."""
    for name, row in list(draft.waiting.items()) if draft.waiting else ():
        if of_turn is None or row.entry.turn == of_turn:
            draft.mark(row, state="withdrawn", reason=reason)
            del draft.waiting[name]


def end_replay(draft: Draft) -> None:
    """Note that what comes now is no longer the agent's telling of its history."""
    if draft.turn is not None and draft.turns[draft.turn].replayed:
        finish_turn(draft, "complete")
    draft.replaying = False


def interrupt(draft: Draft, by: str | None, text: str) -> None:
    """Note that somebody stopped the turn that runs."""
    draft.add(Interrupt, by=by, text=text)
    give_up_tools(draft, "aborted")


def _say_interrupted(draft: Draft) -> None:
    if all(type(row.entry) is not Interrupt for row in draft.rows_of_turn()):
        draft.add(Interrupt)
