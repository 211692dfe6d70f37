"""Permissions as approvals, forms as clarifies, and what is answered for each choice."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import RpcError
from gateway.hermes_view import answer_of, lockable, shown

PERMISSION = "session/request_permission"
FORM = "elicitation/create"


def options(*kinds: str) -> list[dict[str, str]]:
    return [{"optionId": f"{kind}-{n}", "kind": kind, "name": kind} for n, kind in enumerate(kinds)]


def picked(kinds: tuple[str, ...], choice: str) -> str:
    answer = answer_of(PERMISSION, {"options": options(*kinds)}, {"choice": choice})
    return str(answer["outcome"].get("optionId", answer["outcome"]["outcome"]))


@pytest.mark.parametrize(
    ("kinds", "choice", "option"),
    [
        (("allow_once", "reject_once"), "once", "allow_once-0"),
        (("allow_once", "reject_once"), "deny", "reject_once-1"),
        (("reject_always", "reject_once"), "deny", "reject_once-1"),
        (("allow_once", "reject_always"), "deny", "reject_always-1"),
        (("allow_once",), "deny", "cancelled"),
        (("allow_always", "allow_once", "allow_always"), "session", "allow_always-0"),
        (("allow_always", "allow_once", "allow_always"), "always", "allow_always-2"),
        (("allow_always", "allow_once"), "session", "allow_always-0"),
        (("allow_once", "allow_once"), "once", "allow_once-0"),
    ],
)
def test_each_choice_is_an_option(kinds: tuple[str, ...], choice: str, option: str) -> None:
    """P-6: once, session, always and deny stand for the options that come nearest."""
    assert picked(kinds, choice) == option


@pytest.mark.parametrize("choice", ["session", "always", "maybe"])
def test_a_choice_that_was_not_offered_is_refused(choice: str) -> None:
    """R077: it is malformed, and neither an approval nor a denial."""
    with pytest.raises(RpcError, match="not offered"):
        picked(("allow_once", "reject_once"), choice)


def test_a_permission_is_an_approval() -> None:
    """P-6: with the command, the choices that there are, and an id to respond to (R072)."""
    call = {"toolCallId": "t", "title": "Run it", "kind": "execute", "rawInput": {"command": "ls"}}
    params = {"session_id": "s", "toolCall": call, "options": options("allow_once", "reject_once")}
    found = shown("srq-1", PERMISSION, params)

    assert found
    assert found[0] == "approval"
    assert found[1] == {
        "session_id": "s",
        "request_id": "srq-1",
        "command": "ls",
        "description": "Run it",
        "choices": ["once", "deny"],
        "allow_session": False,
        "allow_permanent": False,
        "tool_name": "execute",
    }


CHOICE = {
    "type": "string",
    "title": "Colour",
    "oneOf": [{"const": "r", "title": "Red — warm"}, {"const": "b", "title": "Blue"}],
}
OTHER = {"type": "string", "title": "Other"}


def form(*required: str, **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": fields, "required": list(required)}
    return {"mode": "form", "message": "Which?", "requestedSchema": schema, "session_id": "s"}


def answered(params: dict[str, Any], **answers: Any) -> Any:
    return answer_of(FORM, params, {"answers": answers})


def test_a_form_of_choices_is_a_clarify() -> None:
    """P-6: as claude asks: one field of choices, and a text beside it for another answer."""
    params = form(q=CHOICE, q_custom=OTHER)
    found = shown("srq-1", FORM, params)

    assert found == (
        "clarify",
        {
            "session_id": "s",
            "questions": [
                {
                    "qid": "q",
                    "question": "Which?",
                    "choices": ["Red — warm", "Blue"],
                    "multi_select": False,
                }
            ],
        },
    )
    assert lockable(FORM, params) == ["q"]
    assert answered(params, q="Blue") == {"action": "accept", "content": {"q": "b"}}
    assert answered(params, q="green") == {"action": "accept", "content": {"q_custom": "green"}}
    assert answered(params, q=None) == {"action": "decline"}
    assert answer_of(FORM, params, {}) == {"action": "cancel"}


def test_several_choices_words_and_yes_or_no() -> None:
    """P-6: what a Hermes client can show is asked in its way."""
    many = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}
    params = form("many", many=many, free=OTHER, sure={"type": "boolean"})
    found = shown("srq-1", FORM, params)

    assert found
    assert [item.get("choices") for item in found[1]["questions"]] == [
        ["a", "b", "c"],
        None,
        ["Yes", "No"],
    ]
    content = {"many": ["a", "c"], "free": "w", "sure": False}
    assert answered(params, many="a, c", free="w", sure="No")["content"] == content
    assert answered(params, many='["a","c"]', free="w", sure="No")["content"] == content
    assert answered(params, many=["a", "c"], free="w", sure="No")["content"] == content
    assert answered(params, free="w") == {"action": "decline"}


@pytest.mark.parametrize(
    "params",
    [
        form(n={"type": "number"}),
        form(),
        form(**{f"q{n}": CHOICE for n in range(6)}),
        {"mode": "url", "url": "https://example.com", "message": "x"},
        {"mode": "form", "requestedSchema": None},
    ],
)
def test_what_hermes_cannot_show_is_not_asked(params: dict[str, Any]) -> None:
    """P-29: it waits for a client that can."""
    assert shown("srq-1", FORM, params) is None


@pytest.mark.parametrize("said", ["red", 7, ["Red — warm"], {}])
def test_an_answer_that_is_no_choice_is_refused(said: Any) -> None:
    """R077: malformed, so that the agent is never given what it did not offer."""
    with pytest.raises(RpcError):
        answered(form(q=CHOICE), q=said)


def test_an_answer_to_what_was_not_asked_is_refused() -> None:
    """R077: a form has the fields that it has."""
    for answers in ({"nope": "x"}, {"q": "Blue", "more": "x"}):
        with pytest.raises(RpcError, match="no question"):
            answered(form(q=CHOICE), **answers)
    with pytest.raises(RpcError):
        answer_of(FORM, form(q=CHOICE), {"answers": "Blue"})
    with pytest.raises(RpcError):
        answer_of(PERMISSION, {"options": options("allow_once")}, {"choice": None})


def test_other_questions_are_hermess_own() -> None:
    """P-6: they pass as they are, and so do their answers."""
    params = {"questions": [{"qid": "q0", "question": "?"}]}
    assert shown("srq-1", "clarify", params) == ("clarify", params)
    assert answer_of("secret", {}, {"value": "x"}) == {"value": "x"}
    assert lockable("clarify", params) == ["q0"]
    assert lockable("secret", params) is None
