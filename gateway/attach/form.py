"""A question of the gateway as something that can be answered by keys.

Above this module: `visit`, `screen`. Below it: the shapes of questions, as agents and Hermes
gateways ask them. No word of an agent leaves it that a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eventlog import is_secret
from gateway.client import Asked
from gateway.hermes_view.forms import content_of, questions_of
from replay import clean_line

Json = dict[str, Any]

_APPROVAL: Final = {
    "once": "Allow once",
    "session": "Allow for this session",
    "always": "Always allow",
    "deny": "Deny",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What one key says."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to be answered: by a key, or in words if *free*."""

    words: str
    choices: Sequence[Choice] = ()
    free: bool = False
    secret: bool = False
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The steps of one question, and what becomes of their answers; None is a skipped step."""

    steps: Sequence[Step]
    result: Callable[[Sequence[Any]], Any]


def form_of(asked: Asked) -> Form | None:
    """Return how a question is answered here; None if it cannot be."""
    make = _FORMS.get(asked.method)
    if make is None and is_secret(asked.method) and asked.method != "vault.save_login":
        make = _value
    return make(asked.params) if make else None


def _permission(params: Json) -> Form | None:
    choices = [
        Choice(clean_line(str(option.get("name") or option["optionId"])), option["optionId"])
        for option in _objects(params, "options")
        if isinstance(option.get("optionId"), str)
    ]
    call = params.get("toolCall")
    title = call.get("title") if isinstance(call, dict) else None
    words = clean_line(title) if isinstance(title, str) else ""
    step = Step(f"Allow {words}?" if words else "Allow this?", choices)
    return Form([step], _selected) if choices else None


def _selected(values: Sequence[Any]) -> Json:
    if values[0] is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": values[0]}}


def _approval(params: Json) -> Form:
    offered = [choice for choice in _texts(params, "choices") if choice in _APPROVAL]
    choices = [Choice(_APPROVAL[name], name) for name in offered or _APPROVAL]
    words = clean_line(str(params.get("description") or params.get("command") or ""))
    step = Step(f"Allow this? {words}".rstrip(), choices)
    return Form([step], lambda values: {"choice": values[0] or "deny"})


def _clarify(params: Json) -> Form | None:
    locked = params.get("answers")
    known = locked if isinstance(locked, dict) else {}
    questions = [one for one in _objects(params, "questions") if one.get("qid") not in known]
    ids = [str(one.get("qid")) for one in questions]

    def result(values: Sequence[Any]) -> Json:
        return {"answers": {**known, **dict(zip(ids, values, strict=True))}}

    return Form([_question(one) for one in questions], result) if questions else None


def _elicitation(params: Json) -> Form | None:
    questions = questions_of(params)
    ids = [one["qid"] for one in questions]

    def result(values: Sequence[Any]) -> Json:
        return content_of(params, dict(zip(ids, values, strict=True)))

    return Form([_question(one) for one in questions], result) if questions else None


def _question(one: Mapping[str, Any]) -> Step:
    return Step(
        clean_line(str(one.get("question") or "")),
        [Choice(clean_line(choice), choice) for choice in _texts(one, "choices")],
        free=True,
        multiple=one.get("multi_select") is True,
    )


def _value(params: Json) -> Form:
    named = (params.get(key) for key in ("prompt", "command", "env_var", "title"))
    words = next((word for word in named if isinstance(word, str) and word), "A secret is needed")
    step = Step(clean_line(words), free=True, secret=True)
    return Form([step], lambda values: {"value": values[0] or ""})


def _objects(params: Mapping[str, Any], key: str) -> list[Json]:
    value = params.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(params: Mapping[str, Any], key: str) -> list[str]:
    value = params.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


_FORMS: Final[Mapping[str, Callable[[Json], Form | None]]] = {
    "session/request_permission": _permission,
    "approval": _approval,
    "clarify": _clarify,
    "elicitation/create": _elicitation,
}
