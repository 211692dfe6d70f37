"""Lines of a file, read again whenever they are wanted: a session of 500 MB is never in memory.

Above this module: `recordings`, `source`. Below it: the file system.

Of a line in the file only its place is kept (8 bytes); a line that is not there as it is, because
a large string was put back or a gap was marked, is kept whole.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, overload


class FileLines(Sequence[bytes]):
    """The lines of a session that lie in the file at *path*, which does not change meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places = array("q")
        self._own: dict[int, bytes] = {}

    def append(self, text: bytes, place: int | None) -> None:
        """Add a line that stands at that byte of the file, or is in no file (None)."""
        if place is None:
            self._own[len(self._places)] = text
        self._places.append(-1 if place is None else place)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[bytes]:
        return self._between(0, len(self))

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return list(self._between(start, stop))[::step] if step == 1 else [*self][index]
        at = range(len(self))[index]
        return next(self._between(at, at + 1))

    def _between(self, start: int, stop: int) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            for number in range(start, stop):
                if (place := self._places[number]) < 0:
                    yield self._own[number]
                else:
                    file.seek(place)
                    yield file.readline().rstrip(b"\r\n")


class Spool:
    """What came from a stream, in a file of its owner's alone that ends with this object."""

    def __init__(self, stream: BinaryIO) -> None:
        descriptor, name = tempfile.mkstemp(prefix="hermes-replay-")
        weakref.finalize(self, os.unlink, name)
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(stream, file)
        self.path = Path(name)
