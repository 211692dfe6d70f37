"""Reading a payload: what is there in the shape it must have, or a `Misshapen` that says what is not.

Above this module: every step of the fold. Below it: nothing.

`maybe_*` treats a member that is missing and one that is null alike, as ACP v1 does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Payload = dict[str, Any]


class Misshapen(Exception):
    """A payload is not in the shape that its type has; the fold shows it as it is (F-L8)."""


def as_text(key: str, value: Any) -> str:
    """Return *value*, which stands at *key*, as the string that it is."""
    if isinstance(value, str):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not a string")


def as_items(key: str, value: Any) -> list[Any]:
    """Return *value*, which stands at *key*, as the array that it is."""
    if isinstance(value, list):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not an array")


def text(payload: Mapping[str, Any], key: str) -> str:
    """Return the string at *key*."""
    return as_text(key, payload.get(key))


def maybe_text(payload: Mapping[str, Any], key: str) -> str | None:
    """Return the string at *key*, or None if there is none."""
    value = payload.get(key)
    if value is None or isinstance(value, str):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not a string")


def name(payload: Mapping[str, Any], key: str) -> str:
    """Return the id at *key*: JSON-RPC has strings and integers."""
    value = payload.get(key)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise Misshapen(f"{key} is {_kind(value)}, not an id")


def mapping(payload: Mapping[str, Any], key: str) -> Payload:
    """Return the object at *key*."""
    value = payload.get(key)
    if isinstance(value, dict):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not an object")


def maybe_mapping(payload: Mapping[str, Any], key: str) -> Payload | None:
    """Return the object at *key*, or None if there is none."""
    return None if payload.get(key) is None else mapping(payload, key)


def items(payload: Mapping[str, Any], key: str) -> list[Any]:
    """Return the array at *key*."""
    return as_items(key, payload.get(key))


def maybe_items(payload: Mapping[str, Any], key: str) -> list[Any] | None:
    """Return the array at *key*, or None if there is none."""
    return None if payload.get(key) is None else items(payload, key)


def objects(payload: Mapping[str, Any], key: str) -> list[Payload]:
    """Return the array of objects at *key*, empty if there is none."""
    values = maybe_items(payload, key) or []
    for at, value in enumerate(values):
        if not isinstance(value, dict):
            raise Misshapen(f"{key}[{at}] is {_kind(value)}, not an object")
    return values


def texts(payload: Mapping[str, Any], key: str) -> list[str]:
    """Return the array of strings at *key*, empty if there is none."""
    values = maybe_items(payload, key) or []
    for at, value in enumerate(values):
        if not isinstance(value, str):
            raise Misshapen(f"{key}[{at}] is {_kind(value)}, not a string")
    return values


def integer(payload: Mapping[str, Any], key: str) -> int:
    """Return the integer at *key*."""
    value = payload.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not an integer")


def maybe_integer(payload: Mapping[str, Any], key: str) -> int | None:
    """Return the integer at *key*, or None if there is none."""
    return None if payload.get(key) is None else integer(payload, key)


def maybe_number(payload: Mapping[str, Any], key: str) -> float | None:
    """Return the number at *key*, or None if there is none."""
    value = payload.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise Misshapen(f"{key} is {_kind(value)}, not a number")


_KINDS: Final[Mapping[type, str]] = {
    type(None): "missing",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
