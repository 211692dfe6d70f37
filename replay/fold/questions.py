"""What a request asks: for each method, the words, the choices and what is shown of its answer.

Above this module: `asks`. Below it: `shape`, `pieces`, `blocks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.fold import shape
from replay.fold.blocks import as_json, text_or_block
from replay.fold.shape import Misshapen, Payload
from replay.fold.strings import shortened
from replay.fold.values import changed, made
from replay.pieces import Json, Option, Question

SECRET_METHODS = frozenset({"sudo", "display.install.sudo", "secret"})


def is_secret(method: str) -> bool:
    """Tell whether the answer to *method* is never recorded (P-33)."""
    return method in SECRET_METHODS or method.startswith("vault.")


def what_of(method: str) -> str:
    """Return what sort of question *method* asks."""
    return {
        "session/request_permission": "permission",
        "elicitation/create": "elicitation",
    }.get(method, method)


def asked(method: str, params: Payload) -> dict[str, Any]:
    """Return the fields of an ask that *params* fill."""
    match what_of(method):
        case "permission":
            return _permission(params)
        case "approval":
            return _approval(params)
        case "clarify":
            return {"questions": tuple(_clarify(one) for one in shape.objects(params, "questions"))}
        case "elicitation":
            return _elicitation(params)
        case "secret" | "sudo":
            return {
                "title": shape.maybe_text(params, "prompt") or shape.maybe_text(params, "env_var"),
                "text": shape.maybe_text(params, "command"),
            }
    rest = {key: value for key, value in params.items() if key != "session_id"}
    return {"text": as_json(shortened(rest)) if rest else None}


def _permission(params: Payload) -> dict[str, Any]:
    call = shape.maybe_mapping(params, "toolCall") or {}
    title = shape.maybe_text(params, "title") or shape.maybe_text(call, "title")
    options = tuple(_permission_option(option) for option in shape.objects(params, "options"))
    return {
        "title": title,
        "text": _words(call),
        "questions": (
            made(Question, {"id": "permission", "text": title or "", "options": options}),
        ),
    }


def _permission_option(option: Payload) -> Option:
    name = shape.name(option, "optionId")
    label, kind = shape.maybe_text(option, "name"), shape.maybe_text(option, "kind")
    return made(Option, {"id": name, "label": label or name, "kind": kind})


def _words(call: Payload) -> str | None:
    """Return the text among a permission's content: it is the question's, not the tool's."""
    parts = [
        part
        for piece in shape.maybe_items(call, "content") or ()
        if isinstance(piece, dict) and piece.get("type") == "content"
        if isinstance(part := text_or_block(piece.get("content")), str)
    ]
    return "\n".join(parts) or None


def _approval(params: Payload) -> dict[str, Any]:
    title = shape.maybe_text(params, "description")
    return {
        "title": title or None,
        "text": shape.maybe_text(params, "command") or None,
        "request_id": shape.maybe_text(params, "request_id"),
        "questions": (
            Question(
                id="choice",
                text=title or "",
                options=tuple(_option(choice) for choice in shape.texts(params, "choices")),
            ),
        ),
    }


def _clarify(one: Payload) -> Question:
    return Question(
        id=shape.name(one, "qid"),
        text=shape.text(one, "question"),
        options=tuple(_option(choice) for choice in shape.texts(one, "choices")),
        multiple=one.get("multi_select") is True,
    )


def _option(choice: str) -> Option:
    return Option(id=choice, label=choice)


def _elicitation(params: Payload) -> dict[str, Any]:
    schema = shape.maybe_mapping(params, "requestedSchema") or {}
    fields = shape.maybe_mapping(schema, "properties") or {}
    return {
        "title": shape.maybe_text(params, "message"),
        "text": shape.maybe_text(params, "url"),
        "questions": tuple(_field(name, field) for name, field in fields.items()),
    }


def _field(name: str, field: Any) -> Question:
    if not isinstance(field, dict):
        raise Misshapen(f"the field {name} of the form is no object")
    items = field.get("items")
    inner: Payload = items if isinstance(items, dict) else field
    return Question(
        id=name,
        text=shape.maybe_text(field, "title") or shape.maybe_text(field, "description") or name,
        options=_choices(inner),
        multiple=field.get("type") == "array",
    )


def _choices(field: Payload) -> tuple[Option, ...]:
    match field:
        case {"oneOf": list(choices)} | {"anyOf": list(choices)}:
            return tuple(
                Option(id=str(choice["const"]), label=str(choice.get("title", choice["const"])))
                for choice in choices
                if isinstance(choice, dict) and "const" in choice
            )
        case {"enum": list(values)}:
            return tuple(Option(id=str(value), label=str(value)) for value in values)
    return ()


# -- answers -------------------------------------------------------------------------------------


def chosen(value: Json) -> tuple[str, ...]:
    """Return an answer as the ids or words it consists of; None is a question that was skipped."""
    match value:
        case None:
            return ()
        case str():
            return (value,)
        case list():
            return tuple(part for item in value for part in chosen(item))
    return (as_json(value),)


def with_answers(
    questions: tuple[Question, ...], answers: Mapping[str, Json]
) -> tuple[Question, ...]:
    """Return *questions* with *answers* by their ids; what was locked stays unless answered."""
    return tuple(_answered(question, answers) for question in questions)


def _answered(question: Question, answers: Mapping[str, Json]) -> Question:
    if question.id not in answers:
        return question
    value = answers[question.id]
    answer, skipped = chosen(value), value is None
    return changed(question, answer=answer, skipped=skipped)
