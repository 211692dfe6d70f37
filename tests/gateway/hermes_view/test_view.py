"""An ACP session as a Hermes client sees it: all recorded agents, and the rows of the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from eventlog import Event, ImportedSession, line, parse, read_capture
from eventlog.vocabulary import HERMES, VOCABULARY
from gateway.hermes_view import View
from gateway.hermes_view.view import HIDDEN, STEPS
from tests.gateway.kept import check_hermes_event

CAPTURES: Final = sorted((Path(__file__).parents[2] / "captures" / "acp").glob("*.jsonl"))

LEFT_OPEN: Final = {
    "claude049-cancel": 2,
    "codex26-cancel": 1,
    "hermes-cancel": 1,
    "hermes-misc": 2,
    "hermes-reject": 1,
    "hermes-termmeta": 6,
    "hermes-tools": 6,
}
"""Tools whose end these agents never told: the end of the turn closes their rows."""


def sessions_of(capture: Path) -> list[ImportedSession]:
    return [found for found in read_capture(capture.read_bytes()) if not found.is_gateway]


def seen(session: ImportedSession) -> list[dict[str, Any]]:
    return [dict(parse(text)) for text in View(session.id).see(session.lines)]


def chunks(session: ImportedSession, kind: str) -> str:
    updates = [parse(text)["payload"].get("update", {}) for text in session.lines]
    return "".join(
        update["content"].get("text", "")
        for update in updates
        if update.get("sessionUpdate") == kind
    )


def words(events: list[dict[str, Any]], type_: str) -> str:
    return "".join(event["payload"]["text"] for event in events if event["type"] == type_)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_words_are_the_agents_own(capture: Path) -> None:
    """P-6: the deltas join to the text that the ACP agent sent, thoughts likewise."""
    for session in sessions_of(capture):
        events = seen(session)
        assert words(events, "message.delta") == chunks(session, "agent_message_chunk")
        assert words(events, "reasoning.delta") == chunks(session, "agent_thought_chunk")


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_every_tool_that_starts_ends(capture: Path) -> None:
    """P-6: once each, and only after its start; one that its agent left open is pinned above."""
    open_tools: Counter[str] = Counter()
    for session in sessions_of(capture):
        for event in seen(session):
            if event["type"] == "tool.start":
                open_tools[event["payload"]["tool_id"]] += 1
            if event["type"] == "tool.complete":
                open_tools[event["payload"]["tool_id"]] -= 1
            assert max(open_tools.values(), default=0) <= 1
    assert sum(1 for count in open_tools.values() if count > 0) == LEFT_OPEN.get(capture.stem, 0)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_every_turn_that_starts_ends(capture: Path) -> None:
    """P-6: what Hermes waits for comes: each prompt's answer completes its message."""
    for session in sessions_of(capture):
        told = [event["type"] for event in seen(session)]
        kinds = [parse(text)["type"] for text in session.lines]
        assert told.count("message.complete") >= kinds.count("prompt.finished")
        assert told.count("message.start") >= told.count("message.complete")


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_one_event_is_at_most_one_event(capture: Path) -> None:
    """P-8, P-6: each has the number and time of the event it stands for, a Hermes name, and the
    members that Hermes's own contract has for it.
    """
    for session in sessions_of(capture):
        known = {parse(text)["seq"]: parse(text)["ts"] for text in session.lines}
        numbers = [event["seq"] for event in seen(session)]
        assert numbers == sorted(set(numbers))
        for event in seen(session):
            assert event["ts"] == known[event["seq"]]
            assert event["type"] in HERMES
            check_hermes_event(event["type"], event["payload"])


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_a_view_can_go_on_from_any_cut(capture: Path) -> None:
    """P-11, P-19: a copy at any place gives the same bytes as the view that saw everything."""
    for session in sessions_of(capture):
        whole, running = View(session.id).see(session.lines), View(session.id)
        before = 0
        for cut in range(len(session.lines)):
            rest = running.copy().see(session.lines[cut:])
            assert rest == whole[before:]
            before += len(running.see(session.lines[cut : cut + 1]))


def test_the_last_line_again_changes_nothing() -> None:
    """P-19: a line that was translated but not sent is translated again when delivery goes on."""
    (session, *_) = sessions_of(CAPTURES[0])
    whole, view = View(session.id).see(session.lines), View(session.id)

    twice = [view.told(text) for text in session.lines for _ in range(2)]

    assert [text for text in twice[::2] if text] == [text for text in twice[1::2] if text] == whole


def test_every_type_of_our_own_has_its_place() -> None:
    """P-6: each is translated or hidden on purpose; what is not ours passes."""
    assert set(STEPS) == set(VOCABULARY) - {"session.opened"}
    assert set(STEPS) >= HIDDEN
    assert set(STEPS) & set(HERMES) == {"request.cancel"}


def test_a_hermes_session_passes_as_it_is(captures: Path) -> None:
    """P-6: what a Hermes gateway said is not touched, whoever reads it."""
    for session in read_capture((captures / "hermes" / "07_clarify.jsonl").read_bytes()):
        assert View(session.id).see(session.lines) == session.lines


# -- the rows of the table -------------------------------------------------------------------------


class Log:
    """An ACP session, written event by event."""

    def __init__(self, agent: str = "some-agent") -> None:
        self.view = View("s-1")
        self.seq = 0
        self.add("session.opened", protocol=1, agent={"name": agent})

    def add(self, type_: str, /, **payload: Any) -> tuple[str, dict[str, Any]] | None:
        """Append an event; return what a Hermes client is told of it."""
        self.seq += 1
        told = self.view.told(line(self.seq, self.seq * 1_000_000, Event.of(type_, payload)))
        return (parse(told)["type"], parse(told)["payload"]) if told else None

    def update(self, kind: str, /, **members: Any) -> tuple[str, dict[str, Any]] | None:
        return self.add("acp.session_update", update={"sessionUpdate": kind, **members})

    def says(self, text: str) -> tuple[str, dict[str, Any]] | None:
        return self.update("agent_message_chunk", content={"type": "text", "text": text})

    def prompt(self, text: str = "go", **members: Any) -> tuple[str, dict[str, Any]] | None:
        return self.add("prompt.submitted", content=[{"type": "text", "text": text}], **members)


def payload(told: tuple[str, dict[str, Any]] | None, type_: str) -> dict[str, Any]:
    assert told is not None
    assert told[0] == type_
    return told[1]


def test_a_turn() -> None:
    """P-6: a prompt starts it with its words; its end has what was said after the last tool."""
    log = Log()
    start = payload(log.prompt("do it"), "message.start")
    log.says("First ")
    payload(log.update("tool_call", toolCallId="t", title="ls", kind="execute"), "tool.start")
    payload(log.update("tool_call_update", toolCallId="t", status="completed"), "tool.complete")
    log.says("All ")
    log.says("done.")
    end = payload(
        log.add("prompt.finished", prompt=2, result={"stopReason": "end_turn"}), "message.complete"
    )

    assert (start["input"], start["inputs"]) == ("do it", [{"text": "do it"}])
    assert (end["text"], end["status"]) == ("All done.", "complete")


def test_a_queued_prompt_starts_when_its_turn_comes() -> None:
    """P-6: not when it was sent."""
    log = Log()
    log.prompt("first")
    queued = log.prompt("second", queued=True)
    log.add("prompt.finished", prompt=2, result={"stopReason": "cancelled"})
    start = payload(log.add("prompt.started", prompt=3), "message.start")

    assert queued is None
    assert start["input"] == "second"


@pytest.mark.parametrize(
    ("end", "status", "text"),
    [
        ({"result": {"stopReason": "cancelled"}}, "interrupted", "partial"),
        ({"error": {"code": -32000, "message": "no key"}}, "error", "partial"),
        ({"result": {"stopReason": "max_tokens"}}, "complete", "partial"),
    ],
)
def test_how_a_turn_ends(end: dict[str, Any], status: str, text: str) -> None:
    """R077: an interrupt is none of completion and error, and none of them is another."""
    log = Log()
    log.prompt()
    log.says("partial")
    complete = payload(log.add("prompt.finished", prompt=2, **end), "message.complete")

    assert (complete["status"], complete["text"]) == (status, text)
    assert complete.get("error") == ("no key" if status == "error" else None)
    assert ("warning" in complete) == ("max_tokens" in str(end))


def test_a_tool_is_named_by_what_was_said_before() -> None:
    """P-6: the last update names nothing; name, input, output and time are told all the same."""
    log = Log("@agentclientprotocol/claude-agent-acp")
    log.prompt()
    meta = {"claudeCode": {"toolName": "Edit"}}
    start = log.update("tool_call", toolCallId="t", title="Edit a", kind="edit", _meta=meta)
    diff = {"type": "diff", "path": "a", "oldText": "x\n", "newText": "y\n"}
    assert log.update("tool_call_update", toolCallId="t", content=[diff], rawInput={"f": 1}) is None
    end = payload(
        log.update("tool_call_update", toolCallId="t", status="completed"), "tool.complete"
    )
    again = log.update("tool_call_update", toolCallId="t", status="completed", title="late")

    assert payload(start, "tool.start")["name"] == end["name"] == "Edit"
    assert (end["args"], end["duration_s"]) == ({"f": 1}, 2.0)
    assert "-x\n+y" in end["inline_diff"]
    assert again is None


def test_a_tool_that_failed_says_so() -> None:
    """P-6: `result.error` holds why."""
    log = Log()
    log.update("tool_call", toolCallId="t", title="ls")
    text = [{"type": "content", "content": {"type": "text", "text": "not found"}}]
    end = log.update("tool_call_update", toolCallId="t", status="failed", content=text)

    assert payload(end, "tool.complete")["result"] == {"error": "not found"}


def test_a_tool_known_from_its_question_alone() -> None:
    """R089: gemini announces no tool that needs a permission; its end is named by the question."""
    log = Log("gemini-cli")
    log.prompt()
    call = {"toolCallId": "t", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
    params = {"toolCall": call, "options": []}
    log.add("request.opened", id="srq-1", method="session/request_permission", params=params)
    end = log.update("tool_call_update", toolCallId="t", status="completed")

    assert payload(end, "tool.complete")["args"] == {"command": "rm x"}


def test_a_plan_has_revisions() -> None:
    """P-6: each plan is the next revision of the todos."""
    log = Log()
    entries = [{"content": "one", "status": "completed", "priority": "high"}, {"content": "two"}]
    first = payload(log.update("plan", entries=entries), "todo.updated")
    second = payload(log.update("plan", entries=[]), "todo.updated")

    assert first["todos"] == [
        {"id": "1", "content": "one", "status": "completed"},
        {"id": "2", "content": "two", "status": "pending"},
    ]
    assert (first["revision"], second["revision"], second["todos"]) == (1, 2, [])


def test_usage_and_titles() -> None:
    """P-6: in Hermes's members; null is no number (claude sent one)."""
    log = Log()
    log.update("usage_update", used=None, size=None)
    used = log.update("usage_update", used=50, size=200, cost={"amount": 0.5, "currency": "USD"})
    usage = payload(used, "session.usage")["usage"]
    title = payload(log.update("session_info_update", title="Named"), "session.title")

    assert (usage["context_used"], usage["context_percent"], usage["cost_usd"]) == (50, 25, 0.5)
    assert title == {"session_id": "s-1", "title": "Named"}
    assert log.update("session_info_update", _meta={"x": 1}) is None


def test_a_settled_question_closes_the_other_windows_cards() -> None:
    """P-6, P-27: an answer is `request.cancel` `resolved`; a withdrawal keeps its reason."""
    log = Log()
    for name in ("srq-1", "srq-2"):
        log.add("request.opened", id=name, method="session/request_permission", params={})
    answered = log.add(
        "request.answered", id="srq-1", method="session/request_permission", by="x", result={}
    )
    late = log.add("request.late", id="srq-1", value={})
    withdrawn = log.add(
        "request.cancel", id="srq-2", method="session/request_permission", reason="timeout"
    )

    assert payload(answered, "request.cancel") == {
        "id": "srq-1",
        "method": "approval",
        "reason": "resolved",
    }
    assert payload(withdrawn, "request.cancel")["reason"] == "timeout"
    assert late is None


def test_a_past_that_the_agent_tells() -> None:
    """P-6: messages of the user begin turns, and the end of the replay ends the last one."""
    log = Log()
    log.add("acp.replay", method="session/load", state="started")
    words = [{"type": "text", "text": text} for text in ("Hel", "lo")]
    first = log.update("user_message_chunk", content=words[0])
    second = log.update("user_message_chunk", content=words[1])
    log.says("Hi.")
    end = log.add("acp.replay", method="session/load", state="finished")

    assert payload(first, "message.start")["input"] == "Hel"
    assert second is None
    assert payload(end, "message.complete")["text"] == "Hi."


def test_what_is_lost_is_told() -> None:
    """P-6: an agent that died and events that are missing are notices; an end on purpose is not."""
    log = Log()
    log.prompt()
    died = payload(log.add("agent.exited", code=3), "notice")
    gap = payload(log.add("log.gap", reason="disk full", lost=4), "notice")

    assert died["message"] == "The agent's process ended with code 3."
    assert gap["message"] == "4 events are missing here: disk full."
    assert log.add("agent.exited", code=0, reason="shutdown") is None


@pytest.mark.parametrize(
    "update",
    [
        None,
        [],
        {"sessionUpdate": 7},
        {"sessionUpdate": "agent_message_chunk"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 7}},
        {"sessionUpdate": "tool_call"},
        {"sessionUpdate": "tool_call", "toolCallId": "t", "content": 7, "_meta": [], "title": {}},
        {"sessionUpdate": "plan", "entries": "x"},
        {"sessionUpdate": "plan", "entries": [7]},
        {"sessionUpdate": "usage_update", "used": "x", "size": True, "cost": []},
        {"sessionUpdate": "session_info_update", "title": None},
        {"sessionUpdate": "notice"},
        {"sessionUpdate": "from_the_future"},
    ],
)
def test_no_update_is_an_exception(update: Any) -> None:
    """F-L8's rule holds here, too: what is malformed is told as far as it goes, or not at all."""
    log = Log()
    log.prompt()
    log.add("acp.session_update", update=update)
    assert payload(log.says("still here"), "message.delta")["text"] == "still here"
