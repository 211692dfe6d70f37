"""Every event, request and update that a known protocol has is folded on purpose.

The lists are those of Hermes 0.22.2 (77 events, 16 requests) and of ACP's schemas: version 1 with
what is unstable in it, and the drafts of version 2.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from eventlog.vocabulary import VOCABULARY
from eventlog.vocabulary.hermes import HERMES
from replay import Ask, Unknown, User, dump
from replay.fold.acp import UPDATES
from replay.fold.fold import STEPS
from tests.replay.records import Log, all_of, only

UNKNOWN: Final[dict[str, str]] = {}
"""Types that are shown as `unknown` on purpose, each with the reason. There is none."""

TEXT: Final = {"type": "text", "text": "words"}

WORDS: Final[dict[str, Any]] = {
    "text": "words", "message": "words", "title": "A title", "kind": "goal", "key": "k",
    "level": "info", "label": "gpt", "goal": "look", "task_index": 0, "subagent_id": "sub-1",
    "process_id": "p-1", "chunk": "out", "tool_id": "t1", "name": "terminal", "args": {"command": "ls"},
    "result": {"output": "ok"}, "todos": [{"content": "step", "status": "pending"}], "revision": 1,
    "usage": {"input": 1}, "model": "m", "reason": "timeout", "id": "srq-1", "request_ids": ["r-1"],
    "verification_url": "https://example.org", "user_code": "AB-12", "target": "wifi", "row_id": 3,
    "reactions": [{"emoji": "👍", "author": "user"}], "risk": "high", "status": "complete",
}  # fmt: skip
"""What the required members of all payloads may hold."""


def underway() -> Log:
    """Return a session in which all is there that an event may be about."""
    log = Log()
    kept = {"row_ids": [1, 3], "complete": True, "user_row_id": 1, "final_assistant_row_id": 3}
    log.add("message.start", input="Before")
    log.add("message.complete", text="Done.", persisted_turn=kept)
    log.add("message.start", input="Now")
    log.add("tool.start", tool_id="t1", name="terminal", args={"command": "ls"})
    log.add(
        "request.opened",
        id="srq-1",
        method="approval",
        params={"request_id": "r-1", "choices": ["once"]},
    )
    return log


@pytest.mark.parametrize("name", sorted(HERMES))
def test_every_event_of_hermes_has_its_row(name: str) -> None:
    """Issue 4: all 77 events (and two of later versions) have a step; none is unknown."""
    log = underway()
    more = {"inputs": [{"text": "words"}]} if name == "message.input" else {}
    log.add(name, **WORDS, **more)

    assert name in STEPS
    assert (name in UNKNOWN) == bool(all_of(log.folded(), Unknown)), all_of(log.folded(), Unknown)


def test_words_that_go_into_a_running_turn_are_the_users() -> None:
    """Issue 4: `message.input` of later gateways, and of our own, is a correction."""
    log = underway()
    log.add("message.input", kind="redirect", inputs=[{"text": "Not there"}])
    said = all_of(log.folded(), User)[-1]

    assert (said.text, said.correction, said.turn) == ("Not there", "redirect", 2)


def test_the_catalogue_is_whole() -> None:
    """Issue 4: 77 events of 0.22.2, and what later versions are known to have."""
    assert len(HERMES) - len({"layout.apply", "message.input"}) == 77
    assert set(VOCABULARY) <= set(STEPS)
    assert set(STEPS) - set(VOCABULARY) <= set(HERMES) | {"user_message"}


REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "approval": {"request_id": "r-2", "command": "make", "description": "why", "choices": ["once", "deny"]},
    "clarify": {"questions": [{"qid": "q1", "question": "Which?", "choices": ["a", "b"]}]},
    "display.install.sudo": {"profile_key": "default"},
    "preview.act": {"action": "click", "ref": "e1"},
    "preview.read": {"start": 0, "count": 10},
    "secret": {"env_var": "API_KEY", "prompt": "Your key", "metadata": {}},
    "setup_beat": {"beat": "name", "question": "What is your name?", "card": {"kind": "name"}},
    "sudo": {"command": "apt install x"},
    "terminal.read": {"start": 0, "count": 10},
    "theme.apply": {"accent": "red", "mode": "dark"},
    "theme.pick": {"picker": "accent"},
    "tour": {"action": "start", "preset": "quick"},
    "vault.code": {"site": "example.org", "hint": "6 digits"},
    "vault.save_login": {"origin": "https://example.org", "site": "example.org"},
    "vault.unlock_prompt": {"backend": "b", "display_name": "Vault"},
    "window.read": {},
}  # fmt: skip
SECRET: Final = {
    "display.install.sudo", "secret", "sudo", "vault.code", "vault.save_login", "vault.unlock_prompt",
}  # fmt: skip
ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "approval": {"choice": "once"},
    "clarify": {"answers": {"q1": "a"}},
    "theme.pick": {"picked": {"accent": "red"}},
}


@pytest.mark.parametrize("method", sorted(REQUESTS))
def test_every_request_of_hermes_is_a_question_with_an_answer(method: str) -> None:
    """Issue 4, P-33: all 16; what is secret is only said to have been given."""
    log = Log()
    log.add("message.start", input="Go")
    log.add(
        "request.opened", id="srq-1", method=method, params={"session_id": "s", **REQUESTS[method]}
    )
    opened = only(log.folded(), Ask)
    result = ANSWERS.get(method, {"value": "hunter2"})
    log.add("request.answered", id="srq-1", result=result, by="client")
    answered = only(log.folded(), Ask)

    assert len(REQUESTS) == 16
    assert all_of(log.folded(), Unknown) == []
    assert (opened.what, opened.state, answered.state) == (method, "open", "answered")
    assert ("hunter2" in json.dumps(dump(log.folded()))) == (
        method not in SECRET and method not in ANSWERS
    )
    assert (answered.answer == "redacted") == (method in SECRET)


ONE: Final[dict[str, dict[str, Any]]] = {
    "user_message_chunk": {"content": TEXT},
    "agent_message_chunk": {"content": TEXT},
    "agent_thought_chunk": {"content": TEXT},
    "tool_call": {"toolCallId": "t", "title": "ls", "kind": "execute"},
    "tool_call_update": {"toolCallId": "t", "status": "completed"},
    "plan": {"entries": [{"content": "step", "status": "pending", "priority": "low"}]},
    "plan_update": {"plan": {"planId": "p", "entries": [{"content": "step"}]}},
    "plan_removed": {"planId": "p"},
    "available_commands_update": {"availableCommands": [{"name": "init", "description": "d"}]},
    "current_mode_update": {"currentModeId": "ask"},
    "config_option_update": {"configOptions": [{"id": "o", "currentValue": "v"}]},
    "session_info_update": {"title": "A title"},
    "usage_update": {"used": 1, "size": 2},
    "notice": {"title": "words", "severity": "warning"},
    "compaction_update": {"compactionId": "c", "status": "in_progress"},
    "compaction_summary_chunk": {"compactionId": "c", "content": TEXT},
}
"""The updates of version 1; the last five and two of plans are unstable."""

TWO: Final[dict[str, dict[str, Any]]] = {
    "user_message": {"messageId": "m1", "content": [TEXT]},
    "agent_message": {"messageId": "m2", "content": [TEXT]},
    "agent_thought": {"messageId": "m3", "content": [TEXT]},
    "tool_call_content_chunk": {"toolCallId": "t", "content": {"type": "content", "content": TEXT}},
    "terminal_update": {"terminalId": "x", "command": "ls", "output": "a"},
    "terminal_output_chunk": {"terminalId": "x", "data": "YQ=="},
    "state_update": {"state": "running"},
}
"""What the drafts of version 2 add."""

CLIENTS: Final[dict[str, dict[str, Any]]] = {
    "error_message": {"message": "It broke"},
    "askuserquestion_response": {"toolCallId": "t", "response": "yes"},
}
"""What logs of a client hold beside them."""


@pytest.mark.parametrize("kind", sorted(ONE | TWO | CLIENTS))
def test_every_update_of_acp_has_its_row(kind: str) -> None:
    """Issue 4: 16 updates of version 1, stable and unstable, and the drafts of version 2."""
    log = Log(protocol=2 if kind in TWO else 1)
    log.prompt()
    log.call("t", title="ls", kind="execute")
    log.update(kind, **(ONE | TWO | CLIENTS)[kind])

    assert len(ONE) == 16
    assert set(UPDATES) == set(ONE | TWO | CLIENTS)
    assert (kind in UNKNOWN) == bool(all_of(log.folded(), Unknown))
