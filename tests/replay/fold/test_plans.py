"""Plans: one entry a plan and turn, its revisions, its clearing."""

from __future__ import annotations

from typing import Any

from replay import Plan, PlanItem, Unknown
from tests.replay.records import Log, all_of, only


def entries(*steps: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"content": text, "status": status, "priority": "high"} for text, status in steps]


def test_a_plan_is_replaced_in_place_and_then_cleared() -> None:
    """F: "plan / plan_update / plan_removed"; R102: one entry, history kept, empty clears."""
    log = Log()
    log.prompt()
    log.update("plan", entries=entries(("a", "pending"), ("b", "pending")))
    log.says("working")
    log.update("plan", entries=entries(("a", "completed"), ("b", "pending")))
    before = only(log.folded(), Plan)
    log.update("plan", entries=[])

    after = only(log.folded(), Plan)
    assert [(item.text, item.status, item.priority) for item in before.items] == [
        ("a", "completed", "high"),
        ("b", "pending", "high"),
    ]
    assert (before.revs, before.cleared, len(before.history)) == (2, False, 1)
    assert (after.items, after.revs, after.cleared, len(after.history)) == ((), 3, True, 2)
    assert (after.id, after.first, after.last) == ("e2", 2, 5)


def test_the_same_plan_again_is_no_revision() -> None:
    """R102: claude sends each plan twice; that is one state of it."""
    log = Log()
    for _ in range(2):
        log.update("plan", entries=entries(("a", "pending")))

    assert only(log.folded(), Plan).revs == 1


def test_an_empty_plan_that_nobody_has_seen_is_nothing() -> None:
    """F: "plan / plan_update / plan_removed": unseen and empty makes no entry."""
    log = Log()
    log.update("plan", entries=[])
    log.update("plan_removed", planId="p")

    assert log.folded().entries == ()


def test_each_turn_has_its_own_plan() -> None:
    """F: "plan / plan_update / plan_removed": one entry a plan and turn."""
    log = Log()
    log.ends(log.prompt())
    log.update("plan", entries=entries(("a", "pending")))
    log.ends(log.prompt())
    log.update("plan", entries=entries(("b", "pending")))

    assert [plan.turn for plan in all_of(log.folded(), Plan)] == [1, 2]


def test_plans_with_ids_stand_side_by_side() -> None:
    """F: "plan / plan_update / plan_removed"; R117: lists, Markdown and files, by planId."""
    log = Log()
    log.update("plan_update", plan={"type": "items", "planId": "p", "entries": entries(("a", "x"))})
    log.update("plan_update", plan={"type": "markdown", "planId": "q", "content": "# Plan"})
    log.update("plan_update", plan={"type": "file", "planId": "r", "uri": "file:///plan.md"})
    log.update("plan_removed", planId="q")

    first, second, third = all_of(log.folded(), Plan)
    assert first.items == (PlanItem(text="a", status="x", priority="high"),)
    assert (second.cleared, second.history) == (True, ((PlanItem(text="# Plan", status=""),),))
    assert third.items[0].text == "file:///plan.md"


def test_a_plan_of_words_alone_is_shown() -> None:
    """R102: entries without status, or that are only text, are steps that are pending."""
    log = Log()
    log.update("plan", entries=[{"content": "a"}, "b"])

    assert only(log.folded(), Plan).items == (PlanItem(text="a"), PlanItem(text="b"))


def test_a_todo_list_that_comes_too_late_is_ignored() -> None:
    """F: "todo.updated": a lower revision than the stored one changes nothing but `diag`."""
    log = Log()
    log.add("todo.updated", todos=[{"content": "a", "status": "pending"}], revision=2)
    log.add("todo.updated", todos=[{"content": "old", "status": "pending"}], revision=1)

    transcript = log.folded()
    assert only(transcript, Plan).items[0].text == "a"
    assert [diagnosis.problem for diagnosis in transcript.diag] == ["plan revision 1 after 2"]


def test_todos_come_with_a_tool_too() -> None:
    """F: "todo.updated (and todos in tool.complete)": the plan of the turn, once a revision."""
    log = Log()
    log.add("message.start")
    log.add("tool.start", tool_id="t", name="todo_list")
    todos = [{"id": "1", "content": "Read", "status": "in_progress"}]
    log.add("todo.updated", todos=todos, revision=1)
    log.add("tool.complete", tool_id="t", name="todo_list", result={}, todos=todos, revision=1)

    plan = only(log.folded(), Plan)
    assert (plan.revision, plan.revs) == (1, 1)


def test_a_plan_that_is_none_changes_nothing() -> None:
    """F-L8: entries that are no list are shown as they came."""
    log = Log()
    log.update("plan", entries=entries(("a", "pending")))
    log.update("plan", entries="soon")
    log.update("plan", entries=[{"status": "pending"}])

    transcript = log.folded()
    assert only(transcript, Plan).revs == 1
    assert [entry.problem for entry in all_of(transcript, Unknown)] == [
        "entries is a string, not an array",
        "entries[0] has no text",
    ]
