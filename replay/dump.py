"""A transcript as JSON, and back: exactly, so that a fold can go on from it (F-L2).

Above this module: the gateway's `session.transcript`, `-f json`, checkpoints, `digest`. Below it:
`transcript`, pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from replay.errors import NotATranscript, OtherFoldVersion
from replay.transcript import FOLD_VERSION, Transcript


@cache
def _shape() -> TypeAdapter[Transcript]:
    """Return what reads and writes transcripts; made once, by the first who needs it."""
    return TypeAdapter(Transcript)


def dump(transcript: Transcript) -> dict[str, Any]:
    """Return *transcript* as JSON values, with the version of the fold that made it."""
    try:
        values: dict[str, Any] = _shape().dump_python(transcript, mode="json")
    except UnicodeEncodeError:  # half a character in the name of a member: pydantic refuses it
        values = _plain(_shape().dump_python(transcript, mode="python"))
    return {"fold_version": FOLD_VERSION, **values}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for tuples."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value


def load(values: Mapping[str, Any]) -> Transcript:
    """Return the transcript that `dump` wrote.

    Raises:
        OtherFoldVersion: another version of the fold made it: fold the log again instead.
        NotATranscript: it is nothing that `dump` writes.

    """
    found = values.get("fold_version")
    if found != FOLD_VERSION:
        raise OtherFoldVersion(found, FOLD_VERSION)
    return load_base(values)


def load_base(values: Mapping[str, Any]) -> Transcript:
    """Return a transcript that `dump` wrote, in this version of the fold or an earlier one (S-10).

    What was written before a member was thought of has that member's default.

    Raises:
        NotATranscript: it is nothing that `dump` writes.

    """
    fields = {key: value for key, value in values.items() if key != "fold_version"}
    try:
        return _shape().validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotATranscript(f"{where}: {first['msg']}") from None


def schema() -> dict[str, Any]:
    """Return the JSON schema of what `dump` returns; docs/transcript.schema.json is a copy."""
    described = _shape().json_schema(mode="serialization")
    described["properties"] = {
        "fold_version": {"const": FOLD_VERSION},
        **described["properties"],
    }
    for form in (described, *described["$defs"].values()):
        form["required"] = list(form["properties"])  # a dump leaves nothing out
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}
