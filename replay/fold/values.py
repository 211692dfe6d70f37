"""Frozen values, made and copied fast; only the fold does this, and only before anyone sees them.

Above this module: `row`, `contents`. Below it: nothing.

The constructor of a frozen dataclass sets field by field through `object.__setattr__`: 5 µs for a
tool, ten times what is left for a record (B-12). Here its dictionary is filled in one go.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")


class _Defaults(dict[type, dict[str, Any]]):
    """The defaults of each class's fields; all of them are values that nobody changes."""

    def __missing__(self, kind: type) -> dict[str, Any]:
        defaults = self[kind] = {}
        for field in fields(kind):
            if field.default is not MISSING:
                defaults[field.name] = field.default
            elif field.default_factory is not MISSING:
                defaults[field.name] = field.default_factory()
        return defaults


DEFAULTS: Final = _Defaults()


def made(kind: type[T], given: dict[str, Any]) -> T:
    """Return a *kind* with the fields *given* and the defaults of the others."""
    value = object.__new__(kind)
    members = value.__dict__
    members.update(DEFAULTS[kind])
    members.update(given)
    return value


def copied(value: T) -> T:
    """Return another value with the same fields."""
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__)
    return copy


def changed(value: T, /, **changes: Any) -> T:
    """Return *value* with other fields, as `dataclasses.replace` does."""
    other = copied(value)
    other.__dict__.update(changes)
    return other
