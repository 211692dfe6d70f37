"""Words searched for in a transcript: each line of the page that holds them, and whose it is.

Above this module: `program`. Below it: the text renderer.

What is searched is what is shown when all is shown, so nothing is found that cannot be seen, and
nothing that is found can harm a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replay.entries import Entry
from replay.errors import WrongName
from replay.render.glyphs import UNICODE
from replay.render.options import FULL, TextOptions
from replay.render.scene import Scene
from replay.render.text import passages_of
from replay.transcript import Transcript

_PAGE: Final = TextOptions(profile=FULL, width=0, lines=None, diff_lines=None)
_GUTTER: Final = f"  {UNICODE.gutter} "


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line that holds what was searched for."""

    session: str
    entry: str
    kind: str
    turn: int | None
    seq: int
    line: str

    def __str__(self) -> str:
        return f"{self.entry}  {self.kind}  {self.line}"


def pattern_of(text: str) -> re.Pattern[str]:
    """Return *text* as a pattern.

    Raises:
        WrongName: it is none.

    """
    try:
        return re.compile(text)
    except re.error as error:
        raise WrongName(text, f"is no regular expression: {error}") from None


def hits(transcript: Transcript, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Yield every line of *transcript* that holds *pattern*, in order."""
    for passage in passages_of(Scene.of(transcript, _PAGE)):
        entry = passage.of
        if not isinstance(entry, Entry):
            continue
        for line in passage.lines:
            said = line.removeprefix(_GUTTER).strip()
            if pattern.search(said):
                yield Hit(
                    session=transcript.session,
                    entry=entry.id,
                    kind=str(getattr(entry, "kind", "")),
                    turn=entry.turn,
                    seq=entry.first,
                    line=said,
                )
