"""What claims to be a transcript, checked member by member before it is one.

Above this module: `dump`. Below it: pydantic, `transcript`.

Entries are checked each by the class that its `kind` names: a union of all of them would be tried
class by class, fifteen times as slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn, get_args

from pydantic import TypeAdapter, ValidationError

from replay.entries import AnyEntry
from replay.errors import NotATranscript
from replay.transcript import Transcript


@cache
def shape() -> TypeAdapter[Transcript]:
    """Return what reads and describes transcripts; made once, by the first who needs it."""
    return TypeAdapter(Transcript)


@cache
def _kinds() -> dict[str, TypeAdapter[AnyEntry]]:
    return {kind.kind: TypeAdapter(kind) for kind in get_args(AnyEntry)}


def check(members: Mapping[str, Any]) -> Transcript:
    """Return the transcript of these *members*.

    Raises:
        NotATranscript: they are none; it says which is wrong.

    """
    listed = members.get("entries", ())
    if not isinstance(listed, list | tuple):
        raise NotATranscript("entries: an array is needed")
    try:
        whole = shape().validate_python({**members, "entries": ()})
    except ValidationError as error:
        _refuse(error)
    entries = tuple(_entry(place, entry) for place, entry in enumerate(listed))
    return replace(whole, entries=entries)


def _entry(place: int, members: Any) -> AnyEntry:
    kind = members.get("kind") if isinstance(members, dict) else None
    if not isinstance(kind, str) or (checker := _kinds().get(kind)) is None:
        raise NotATranscript(f"entries.{place}: of no kind that entries have")
    try:
        return checker.validate_python(members)
    except ValidationError as error:
        _refuse(error, "entries", place)


def _refuse(error: ValidationError, *where: str | int) -> NoReturn:
    first = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in (*where, *first["loc"]))
    raise NotATranscript(f"{path}: {first['msg']}") from None
