"""JSON-RPC 2.0 frames: bytes in, values out, and back. No I/O, no state.

Above this module: `Peer`, the player. Below it: `eventlog.codec`.

Values whose JSON text exists already go out as they are (`Raw`), so that history is spliced and
never parsed and printed again (P-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from eventlog import Malformed, codec
from gateway.errors import BadFrame, Code, RpcError

Params = dict[str, Any]
RequestId = int | str

MAX_DEPTH: Final = codec.MAX_DEPTH
"""Containers inside containers that a client's frame may have (P-3)."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A value as the JSON text that it already is, on one line."""

    text: bytes

    @classmethod
    def array(cls, items: Iterable[bytes]) -> Raw:
        """Return the array of *items*, each of them JSON text."""
        return cls(b"[" + b",".join(items) + b"]")

    @classmethod
    def object(cls, members: Mapping[str, Any]) -> Raw:
        """Return the object of *members*, whose values may be `Raw`."""
        parts = [b"{"]
        for key, value in members.items():
            parts += (codec.dumps(key), b":", _text(value), b",")
        parts[max(1, len(parts) - 1) :] = [b"}"]
        return cls(b"".join(parts))  # one copy, however long a value is


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants an answer."""

    id: RequestId
    method: str
    params: Params | Raw = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notification:
    """A call that wants none."""

    method: str
    params: Params | Raw = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    id: RequestId
    result: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that says no. Without an id it answers something that could not be read."""

    id: RequestId | None
    error: RpcError


Frame = Request | Notification | Reply | Failure


def parse(data: bytes, *, max_depth: int = MAX_DEPTH) -> Frame:
    """Read one frame.

    Raises:
        BadFrame: it is not JSON, not a frame, or its params are no object (P-2).

    """
    try:
        value = codec.loads(data, max_depth=max_depth)
    except Malformed as error:
        raise BadFrame(Code.PARSE_ERROR, f"Parse error: {error}") from None
    match value:
        case {"method": str(method)} if method and value.get("jsonrpc") == "2.0":
            return _call(method, value)
        case {"id": id_, "error": error} if error is not None and "method" not in value:
            return Failure(id_ if is_id(id_) else None, _refusal(error))
        case {"id": id_, "result": result} if is_id(id_) and "method" not in value:
            return Reply(id_, result)
    raise _no_frame(value)


def dump(frame: Frame) -> bytes:
    """Write one frame, on one line."""
    match frame:
        case Request(id_, method, params):
            return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (
                codec.dumps(id_),
                codec.dumps(method),
                _text(params),
            )
        case Notification(method, params):
            return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (
                codec.dumps(method),
                _text(params),
            )
        case Reply(id_, result):
            head = b'{"jsonrpc":"2.0","id":%b,"result":' % codec.dumps(id_)
            return b"".join((head, _text(result), b"}"))
        case Failure(id_, error):
            said: Params = {"code": int(error.code), "message": error.message}
            if error.data is not None:
                said["data"] = error.data
            return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (codec.dumps(id_), codec.dumps(said))


def is_id(value: object) -> TypeGuard[RequestId]:
    """Whether *value* can be the id of a request: a string or an integer, and no boolean."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def _call(method: str, frame: Params) -> Request | Notification:
    id_ = frame.get("id")
    if "id" in frame and not is_id(id_):
        raise BadFrame(Code.INVALID_REQUEST, "Invalid request: id is neither string nor integer")
    params = {} if frame.get("params") is None else frame["params"]
    if not isinstance(params, dict):
        message = f"Invalid params for {method[:100]}: an object is needed"
        raise BadFrame(Code.INVALID_PARAMS, message, {"path": "params"}, id_)
    return Notification(method, params) if id_ is None else Request(id_, method, params)


def _refusal(error: Any) -> RpcError:
    """Read the error of an answer; one of a wrong shape still ends its request."""
    match error:
        case {"code": int(code), "message": str(message)}:
            return RpcError(code, message, error.get("data"))
        case {"code": int(code)}:
            return RpcError(code, str(error.get("message", "")), error.get("data"))
    return RpcError(Code.INTERNAL_ERROR, "the peer answered with an error of no known form", error)


def _no_frame(value: Any) -> BadFrame:
    match value:
        case list():
            reason = "batches are not supported"
        case dict() if value.get("jsonrpc") != "2.0":
            reason = 'jsonrpc must be "2.0"'
        case dict():
            reason = "method must be a non-empty string"
        case _:
            reason = "an object is needed"
    return BadFrame(
        Code.INVALID_REQUEST, f"Invalid request: {reason}", id=value["id"] if _asks(value) else None
    )


def _asks(value: Any) -> bool:
    """Whether somebody waits for the answer to this."""
    return (
        isinstance(value, dict)
        and is_id(value.get("id"))
        and not value.keys() & {"result", "error"}
    )


def _text(value: Any) -> bytes:
    return value.text if isinstance(value, Raw) else codec.dumps(value)
