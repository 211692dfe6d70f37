"""What can go wrong between a log and its text: one class per situation."""

from __future__ import annotations

from dataclasses import dataclass


class ReplayError(Exception):
    """Root of every error this package raises."""


@dataclass
class OtherFoldVersion(ReplayError):
    """A dumped transcript was made by another version of the fold: fold its log again."""

    found: object
    known: int

    def __str__(self) -> str:
        return f"the transcript was made by fold version {self.found!r}, this is {self.known}"


@dataclass
class NotATranscript(ReplayError):
    """A value is no dumped transcript."""

    reason: str

    def __str__(self) -> str:
        return f"not a transcript: {self.reason}"
