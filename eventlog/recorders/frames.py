"""JSON-RPC frames as recorders see them: what is asked, told and answered.

Above this module: the recorders. Below it: `codec`. It judges nothing: a frame that is no
JSON-RPC at all is `None`, and the recorder says what becomes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eventlog import codec
from eventlog.errors import Malformed


@dataclass(frozen=True, slots=True)
class Call:
    """A request: somebody waits for its answer."""

    id: Any
    method: str
    params: Any = None

    def frame(self) -> dict[str, Any]:
        """Return it as it went over the wire."""
        return {"id": self.id, "method": self.method, "params": self.params}


@dataclass(frozen=True, slots=True)
class Notification:
    """A frame that nobody answers."""

    method: str
    params: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a call. *outcome* is `{"result": …}` or `{"error": …}`."""

    id: Any
    outcome: Mapping[str, Any]

    @property
    def refused(self) -> bool:
        """Whether it is an error."""
        return "error" in self.outcome

    @property
    def result(self) -> Mapping[str, Any]:
        """The result, if it is an object, else an empty one."""
        return members(self.outcome.get("result"))


Frame = Call | Notification | Answer


def read_frame(text: bytes) -> Frame | None:
    """Return what *text* is, or None if it is no JSON-RPC frame."""
    try:
        value = codec.loads(text)
    except Malformed:
        return None
    match value:
        case {"method": str(method), "id": id_} if id_ is not None:
            return Call(id_, method, value.get("params"))
        case {"method": str(method)}:
            return Notification(method, value.get("params"))
        case {"id": id_, "error": error} if error is not None:
            return Answer(id_, {"error": error})
        case {"id": id_, "result": result}:
            return Answer(id_, {"result": result})
    return None


def key_of(id_: Any) -> bytes:
    """Return a key for a frame's id: `1`, `"1"` and `true` are three different ids."""
    return codec.dumps(id_)


def members(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def without(value: Any, *names: str) -> dict[str, Any]:
    """Return the members of *value* but those called *names*."""
    return {name: item for name, item in members(value).items() if name not in names}


def text_of(value: Any, name: str) -> str | None:
    """Return the member *name* of *value* if it is a string that is not empty."""
    item = members(value).get(name)
    return item if isinstance(item, str) and item else None
