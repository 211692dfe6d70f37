"""A transcript's structure without its content: what happened, and not a word of what was said.

Above this module: `program`. Below it: the entries, `dump`'s classes.

Every string is replaced by `[redacted:kind:n]`, the same string of a kind by the same mark, unless
it is one of those that a program has set: states, kinds, ids, names of tools and models. Numbers
of an input or output go, too. What is added later is content until it is named here (R168).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from replay.entries import Tool
from replay.pieces import Excerpt, Option, Question
from replay.transcript import Diagnosis, Info, Transcript, Turn

_KEPT: Final = frozenset(
    {
        "ask_id", "author", "by", "child_session", "cls", "code", "correction", "for_turn", "id", "kind",
        "level", "method", "mid", "mime", "mode", "outcome", "parent", "plan_id", "priority",
        "prompts", "ref", "request_id", "session", "state", "status", "status_conflict", "surface",
        "tag", "terminal", "terminals", "tkind", "tool", "tool_id", "type", "what",
    }
)  # fmt: skip
"""Fields whose strings are words of a protocol, or ids."""

_OF_INFO: Final = frozenset({"agent", "agent_version", "source", "protocol", "model", "provider"})
_OF: Final[Mapping[type, frozenset[str]]] = {
    Info: _KEPT | _OF_INFO,
    Option: frozenset({"kind"}),  # the id of a choice is often what it says
    Question: frozenset(),
}
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}\Z", re.ASCII)
"""What may be the name of a tool, or of a member of its input; anything else may be content."""


class Sanitizer:
    """Takes the content out of transcripts; equal texts have equal marks in all of them."""

    def __init__(self) -> None:
        self._marks: defaultdict[str, dict[str, int]] = defaultdict(dict)

    @property
    def replaced(self) -> int:
        """How many different texts were replaced."""
        return sum(map(len, self._marks.values()))

    def sanitized(self, transcript: Transcript) -> Transcript:
        """Return *transcript* without its content; a fold cannot go on from it."""
        parts = {
            "info": self._fields(transcript.info, "session"),
            "title": self._value(transcript.title, "session"),
            "config": self._value(transcript.config, "config"),
            "commands": self._value(transcript.commands, "command"),
            "usage": {key: _count(value) for key, value in transcript.usage.items()},
            "turns": tuple(self._turn(turn) for turn in transcript.turns),
            "entries": tuple(self._fields(entry, entry.kind) for entry in transcript.entries),
            "terminals": tuple(self._fields(one, "terminal") for one in transcript.terminals),
            "state": {},
            "diag": tuple(Diagnosis(seq=one.seq, problem="") for one in transcript.diag),
        }
        return replace(transcript, **parts)

    def _turn(self, turn: Turn) -> Turn:
        usage = {key: _count(value) for key, value in turn.usage.items()}
        return replace(turn, reason=self._value(turn.reason, "turn"), usage=usage)

    def _fields(self, value: Any, kind: str) -> Any:
        kept = _OF.get(type(value), _KEPT)
        changed = {
            field.name: self._value(getattr(value, field.name), kind)
            for field in fields(value)
            if field.name not in kept
        }
        if isinstance(value, Tool) and _NAME.match(value.name or ""):
            changed["name"] = value.name
        if isinstance(value, Excerpt):
            changed["sha256"] = None  # whoever can guess a text could tell that it was this one
        return replace(value, **changed)

    def _value(self, value: Any, kind: str) -> Any:
        match value:
            case str():
                return self._mark(value, kind)
            case tuple():
                return tuple(self._value(item, kind) for item in value)
            case list():
                return self._json(value, kind)
            case dict():
                return self._object(value, kind)
        return self._fields(value, kind) if is_dataclass(value) else value

    def _object(self, members: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """Return JSON with its structure alone: numbers of it are content, too."""
        return {
            key if _NAME.match(key) else self._mark(key, kind): self._json(item, kind)
            for key, item in members.items()
        }

    def _json(self, value: Any, kind: str) -> Any:
        match value:
            case bool() | None:
                return value
            case int() | float():
                return self._mark(str(value), kind)
            case list():
                return [self._json(item, kind) for item in value]
        return self._value(value, kind)

    def _mark(self, text: str, kind: str) -> str:
        if not text.strip():
            return text
        marks = self._marks[kind]
        return f"[redacted:{kind}:{marks.setdefault(text, len(marks) + 1)}]"


def _count(value: Any) -> Any:
    """Return what was counted or paid; words beside it are none of that."""
    if isinstance(value, dict):
        return {key: _count(item) for key, item in value.items()}
    return value if isinstance(value, int | float) else None
