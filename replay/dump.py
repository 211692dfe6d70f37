"""A transcript as JSON, and back: exactly, so that a fold can go on from it (F-L2).

Above this module: the gateway's `session.transcript`, `-f json`, checkpoints, `digest`. Below it:
`plain`, and `checking` for what comes from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.errors import OtherFoldVersion
from replay.plain import plain, read
from replay.transcript import FOLD_VERSION, Transcript


def dump(transcript: Transcript) -> dict[str, Any]:
    """Return *transcript* as JSON values, with the version of the fold that made it.

    What the transcript holds as JSON is shared with it, not copied.
    """
    return {"fold_version": FOLD_VERSION, **plain(transcript)}


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
    from replay.checking import check  # noqa: PLC0415 - pydantic's start is felt

    beside = {"fold_version", "names"}  # what a base holds that is not the fold's: see `names`
    members = {key: value for key, value in values.items() if key not in beside}
    return check(members)


def restore(values: dict[str, Any]) -> Transcript:
    """Return the transcript that `dump` wrote for this version of the fold; nothing is checked.

    For checkpoints alone: they are kept by version, nobody else writes them, and the log's
    checksum covers them.
    """
    transcript: Transcript = read(Transcript, values)
    return transcript


def schema() -> dict[str, Any]:
    """Return the JSON schema of what `dump` returns; docs/transcript.schema.json is a copy."""
    from replay.checking import shape  # noqa: PLC0415 - pydantic's start is felt

    described = shape().json_schema(mode="serialization")
    described["properties"] = {
        "fold_version": {"const": FOLD_VERSION},
        **described["properties"],
    }
    for form in (described, *described["$defs"].values()):
        form["required"] = list(form["properties"])  # a dump leaves nothing out
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}
