"""A transcript without its secrets, and a report of what was hidden.

Above this module: `program`, whatever shares a rendering. Below it: `secrets`, the entries.

It works on folded text, so a token that came in two chunks is one here; it sees through escape
sequences, as a reader does once they are applied; and what it has learnt to be a secret in one
place it hides in every other. It goes over every string of the transcript, whatever field it
stands in (R139), touches neither numbers nor order nor structure (R138), and leaves the log
alone (R143).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import is_not
from typing import Any, Final, TypeVar, cast

from replay.pieces import Excerpt
from replay.render.clean import clean
from replay.render.figures import counted
from replay.secrets import hide, hide_cut_begin, hide_cut_end, is_secret, mark
from replay.transcript import Transcript

T = TypeVar("T")

_ROUNDS: Final = 8
"""A mark may bare a secret that stood against another, which the next round then finds."""

_SHORTEST: Final = 8
"""Characters of the shortest text that can hold a secret beside its name or place."""

_ENOUGH: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z]).{8,}", re.DOTALL)
"""What is too short or too plain to be looked for by itself: it may be a word of the language."""


@dataclass(frozen=True, slots=True)
class Report:
    """How many times secrets of each kind were hidden."""

    hidden: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.hidden)

    def __str__(self) -> str:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.hidden.items()))
        return f"{counted(sum(self.hidden.values()), 'secret')} hidden: {kinds}"


def redact(transcript: Transcript) -> tuple[Transcript, Report]:
    """Return *transcript* with a mark in place of every secret, and what was hidden (R145)."""
    hidden: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        learning = _Redactor()
        transcript = learning.value(transcript)
        if not learning.marks:
            break
        everywhere = _Known(learning.marks)
        transcript = everywhere.value(transcript)
        hidden += learning.hidden + everywhere.hidden
    return transcript, Report(dict(hidden))


def merged(reports: Iterable[Report]) -> Report:
    """Return what was hidden in several transcripts."""
    return Report(dict(sum((Counter(report.hidden) for report in reports), Counter[str]())))


class _Walk:
    """Goes over every string of a value; what has not changed is the same object afterwards."""

    def __init__(self) -> None:
        self.hidden: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Return *text* as it is to be seen."""
        raise NotImplementedError

    def member(self, name: str, value: Any) -> Any:
        """Return the value of a member of an object."""
        del name
        return self.value(value)

    def value(self, value: T) -> T:
        """Return *value* with every string in it as it is to be seen."""
        new: Any = value
        match value:
            case str():
                new = self.text(value)
            case None | int() | float():
                pass
            case dict():
                new = self._object(value)
            case tuple() | list():
                items = [self.value(item) for item in value]
                new = type(value)(items) if any(map(is_not, items, value)) else value
            case _:
                new = self._fields(value)
        return cast("T", new)

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        members = [(self.text(key), self.member(key, item)) for key, item in value.items()]
        same = all(
            name is key and item is old
            for (name, item), (key, old) in zip(members, value.items(), strict=True)
        )
        return value if same else dict(members)

    def _fields(self, value: Any) -> Any:
        changed = {}
        for name in value.__dataclass_fields__:
            old = getattr(value, name)
            new = self.value(old)
            if new is not old:
                changed[name] = new
        return dataclasses.replace(value, **changed) if changed else value


class _Redactor(_Walk):
    """Finds secrets, and learns which there are."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[str, tuple[str, str]] = {}
        """Kind and mark by secret."""
        self._plain: set[str] = set()
        """Strings in which there is nothing."""

    def found(self, kind: str, secret: str) -> str:
        """Note a secret; return its mark."""
        kind, shown = self.marks.setdefault(secret, (kind, mark(kind, secret)))
        self.hidden[kind] += 1
        return shown

    def text(self, text: str) -> str:
        """Hide the secrets of a string, of the JSON in it, and of what it looks like when shown."""
        if len(text) < _SHORTEST or text in self._plain:
            return text
        shown = self._shown(hide(self._json(text), self.found))
        if shown == text:
            self._plain.add(text)
            return text
        return shown

    def _shown(self, text: str) -> str:
        """Hide what is a secret once escape sequences are applied."""
        if text.isascii() and text.isprintable():
            return text
        seen = clean(text)
        hidden = hide(seen, self.found) if seen != text else seen
        return text if hidden == seen else hidden

    def member(self, name: str, value: Any) -> Any:
        """Hide the value of a name that says what it is."""
        if isinstance(value, str) and is_secret(name, value):
            return self.found("secret", value)
        return self.value(value)

    def value(self, value: T) -> T:
        """Hide the half of a secret at the edges of a text that was cut."""
        match value:
            case Excerpt(text=text, size=int(), tail=tail):
                head, rest = self._cut(text, tail)
                new: Any = dataclasses.replace(value, text=head, tail=rest)
                return value if new == value else new
            case dict() if _is_cut(value):
                kept: dict[str, Any] = value
                head, rest = self._cut(kept["text"], kept["tail"])
                new = {**kept, "text": head, "tail": rest}
                return value if new == value else new
        return super().value(value)

    def _cut(self, text: str, tail: str | None) -> tuple[str, str | None]:
        head = hide_cut_end(self.text(text), self.found)
        return head, tail and hide_cut_begin(self.text(tail), self.found)

    def _json(self, text: str) -> str:
        """Return a string that holds JSON with the secrets hidden that its names give away."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        try:
            value = json.loads(text)
            hidden = self.value(value)
            return text if hidden is value else json.dumps(hidden, ensure_ascii=False)
        except (ValueError, RecursionError):
            return text  # no JSON, or deeper than anybody reads: the text itself is searched next


class _Known(_Walk):
    """Hides what is known to be secret, wherever it stands."""

    def __init__(self, marks: Mapping[str, tuple[str, str]]) -> None:
        super().__init__()
        self._marks = {secret: shown for secret, shown in marks.items() if _ENOUGH.match(secret)}
        forms = "|".join(map(re.escape, sorted(self._marks, key=len, reverse=True)))
        self._pattern = (
            re.compile(rf"(?<![A-Za-z0-9])(?:{forms})(?![A-Za-z0-9])") if forms else None
        )

    def text(self, text: str) -> str:
        """Hide known secrets of a string."""
        if self._pattern is None or len(text) < _SHORTEST:
            return text
        hidden = self._pattern.sub(self._mark, text)
        return text if hidden == text else hidden

    def _mark(self, hit: re.Match[str]) -> str:
        kind, shown = self._marks[hit[0]]
        self.hidden[kind] += 1
        return shown


def _is_cut(value: dict[str, Any]) -> bool:
    """Whether *value* is an `Excerpt` as JSON has it (`Tool.output`)."""
    match value:
        case {"text": str(), "size": int(), "sha256": str(), "tail": _, **others}:
            return not others
    return False
