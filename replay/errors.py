"""What can go wrong between a log and its text: one class per situation."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass
class SessionNotFound(ReplayError):
    """Nothing bears this name; *where* was looked."""

    name: str
    where: str

    def __str__(self) -> str:
        return f"no session {self.name!r} in {self.where}"


@dataclass
class AmbiguousName(ReplayError):
    """Several sessions bear this name, or begin with it."""

    name: str
    candidates: Sequence[str]

    def __str__(self) -> str:
        shown = ", ".join(self.candidates[:5]) + (", …" if len(self.candidates) > 5 else "")
        return f"{self.name!r} means {len(self.candidates)} sessions: {shown}"


@dataclass
class WrongName(ReplayError):
    """What was named can be no session."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


@dataclass
class NothingToReplay(ReplayError):
    """A file holds no session."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


@dataclass
class ForeignFile(ReplayError):
    """A file is something else."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


@dataclass
class NoSuchPoint(ReplayError):
    """A session has no such turn or event."""

    point: str
    reason: str

    def __str__(self) -> str:
        return f"{self.point}: {self.reason}"


@dataclass
class WouldOverwrite(ReplayError):
    """A file is there already."""

    path: str

    def __str__(self) -> str:
        return f"{self.path} is there already"


@dataclass
class CannotRedact(ReplayError):
    """Something is what it is only as it was recorded."""

    what: str

    def __str__(self) -> str:
        return f"{self.what} cannot be redacted: it would be of no session's events any more"
