"""A card: one entry ready for a page, its strings clean but not yet escaped for any markup.

Above this module: the modules that make cards, `markdown` and `html`, which print them. Below it:
`entries`, `outputs`, `diffs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from replay.entries import AnyEntry
from replay.render.diffs import Diff
from replay.render.outputs import Printout


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody wrote: Markdown, as it was written."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of ours on one line: an attachment, a hint, a late answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Something to be read word for word: a command, a payload, an embedded text."""

    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool printed: its first lines, what is said of those between, its last ones."""

    before: Sequence[str]
    between: str = ""
    after: Sequence[str] = ()

    @classmethod
    def of(cls, printout: Printout, keep: tuple[int, int] | None) -> Self:
        """Return the part of *printout* that is to be shown."""
        return cls(*printout.cut(keep))

    @property
    def lines(self) -> list[str]:
        """All of it as lines."""
        told = [f"… {self.between} …"] if self.between else []
        return [*self.before, *told, *self.after]


@dataclass(frozen=True, slots=True)
class Change:
    """What a tool changed in a file; *title* is its path, where it has to be said."""

    diff: Diff
    title: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """A question, and each choice with whether it was made."""

    question: str
    options: Sequence[tuple[str, bool]]
    offered: bool = True
    """Whether there was anything to choose from; free text otherwise."""


@dataclass(frozen=True, slots=True)
class Permission:
    """A permission that a tool needed: its choices, its state if nobody answered."""

    id: str
    choices: Choices
    state: str | None


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a plan: status and text."""

    items: Sequence[tuple[str, str]]


Part = Words | Note | Quote | Output | Change | Choices | Permission | Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An entry: a sign (a field of `Glyphs`), a label, what it is about, facts, and its parts."""

    entry: AnyEntry
    sign: str
    label: str
    icon: str
    subject: str = ""
    facts: Sequence[str | None] = ()
    parts: Sequence[Part] = ()

    @property
    def told(self) -> list[str]:
        """The facts that there are."""
        return [fact for fact in self.facts if fact]
