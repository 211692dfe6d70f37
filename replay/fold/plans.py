"""Plans: one entry a plan and turn, replaced in place, its former states kept (R102).

Above this module: `acp`, `hermes`. Below it: `draft`, `shape`.
"""

from __future__ import annotations

from typing import Any, Final

from replay.entries import Plan
from replay.fold import shape
from replay.fold.draft import Draft
from replay.fold.row import Row
from replay.fold.shape import Misshapen, Payload
from replay.fold.values import made
from replay.pieces import PlanItem

DEFAULT: Final = "default"


def plan(draft: Draft, update: Payload) -> None:
    """Replace the one plan of ACP v1."""
    set_plan(draft, DEFAULT, _items(update))


def plan_update(draft: Draft, update: Payload) -> None:
    """Replace a plan that has an id: a list, a text, or a file that holds it."""
    said = shape.mapping(update, "plan")
    plan_id = shape.name(said, "planId")
    match said:
        case {"content": str(text)} | {"uri": str(text)}:
            set_plan(draft, plan_id, (PlanItem(text=text, status=""),))
        case _:
            set_plan(draft, plan_id, _items(said))


def plan_removed(draft: Draft, update: Payload) -> None:
    """Clear a plan; its last state stays in its history."""
    set_plan(draft, shape.name(update, "planId"), ())


def todos(draft: Draft, payload: Payload) -> None:
    """Replace Hermes's todo list; one of a lower revision came too late."""
    set_plan(draft, DEFAULT, *read_todos(payload))


def read_todos(payload: Payload) -> tuple[tuple[PlanItem, ...], int | None]:
    """Return the items and the revision of a todo list."""
    listed = shape.items(payload, "todos")
    items = tuple(_item(todo, f"todos[{at}]") for at, todo in enumerate(listed))
    return items, shape.maybe_integer(payload, "revision")


def set_plan(
    draft: Draft, plan_id: str, items: tuple[PlanItem, ...], revision: int | None = None
) -> None:
    """Show *items* as the plan of the turn; an empty plan that nobody has seen is nothing."""
    row = draft.plans.get((plan_id, draft.turn_number))
    if row is None:
        if items:
            draft.lively = True
            draft.add(Plan, plan_id=plan_id, items=items, revision=revision)
        return
    known = row.entry.revision
    if revision is not None and known is not None and revision < known:
        draft.remark(f"plan revision {revision} after {known}")
    elif items == row.entry.items:
        draft.edit(row, revision=known if revision is None else revision)
    else:
        _revise(draft, row, items, revision)


def _revise(
    draft: Draft, row: Row[Plan], items: tuple[PlanItem, ...], revision: int | None
) -> None:
    before = row.entry
    draft.edit(
        row,
        items=items,
        revision=before.revision if revision is None else revision,
        revs=before.revs + 1,
        history=(*before.history, before.items),
        cleared=not items,
    )


def _items(said: Payload) -> tuple[PlanItem, ...]:
    entries = shape.items(said, "entries")
    return tuple(_item(entry, f"entries[{at}]") for at, entry in enumerate(entries))


def _item(entry: Any, where: str) -> PlanItem:
    match entry:
        case str():
            return PlanItem(text=entry)
        case {"content": str(text)} | {"text": str(text)} | {"title": str(text)}:
            status = shape.maybe_text(entry, "status") or "pending"
            priority = shape.maybe_text(entry, "priority")
            return made(PlanItem, {"text": text, "status": status, "priority": priority})
    raise Misshapen(f"{where} has no text")
