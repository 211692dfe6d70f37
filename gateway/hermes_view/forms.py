"""ACP forms (elicitations) as Hermes's questions: choices, several choices, words.

Above this module: `asks`. Below it: nothing of ours.

Real forms put a free text beside a choice (`question_0` and `question_0_custom`): together they
are one question, since a Hermes client lets its user type another answer anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog import Malformed, codec
from gateway.errors import Code, RpcError

Json = dict[str, Any]

MOST: Final = 5
"""Questions that a `clarify` may hold."""

CUSTOM: Final = "_custom"
_YES_NO: Final = {"Yes": True, "No": False}


def questions_of(params: Mapping[str, Any]) -> list[Json]:
    """Return the questions of a form; none if it holds anything else than choices and words."""
    fields = _fields(params)
    shown = {name: field for name, field in fields.items() if not _beside(name, fields)}
    if params.get("mode", "form") != "form" or len(shown) > MOST:
        return []
    questions = [_question(name, field, params) for name, field in shown.items()]
    if any(question is None for question in questions):
        return []
    known = [question for question in questions if question is not None]
    if len(known) == 1 and (message := params.get("message")):
        known[0]["question"] = message
    return known


def content_of(params: Mapping[str, Any], answers: Any) -> Json:
    """Return the answer to a form. No answers at all cancel it; none to what is needed declines.

    Raises:
        RpcError: -32602, an answer is none of the choices.

    """
    if answers is None:
        return {"action": "cancel"}
    if not isinstance(answers, dict):
        raise RpcError(Code.INVALID_PARAMS, "answers: an object is needed")
    fields = _fields(params)
    content: Json = {}
    for name, said in answers.items():
        if name not in fields:
            raise RpcError(Code.INVALID_PARAMS, f"there is no question {name!r}")
        if said is not None:
            content |= _value(name, said, fields)
    needed = _schema(params).get("required")
    missing = [name for name in needed or () if name not in content]
    return {"action": "decline"} if missing or not content else _accept(content)


def _accept(content: Json) -> Json:
    return {"action": "accept", "content": content}


def _question(name: str, field: Json, params: Mapping[str, Any]) -> Json | None:
    choices, multiple = _choices(field), field.get("type") == "array"
    if choices is None and field.get("type") != "string":
        return None
    words = (field.get(key) for key in ("title", "description"))
    text = next((word for word in words if isinstance(word, str) and word), name)
    message = params.get("message")
    first = name == next(iter(_fields(params)))
    question = {"qid": name, "question": f"{message}\n{text}" if message and first else text}
    offered = {"choices": list(choices)} if choices else {}
    return {**question, **offered, "multi_select": multiple}


def _choices(field: Json) -> dict[str, Any] | None:
    """Return what a field offers: what is shown, and what it stands for."""
    if field.get("type") == "boolean":
        return _YES_NO
    if field.get("type") == "array":
        items = field.get("items")
        return _choices(items) if isinstance(items, dict) else None
    offered = field.get("oneOf") or field.get("anyOf")
    if isinstance(offered, list):
        pairs = [(item.get("title"), item.get("const")) for item in offered if "const" in item]
        return {str(title or const): const for title, const in pairs} or None
    if isinstance(field.get("enum"), list):
        names = field.get("enumNames") or field["enum"]
        return dict(zip(map(str, names), field["enum"], strict=False)) or None
    return None


def _value(name: str, said: Any, fields: Mapping[str, Json]) -> Json:
    field = fields[name]
    choices = _choices(field)
    if choices is None:
        return {name: said if isinstance(said, str) else str(said)}
    if field.get("type") == "array":
        return {name: [_picked(name, word, choices) for word in _several(said, choices)]}
    if isinstance(said, str) and name + CUSTOM in fields and said not in _known(choices):
        return {name + CUSTOM: said}
    return {name: _picked(name, said, choices)}


def _picked(name: str, said: Any, choices: Mapping[str, Any]) -> Any:
    if isinstance(said, str) and said in choices:
        return choices[said]
    if said in choices.values():
        return said
    raise RpcError(Code.INVALID_PARAMS, f"{name}: {said!r} is not offered")


def _several(said: Any, choices: Mapping[str, Any]) -> list[Any]:
    """Return the choices in an answer: a list, its JSON text, or words with commas between."""
    if isinstance(said, list):
        return said
    if not isinstance(said, str) or said in _known(choices):
        return [said]
    try:
        listed = codec.loads(said.encode())
    except Malformed:
        listed = None
    return listed if isinstance(listed, list) else [word.strip() for word in said.split(",")]


def _known(choices: Mapping[str, Any]) -> set[str]:
    return {*choices, *(value for value in choices.values() if isinstance(value, str))}


def _beside(name: str, fields: Mapping[str, Json]) -> bool:
    """Whether a field is the free text of another one."""
    other = fields.get(name.removesuffix(CUSTOM)) if name.endswith(CUSTOM) else None
    return other is not None and _choices(other) is not None


def _fields(params: Mapping[str, Any]) -> dict[str, Json]:
    properties = _schema(params).get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: field for name, field in properties.items() if isinstance(field, dict)}


def _schema(params: Mapping[str, Any]) -> Json:
    schema = params.get("requestedSchema")
    return schema if isinstance(schema, dict) else {}
