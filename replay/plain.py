"""Frozen values as JSON values, and back: each class's way is worked out once, from its annotations.

Above this module: `dump`, `opening`. Below it: nothing that knows of transcripts.

Nothing is checked here: what comes from elsewhere goes through `dump.load`. A state of the log,
which its checksum covers and this program has written, is read ten times as fast without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

Way = Callable[[Any], Any]
"""Makes of a value the same in another form."""

_set: Final = object.__setattr__


def plain(value: Any) -> dict[str, Any]:
    """Return the fields of *value*, a dataclass, as JSON has them. Values of JSON are shared."""
    members: dict[str, Any] = value.__dict__.copy()
    kind: type = type(value)
    for name, way in _ways_out(kind):
        members[name] = way(members[name])
    return members


def read(kind: type, members: dict[str, Any]) -> Any:
    """Return the *kind* whose fields are *members*; those it lacks have their defaults."""
    defaults, ways = _ways_in(kind)
    whole = defaults | members
    if len(whole) > len(defaults):  # members of another time
        whole = {name: whole[name] for name in defaults}
    for name, way in ways:
        if name in members:
            whole[name] = way(members[name])
    value: Any = object.__new__(kind)
    _set(value, "__dict__", whole)
    return value


def read_one(kinds: Mapping[str, type], members: dict[str, Any]) -> Any:
    """Return the one of *kinds* that its member `kind` names."""
    return read(kinds[members["kind"]], members)


@cache
def _ways_out(kind: type) -> tuple[tuple[str, Way], ...]:
    hints = get_type_hints(kind)
    ways = ((field.name, _way_out(hints[field.name])) for field in fields(kind))
    return tuple((name, way) for name, way in ways if way is not None)


@cache
def _ways_in(kind: type) -> tuple[dict[str, Any], tuple[tuple[str, Way], ...]]:
    hints = get_type_hints(kind)
    defaults: dict[str, Any] = {}
    for field in fields(kind):
        made = None if field.default_factory is MISSING else field.default_factory()
        defaults[field.name] = made if field.default is MISSING else field.default
    ways = ((name, _way_in(hints[name])) for name in defaults)
    return defaults, tuple((name, way) for name, way in ways if way is not None)


def _way_out(hint: Any) -> Way | None:
    """Return what makes JSON of a value of that type; None if it is JSON as it is."""
    arguments = get_args(hint)
    if is_dataclass(hint):
        return plain
    if get_origin(hint) is tuple:
        inner = _way_out(arguments[0])
        return list if inner is None else partial(_listed, inner)
    if get_origin(hint) in (Union, UnionType):
        found = {way for part in arguments if (way := _way_out(part))}
        return partial(_unless_none, found.pop()) if found else None
    return None


def _way_in(hint: Any) -> Way | None:
    """Return what makes a value of that type of JSON; None if it is JSON."""
    arguments = get_args(hint)
    if is_dataclass(hint):
        return partial(read, cast("type[Any]", hint))
    if get_origin(hint) is tuple:
        inner = _way_in(arguments[0])
        return tuple if inner is None else partial(_tupled, inner)
    if get_origin(hint) in (Union, UnionType):
        classes: list[Any] = [part for part in arguments if is_dataclass(part)]
        if len(classes) > 1:
            return partial(read_one, {one.kind: one for one in classes})
        found = [way for part in arguments if (way := _way_in(part))]
        return partial(_unless_none, found[0]) if found else None
    return None


def _listed(way: Way, values: Any) -> list[Any]:
    return [way(value) for value in values]


def _tupled(way: Way, values: Any) -> tuple[Any, ...]:
    return tuple([way(value) for value in values])  # not a generator: half as slow again


def _unless_none(way: Way, value: Any) -> Any:
    return None if value is None else way(value)
