"""What differs between two runs of the same conversation, replaced by placeholders.

Above this module: `golden`, the plugin. Below it: nothing. Pure functions over text.

Equal values get equal placeholders, numbered by their first appearance: `<uuid:1>`, `<path:2>`.
What is measured anew each time is not numbered, since two measurements may agree by chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces what *pattern* matches by `<name:1>`, `<name:2>`, or by `<name>` if not *numbered*.

    The pattern may hold groups, but refer to none of them by number.
    """

    name: str
    pattern: str
    numbered: bool = True


_IN_PATH: Final = r"[^/\\\s\"'`:;,()<>\[\]{}|]"

SCRUBBERS: Final = (
    Scrubber(
        "path",
        # a temporary folder, up to the part that is made anew
        r"(?<![\w.-])(?:/private)?(?:"
        rf"(?:/var)?/tmp/pytest-of-{_IN_PATH}+/pytest-(?:\d+|current)/(?:popen-gw\d+/)?{_IN_PATH}+"
        rf"|/var/folders/{_IN_PATH}+/{_IN_PATH}+/T/{_IN_PATH}+"
        rf"|(?:/var)?/tmp/{_IN_PATH}+"
        r")"
        rf"|\b[A-Za-z]:\\Users\\{_IN_PATH}+\\AppData\\Local\\Temp\\{_IN_PATH}+",
    ),
    Scrubber(
        "home",
        rf"(?<![\w.-])/(?:home|Users)/{_IN_PATH}+"
        r"|(?<![\w./-])/root(?![\w.-])"
        rf"|\b[A-Za-z]:\\Users\\{_IN_PATH}+",
    ),
    Scrubber("uuid", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    Scrubber("request", r"\bsrq-[0-9a-f]{12}\b"),
    Scrubber(
        "time",
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    ),
    Scrubber("date", r"\b(?:19|20)\d\d-\d\d-\d\d\b"),
    Scrubber("hex", r"\b(?:0x)?(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}\b"),
    Scrubber("pid", r"(?<=\bpid[ =:])\s*\d+\b|(?<=\bPID[ =:])\s*\d+\b"),
    Scrubber("port", r"(?<=127\.0\.0\.1:)\d+\b|(?<=localhost:)\d+\b|(?<=\[::1\]:)\d+\b"),
    Scrubber(
        "duration",
        r"\b\d+\.\d+ ?(?:s|sec|secs|seconds|ms|µs|us)\b|\b\d+ ?(?:ms|µs)\b",
        numbered=False,
    ),
)
"""Those that are always used; add your own behind them. Of two that match at a place, the first wins."""

# Between marking and numbering, placeholders stand between two characters that nobody uses.
_OPEN: Final = "\ue0b7"
_CLOSE: Final = "\ue0b8"
_MARK: Final = re.compile(rf"{_OPEN}([^{_CLOSE}]*?)(?::(\d+))?{_CLOSE}")


@dataclass(slots=True)
class Marking:
    """Marks what has to be replaced in one text after another, and remembers equal values."""

    scrubbers: Sequence[Scrubber] = SCRUBBERS
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = (f"(?P<s{at}>{one.pattern})" for at, one in enumerate(self.scrubbers))
        self._pattern = re.compile("|".join(parts) or r"(?!)")

    def mark(self, text: str) -> str:
        """Return *text* with marks in the place of what differs; `numbered` makes them readable."""
        return self._pattern.sub(self._marked, text)

    def _marked(self, found: re.Match[str]) -> str:
        scrubber = self.scrubbers[int((found.lastgroup or "s0")[1:])]
        if not scrubber.numbered:
            return f"{_OPEN}{scrubber.name}{_CLOSE}"
        key = (scrubber.name, found[0])
        number = self._seen.setdefault(key, len(self._seen) + 1)
        return f"{_OPEN}{scrubber.name}:{number}{_CLOSE}"


def numbered(text: str) -> str:
    """Return *text* with every mark as a placeholder, numbered by first appearance in it."""
    numbers: dict[str, dict[str, int]] = {}

    def placeholder(found: re.Match[str]) -> str:
        name, mark = found[1], found[2]
        if mark is None:
            return f"<{name}>"
        known = numbers.setdefault(name, {})
        return f"<{name}:{known.setdefault(mark, len(known) + 1)}>"

    return _MARK.sub(placeholder, text)


def scrub(text: str, scrubbers: Sequence[Scrubber] = SCRUBBERS) -> str:
    """Return *text* with placeholders for whatever differs between equal runs."""
    return numbered(Marking(scrubbers).mark(text))
