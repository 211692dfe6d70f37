"""What can go wrong with a log: one class per situation that a caller can act on."""

from __future__ import annotations

from dataclasses import dataclass


class EventLogError(Exception):
    """Root of every error this package raises."""


@dataclass
class Malformed(EventLogError):
    """A text is not JSON, or a value cannot be written as JSON."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass
class InvalidSessionId(EventLogError):
    """A session id does not have the form of one (P-25); nothing was looked up."""

    text: str

    def __str__(self) -> str:
        shown = ascii(self.text[:60]) + ("…" if len(self.text) > 60 else "")
        return (
            f"{shown} is not a session id: 1 to 128 of A-Z a-z 0-9 . _ : -,"
            " the first a letter or digit"
        )


@dataclass
class WrongExpectedVersion(EventLogError):
    """Another writer got there first: read again and decide again."""

    session_id: str
    expected: int
    actual: int

    def __str__(self) -> str:
        return f"{self.session_id}: expected version {self.expected}, found {self.actual}"


@dataclass
class Fenced(EventLogError):
    """Another process writes this session now; nothing of what was refused is recorded."""

    session_id: str
    owner: str = ""
    """Who holds it, if that is known."""

    def __str__(self) -> str:
        by = f" by {self.owner}" if self.owner else ""
        return f"{self.session_id} is written by another process now{by}"


@dataclass
class HistoryTruncated(EventLogError):
    """The events after this cursor are not all there: drop local state and start over."""

    session_id: str
    after: int
    floor: int
    head: int

    def __str__(self) -> str:
        return (
            f"{self.session_id}: no unbroken history after {self.after}"
            f" (kept: {self.floor + 1}..{self.head})"
        )


@dataclass
class LogBusy(EventLogError):
    """Another process writes this log."""

    path: str
    owner: str

    def __str__(self) -> str:
        return f"{self.path} is being written by another process ({self.owner})"


@dataclass
class LogUnavailable(EventLogError):
    """The log cannot be opened, read or written now: full, read-only, failed, closed."""

    path: str
    reason: str
    lasting: bool = False
    """It will stay so until it is opened again: trying once more is of no use."""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass
class ForeignDatabase(EventLogError):
    """The file is not a log of ours, or is damaged beyond reading; it was left untouched."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} is not an event log: {self.reason}"


@dataclass
class NewerSchema(EventLogError):
    """The log was written by a later version of this program; it was left untouched."""

    path: str
    found: int
    known: int

    def __str__(self) -> str:
        return f"{self.path} has schema {self.found}, this program knows up to {self.known}"


@dataclass
class BadCassette(EventLogError):
    """A file is no cassette, or one of its lines is damaged (lines count from 1)."""

    name: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}: {self.reason}"
