"""An ACP agent's questions as Hermes clients know questions, and their answers back.

Above this module: attachments, methods, `answers`. Below it: `forms`; nothing here has a state.

A permission is an `approval`: each choice stands for the option that comes nearest to it. A form
of choices and words is a `clarify`. What neither can show is not asked of a Hermes client, and
waits for one that can (P-29).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.errors import Code, RpcError
from gateway.hermes_view.forms import content_of, questions_of
from replay import tool_name

Json = dict[str, Any]

METHODS: Final = {"session/request_permission": "approval", "elicitation/create": "clarify"}

CHOICES: Final = ("once", "session", "always", "deny")

_CANCELLED: Final[Json] = {"outcome": {"outcome": "cancelled"}}


def method_of(method: str) -> str:
    """Return the method by which a Hermes client is asked."""
    return METHODS.get(method, method)


def shown(id_: str, method: str, params: Json) -> tuple[str, Json] | None:
    """Return method and params of a question for a Hermes client; None: it cannot be shown."""
    if method == "session/request_permission":
        return "approval", _approval(id_, params)
    if method == "elicitation/create":
        questions = questions_of(params)
        return ("clarify", _clarify(params, questions)) if questions else None
    return method, params


def answer_of(method: str, params: Json, result: Any) -> Any:
    """Return what the asker is answered when a Hermes client said *result*.

    Raises:
        RpcError: -32602, it answers another question than was asked.

    """
    match method, result:
        case "session/request_permission", {"choice": str(choice)}:
            return chosen(params, choice)
        case "elicitation/create", dict():
            return content_of(params, result.get("answers"))
        case (("session/request_permission" | "elicitation/create"), _):
            raise RpcError(Code.INVALID_PARAMS, f"no answer to {method_of(method)}")
    return result


def lockable(method: str, params: Json) -> list[str] | None:
    """Return the ids of the questions that can be locked one by one; None: it is no batch."""
    if method == "elicitation/create":
        questions = questions_of(params)
    elif method == "clarify":
        questions = [item for item in _items(params, "questions") if "qid" in item]
    else:
        return None
    return [question["qid"] for question in questions] if questions else None


def chosen(params: Json, choice: str) -> Json:
    """Return ACP's answer to a permission for a Hermes choice.

    Raises:
        RpcError: -32602, no option stands for it.

    """
    option = _option(_items(params, "options"), choice)
    if option is not None:
        return {"outcome": {"outcome": "selected", "optionId": option}}
    if choice == "deny":
        return _CANCELLED
    raise RpcError(Code.INVALID_PARAMS, f"{choice!r} is not offered")


def _option(options: Sequence[Json], choice: str) -> str | None:
    kinds = {
        "once": ("allow_once",),
        "session": ("allow_always",),
        "always": ("allow_always",),
        "deny": ("reject_once", "reject_always"),
    }.get(choice, ())
    for kind in kinds:
        ids = [item.get("optionId") for item in options if item.get("kind") == kind]
        if ids:
            found = ids[-1 if choice == "always" else 0]
            return found if isinstance(found, str) else None
    return None


def _approval(id_: str, params: Json) -> Json:
    options, call = _items(params, "options"), params.get("toolCall")
    call = call if isinstance(call, dict) else {}
    offered = [choice for choice in CHOICES if choice == "deny" or _option(options, choice)]
    title, kind = (call.get(key) for key in ("title", "kind"))
    words = title if isinstance(title, str) else None
    name = tool_name(None, call, words, kind if isinstance(kind, str) else None)
    return {
        **_of_session(params),
        "request_id": id_,
        "command": _command(call) or words or "",
        "description": words or "",
        "choices": offered,
        "allow_session": "session" in offered,
        "allow_permanent": "always" in offered,
        **({"tool_name": name} if name else {}),
    }


def _command(call: Json) -> str | None:
    match call.get("rawInput"):
        case {"command": str(command)}:
            return command
        case {"command": [*words]}:
            return " ".join(str(word) for word in words)
    return None


def _clarify(params: Json, questions: Sequence[Mapping[str, Any]]) -> Json:
    locked = {"answers": params["answers"]} if "answers" in params else {}
    return {**_of_session(params), "questions": [dict(item) for item in questions], **locked}


def _of_session(params: Json) -> Json:
    known = ("session_id", "replayed")
    return {key: params[key] for key in known if key in params}


def _items(params: Json, key: str) -> list[Json]:
    value = params.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
