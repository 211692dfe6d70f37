"""A small file beside the database that says how far it has come (S-6).

Above this module: `incarnation`, `transaction`. Below it: the file system.

One flipped bit in the WAL can make SQLite drop every later commit while it calls itself whole.
The mark is written after each commit, without a sync of its own: it never knows of a batch that
was not durable at the level the log was opened with, and rarely forgets one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

_FORM: Final = re.compile(rb"([0-9a-f]{1,64}) ([0-9]{1,19})\n")


class Marked(NamedTuple):
    """What a mark file says."""

    epoch: str
    batch: int
    """The id of the last batch that was committed in that epoch."""


class Mark:
    """The mark file of the database at *path*, to be written by the log's only writer."""

    def __init__(self, path: Path) -> None:
        self._path = mark_of(path)
        self._descriptor: int | None = None
        self._epoch = b""

    def begin(self, epoch: str, batch: int) -> None:
        """Write a mark for *epoch* and keep the file open.

        On a disk without any room the log goes without one: it could not grow either.
        """
        self._epoch = epoch.encode()
        try:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._write(batch)
            os.ftruncate(self._descriptor, len(self._text(batch)))
        except OSError:
            self.end()

    def note(self, batch: int) -> None:
        """Write that *batch* is committed."""
        if self._descriptor is not None:
            try:
                self._write(batch)
            except OSError:  # a mark that stays behind claims nothing
                self.end()

    def end(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, batch: int) -> None:
        assert self._descriptor is not None  # noqa: S101 - both callers have looked
        os.pwrite(self._descriptor, self._text(batch), 0)

    def _text(self, batch: int) -> bytes:
        return b"%b %019d\n" % (self._epoch, batch)  # always as long: written over in one piece


def mark_of(path: Path) -> Path:
    """Return where the mark file of the database at *path* is."""
    return path.with_name(f"{path.name}.mark")


def marked(path: Path) -> Marked | None:
    """Return what the mark file of the database at *path* says; None if it says nothing."""
    try:
        text = mark_of(path).read_bytes()
    except OSError:
        return None
    found = _FORM.fullmatch(text)
    return Marked(found[1].decode(), int(found[2])) if found else None
