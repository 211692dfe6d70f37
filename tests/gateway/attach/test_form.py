"""Every question that can be answered by keys, and what is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eventlog import SessionId, codec
from gateway.attach.form import Form, form_of
from gateway.client import Asked
from gateway.contracts import SERVER_REQUESTS


def form(method: str, **params: Any) -> Form:
    found = form_of(Asked("srq-1", method, params, SessionId("s-1")))
    assert found
    return found


def result(method: str, values: list[Any], **params: Any) -> Any:
    """Return an answer, held against the contract of what was asked."""
    answer = form(method, **params).result(values)
    contract = SERVER_REQUESTS[method].result
    assert contract
    contract.model_validate(answer)
    return answer


def test_permission_of_an_agent() -> None:
    """A permission offers the agent's own options, in its order; what is chosen is its id."""
    options = [
        {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    params = {"options": options, "toolCall": {"toolCallId": "t", "title": "rm -rf build"}}
    (step,) = form("session/request_permission", **params).steps
    assert step.words == "Allow rm -rf build?"
    assert [(one.label, one.value) for one in step.choices] == [
        ("Allow", "allow"),
        ("Reject", "no"),
    ]
    chosen = result("session/request_permission", ["no"], **params)
    assert chosen == {"outcome": {"outcome": "selected", "optionId": "no"}}
    skipped = result("session/request_permission", [None], **params)
    assert skipped == {"outcome": {"outcome": "cancelled"}}


def test_nothing_that_a_terminal_obeys() -> None:
    """R132: titles, options and questions of an agent are words, whatever is in them."""
    evil = "\x1b]0;title\x07a\x1b[2J\rb\u202e\nc"
    permission = form(
        "session/request_permission",
        options=[{"optionId": "x", "name": evil}],
        toolCall={"title": evil},
    )
    clarify = form("clarify", questions=[{"qid": "q", "question": evil, "choices": [evil]}])
    secret = form("secret", prompt=evil)
    for step in (*permission.steps, *clarify.steps, *secret.steps):
        shown = step.words + "".join(choice.label for choice in step.choices)
        assert shown.isprintable()
    assert clarify.steps[0].choices[0].value == evil


def test_approval_of_hermes() -> None:
    """An approval offers what the gateway offers, else all four; skipping denies."""
    (step,) = form("approval", request_id="r", choices=["once", "deny"]).steps
    assert [choice.value for choice in step.choices] == ["once", "deny"]
    assert len(form("approval", request_id="r").steps[0].choices) == 4
    assert result("approval", ["once"], request_id="r") == {"choice": "once"}
    assert result("approval", [None], request_id="r") == {"choice": "deny"}


def test_questions_of_hermes() -> None:
    """A batch is answered question by question; what others have locked is not asked again."""
    questions = [
        {"qid": "a", "question": "Which?", "choices": ["x", "y"]},
        {"qid": "b", "question": "Why?"},
        {"qid": "c", "question": "All?", "choices": ["1", "2"], "multi_select": True},
    ]
    params = {"questions": questions, "answers": {"a": "x"}}
    steps = form("clarify", **params).steps
    assert [(step.words, step.free, step.multiple) for step in steps] == [
        ("Why?", True, False),
        ("All?", True, True),
    ]
    answers = {"a": "x", "b": None, "c": ["1", "2"]}
    assert result("clarify", [None, ["1", "2"]], **params) == {"answers": answers}


def test_form_of_an_agent(captures: Path) -> None:
    """A real form: its choices are offered, and the answer is one that its agent takes."""
    lines = (captures / "acp" / "claude049-elicit.jsonl").read_bytes().splitlines()
    frames = [codec.loads(line).get("frame") for line in lines]
    asked = next(frame for frame in frames if frame and frame.get("method") == "elicitation/create")
    steps = form("elicitation/create", **asked["params"]).steps
    values = [step.choices[0].value for step in steps]
    answer = result("elicitation/create", values, **asked["params"])
    assert answer["action"] == "accept"
    none = result("elicitation/create", [None] * len(steps), **asked["params"])
    assert none == {"action": "decline"}


def test_secrets_are_typed_unseen() -> None:
    """What is never recorded (P-33) is not shown either."""
    for method in ("sudo", "secret", "vault.code"):
        (step,) = form(method, command="apt install x").steps
        assert step.secret
        assert step.free
        assert result(method, ["hunter2"]) == {"value": "hunter2"}


def test_what_cannot_be_shown_here() -> None:
    """P-29: a question for a window, or without a choice, waits for another client."""
    for method, params in (
        ("window.read", {}),
        ("vault.save_login", {}),
        ("session/request_permission", {"options": []}),
        ("clarify", {"questions": []}),
        ("elicitation/create", {"mode": "url", "url": "https://example.org"}),
    ):
        assert form_of(Asked("srq-1", method, params, SessionId("s-1"))) is None
