"""Frozen values, made and copied fast; only the fold does this, and only before anyone sees them.

Above this module: `row`, `contents`. Below it: nothing.

The constructor of a frozen dataclass sets field by field through `object.__setattr__`: 5 µs for a
tool, more than all that is left for a record (B-12). Here a value is given its dictionary whole:
a copy of its class's, with what is known laid over it.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")

_new: Final = object.__new__
_set: Final = object.__setattr__


class _Defaults(dict[type, dict[str, Any]]):
    """Each class's fields in their order, with defaults that nobody changes."""

    def __missing__(self, kind: type) -> dict[str, Any]:
        defaults = self[kind] = {}
        for field in fields(kind):
            if field.default_factory is not MISSING:
                defaults[field.name] = field.default_factory()
            else:
                # one that has no default is among what is given
                defaults[field.name] = None if field.default is MISSING else field.default
        return defaults


_DEFAULTS: Final = _Defaults()


def made(kind: type[T], given: dict[str, Any]) -> T:
    """Return a *kind* with the fields *given*, all that have no default among them."""
    value = _new(kind)
    _set(value, "__dict__", _DEFAULTS[kind] | given)
    return value


def copied(value: T) -> T:
    """Return another value with the same fields."""
    copy = _new(type(value))
    _set(copy, "__dict__", value.__dict__.copy())
    return copy


def changed(value: T, /, **changes: Any) -> T:
    """Return *value* with other fields, as `dataclasses.replace` does."""
    other = _new(type(value))
    _set(other, "__dict__", value.__dict__ | changes)
    return other
