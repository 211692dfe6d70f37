"""What is left of a damaged log: its rows, found page by page, each believed only by its checksum.

Above this module: `salvage`. Below it: `pages`, `batch`, `keeping`.

Rows are known by their shape: how many values of which kinds. A deleted row does not come back:
its bytes were overwritten (`secure_delete`), and what lies at or below a session's floor is left
out. A checkpoint is a cache and not looked for.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from eventlog.batch import Batch, Sealer
from eventlog.blobs import checked
from eventlog.checksum import ALGORITHMS, PREFERRED, Checksum
from eventlog.errors import InvalidSessionId
from eventlog.event import valid_session_id
from eventlog.sqlite.keeping import BASE, intact
from eventlog.sqlite.pages import Cell, Pages, record, states
from eventlog.sqlite.sums import row_sum

_SUMMED: Final = 12
"""Columns of a session's row since they have a sum."""


class Place(NamedTuple):
    """Where a batch may be, and what it says of itself."""

    first: int
    last: int
    id: int
    pages: Pages
    cell: Cell


class Row(NamedTuple):
    """A session's row."""

    key: str
    created: int
    floor: int
    deleted: int
    title: str | None
    meta: bytes | None
    last_ts: int
    last_batch: int
    names: int | None = None
    """The total of its aliases; None in an older schema."""


@dataclass
class Remains:
    """The rows that were found, by the number of their session."""

    rows: dict[int, Row] = field(default_factory=dict)
    """Those that are as they were written."""
    keys: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    """Every id that a number may stand for."""
    batches: dict[int, list[Place]] = field(default_factory=lambda: defaultdict(list))
    begins: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Where the last batch begins that an index knows of."""
    bases: dict[int, list[tuple[Any, ...]]] = field(default_factory=lambda: defaultdict(list))
    blobs: dict[bytes, list[tuple[Pages, Cell]]] = field(default_factory=lambda: defaultdict(list))
    meta: dict[str, Any] = field(default_factory=dict)

    def numbers(self) -> list[int]:
        """Return the numbers of all sessions of which anything is left, a row or an event."""
        return sorted(self.rows.keys() | self.bases.keys() | self.batches.keys())

    def key_of(self, number: int) -> str | None:
        """Return the id of a session; None if no one can say it."""
        if row := self.rows.get(number):
            return row.key
        checksum = Checksum(self.algorithm)
        return next((key for key in self.keys[number] if self._fits(number, key, checksum)), None)

    @cached_property
    def algorithm(self) -> str:
        """How checksums were made: as `meta` says, or as the first batch that is intact does."""
        if (said := self.meta.get("checksum")) in ALGORITHMS:
            return str(said)
        for name in ALGORITHMS:
            for number, keys in list(self.keys.items()):
                if any(self._fits(number, key, Checksum(name)) for key in keys):
                    return name
        return PREFERRED

    def _fits(self, number: int, key: str, checksum: Checksum) -> bool:
        if any(intact(row, checksum, key, BASE) for row in self.bases[number]):
            return True
        sealer = Sealer(key, checksum)
        return any(read(place, sealer) is not None for place in self.batches[number])

    def blob(self, ref: str, hash_: bytes) -> bytes | None:
        """Return a large string, if it is as it was."""
        for pages, cell in self.blobs.get(hash_, ()):
            text = pages.whole(cell)
            values = record(text) if text is not None else None
            if values and isinstance(values[2], bytes) and checked(values[2], ref) is not None:
                return values[2]
        return None


def read(place: Place, sealer: Sealer) -> Batch | None:
    """Return a batch, if it is as it was written."""
    text = place.pages.whole(place.cell)
    values = record(text) if text is not None else None
    if values is None or len(values) != 8 or not isinstance(values[7], bytes):
        return None
    batch = Batch(*values[2:8])  # type: ignore[arg-type]  # known by its shape
    return batch if sealer.intact(batch) else None


@contextmanager
def found(file: Path) -> Iterator[Remains]:
    """Look at every page of the database at *file*, which nobody has open in this process."""
    descriptors = [os.open(file, os.O_RDONLY | os.O_CLOEXEC)]
    try:
        wal = file.with_name(f"{file.name}-wal")
        if wal.exists():
            descriptors.append(os.open(wal, os.O_RDONLY | os.O_CLOEXEC))
        remains = Remains()
        for pages in states(descriptors[0], descriptors[1] if len(descriptors) > 1 else -1):
            for number in range(1, pages.count + 1):
                for cell in pages.cells(number):
                    _note(remains, pages, cell)
        yield remains
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _note(remains: Remains, pages: Pages, cell: Cell) -> None:
    values = record(cell.local, cell.size)
    if values is None:
        return
    kinds = "".join(_kind(value) for value in values)
    note = _TABLES.get(kinds) if cell.rowid is not None else _INDEXES.get(kinds)
    if note is not None:
        note(remains, pages, cell, values)


def _kind(value: object) -> str:
    return "n" if value is None else type(value).__name__[0]


def _batch(remains: Remains, pages: Pages, cell: Cell, values: list[Any]) -> None:
    _, session, first, last, *_ = values
    if 0 < first <= last and session > 0 and cell.rowid:
        remains.batches[session].append(Place(first, last, cell.rowid, pages, cell))


def _session(remains: Remains, pages: Pages, cell: Cell, _values: list[Any]) -> None:
    whole = record(pages.whole(cell) or b"")
    number = cell.rowid
    if whole is None or not number or not _is_key(whole[1]):
        return
    shown: list[Any] = [*whole[1:9], 0, 0][:8]  # the last two came with the second schema
    row = Row._make([*shown, whole[10] if len(whole) == _SUMMED else None])
    remains.keys[number][row.key] = None
    title = None if row.title is None else row.title.encode("utf-8", "replace")
    summed = row_sum(number, row.key.encode(), *row[1:4], title, *row[5:8])
    if len(whole) < _SUMMED or whole[9] == summed:
        remains.rows.setdefault(number, row)


def _base(remains: Remains, pages: Pages, cell: Cell, _values: list[Any]) -> None:
    whole = record(pages.whole(cell) or b"")
    if whole is not None and cell.rowid:
        remains.bases[cell.rowid].append(tuple(whole[1:]))


def _blob(remains: Remains, pages: Pages, cell: Cell, values: list[Any]) -> None:
    if len(values[0]) == 32:
        remains.blobs[values[0]].append((pages, cell))


def _key(remains: Remains, pages: Pages, cell: Cell, _values: list[Any]) -> None:
    whole = record(pages.whole(cell) or b"")
    match whole:
        case [str(key), int(number)] if _is_key(key):
            remains.keys[number][key] = None


def _meta(remains: Remains, _pages: Pages, _cell: Cell, values: list[Any]) -> None:
    remains.meta.setdefault(values[0], values[1])


def _begin(remains: Remains, _pages: Pages, _cell: Cell, values: list[Any]) -> None:
    session, first, _ = values
    remains.begins[session] = max(remains.begins[session], first)


def _is_key(text: object) -> bool:
    try:
        valid_session_id(text)
    except InvalidSessionId:
        return False
    return True


_Note = Callable[[Remains, Pages, Cell, list[Any]], None]
_TABLES: Final[dict[str, _Note]] = {
    "niiiiiib": _batch,
    **{
        f"nsiii{title}{meta}{rest}": _session
        for title in "sn"
        for meta in "bn"
        for rest in ("", "ii", "iiiii")
    },
    "niiib": _base,
    "bib": _blob,
}
"""What a row of a table is, by the first letters of its values' types."""
_INDEXES: Final[dict[str, _Note]] = {"si": _key, "ss": _meta, "iii": _begin}
