"""One place of a transcript that is being written.

Above this module: `draft`. Below it: `entries`, `strings`, `values`.

The entries of a transcript are frozen. Making a new one for each of ten thousand chunks would be
slow, so a row writes to its entry in place for as long as nobody else has seen it, and to a copy
of it afterwards.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from replay.entries import Agent, Entry, Thought, User
from replay.fold.strings import joined
from replay.fold.values import copied

E_co = TypeVar("E_co", bound=Entry, covariant=True)


class Row(Generic[E_co]):
    """The entry at *place*, and the text that is still to be joined to it."""

    __slots__ = ("chunks", "entry", "place", "shown")

    def __init__(self, entry: E_co, place: int, *, shown: bool = False) -> None:
        self.entry = entry
        self.place = place
        self.shown = shown
        """Somebody outside holds this entry."""
        self.chunks: list[str] = []

    def own(self) -> None:
        """Make the entry one that nobody outside holds."""
        self.entry = copied(self.entry)
        self.shown = False

    def write(self, changes: dict[str, Any]) -> None:
        """Set fields of an entry that is ours."""
        self.entry.__dict__.update(changes)

    def settle(self) -> None:
        """Join what has been said since to the text of the entry: it is ours, or there is none."""
        if self.chunks:
            said: Any = self.entry
            self.write({"text": joined(said.text, self.chunks)})
            self.chunks = []

    @property
    def text(self) -> str:
        """Return the text of a user, agent or thought entry as it stands."""
        self.settle()
        entry = self.entry
        assert isinstance(entry, Agent | Thought | User)  # noqa: S101 - what callers pass
        return entry.text
