"""What a log answers to `read`: a run of events, and from where to where their session goes.

Above this module: the port, its adapters, whoever reads. Below it: `event`.
"""

from __future__ import annotations

from dataclasses import dataclass

from eventlog.event import Envelope, Seq, parse


@dataclass(frozen=True, slots=True)
class Page:
    """A run of consecutive events of one session, and the extent of the log it was cut from."""

    epoch: str
    """Identity of the numbering; a cursor is only good within its epoch (P-18)."""
    floor: Seq
    """Events up to and including this one have been pruned."""
    head: Seq
    """The last recorded event; 0 when the session is unknown."""
    next: Seq
    """The cursor to read on with: the last event of this page, or where the reader stood."""
    body: bytes
    """The log's lines, with a newline between two of them."""

    @property
    def lines(self) -> list[bytes]:
        """One item an event."""
        return self.body.split(b"\n") if self.body else []

    def envelopes(self) -> list[Envelope]:
        """Return the events, parsed."""
        return [parse(text) for text in self.lines]

    def continues(self, after: int) -> bool:
        """Whether a reader who stopped at *after* has missed nothing."""
        return self.floor <= after <= self.head
