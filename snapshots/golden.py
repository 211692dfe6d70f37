"""A session as the text of a golden file: whatever differs between equal runs is out of it.

Above this module: the plugin. Below it: `replay`, `scrubbers`.

Placeholders go in before the text is laid out: where a line breaks must not depend on how long
the name of a temporary folder was (R136).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from eventlog import parse
from replay import (
    SNAPSHOT,
    TextOptions,
    Transcript,
    fold,
    holds_no_session,
    read_recordings,
    render_texts,
)
from snapshots.scrubbers import SCRUBBERS, Marking, Scrubber, numbered

Source = Transcript | Path | bytes | Iterable[bytes]
"""A transcript, a file (cassette, capture, lines of the log), its content, or its lines."""


def golden_text(
    source: Source,
    *,
    scrubbers: Sequence[Scrubber] = SCRUBBERS,
    session: str | None = None,
    width: int = 80,
) -> str:
    """Return *source* as the text that a golden file holds; *session* picks one of several.

    Raises:
        ReplayError: there is no session in it.
        ValueError: it is damaged, or none of its sessions is *session*: goldens are made of
            whole sessions.

    """
    marking = Marking(scrubbers)
    shown = [_mapped(transcript, marking) for transcript in _transcripts(source, session)]
    return numbered(render_texts(shown, TextOptions(profile=SNAPSHOT, width=width)))


def _transcripts(source: Source, session: str | None) -> list[Transcript]:
    match source:
        case Transcript():
            return [source]
        case Path():
            return _recorded(source.read_bytes(), source.name, session)
        case bytes():
            return _recorded(source, "the session", session)
    return _recorded(
        b"".join(line.rstrip(b"\n") + b"\n" for line in source), "the session", session
    )


def _recorded(data: bytes, name: str, session: str | None) -> list[Transcript]:
    held = read_recordings(data, name)
    if held.flaws:
        raise ValueError(f"{name}, {held.flaws[0]}")
    folded = [
        (one, fold(Transcript(session=one.id), map(parse, one.lines)))
        for one in held.sessions
        if session in {None, one.id}
    ]
    if not folded:
        raise ValueError(f"{name} holds no session {session!r}")
    told = [
        transcript
        for one, transcript in folded
        if transcript.entries or not holds_no_session(one.id)
    ]
    return told or [transcript for _, transcript in folded]


def _mapped(value: Any, marking: Marking) -> Any:
    """Return *value* with every string in it marked, down to the last."""
    match value:
        case str():
            return marking.mark(value)
        case tuple() | list():
            return type(value)(_mapped(item, marking) for item in value)
        case dict():
            return {key: _mapped(item, marking) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: _mapped(getattr(value, each.name), marking) for each in fields(value)}
        return replace(value, **changes)
    return value
