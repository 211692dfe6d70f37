"""The pages of a database and of its WAL, read without SQLite: what damage elsewhere cannot hide.

Above this module: `remains`. Below it: the file system.

SQLite reaches a row by the pages above it, from a list of tables on the first page; one flipped
bit there hides all that is below. Here every page is looked at for itself, and what looks like a
row is one. Whether it is as it was written its checksum tells (sqlite.org/fileformat2.html).
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

PAGE: Final = 4_096
"""Bytes of a page, where the file does not say."""

_SIZES: Final = tuple(1 << power for power in range(9, 17))
_FRAME: Final = 24
"""Bytes in front of each page of a WAL."""
_WAL_HEADER: Final = 32
_LONGEST: Final = 1 << 30
"""Bytes that no row of ours has."""


class Cell(NamedTuple):
    """Something that may be a row: *rowid* is None in an index, and 0 is no page."""

    rowid: int | None
    size: int
    local: bytes
    overflow: int


@dataclass(slots=True)
class Pages:
    """One state of a database: each page as its file has it, or a frame of its WAL."""

    database: int
    wal: int
    """Descriptors; that of the WAL is -1 where there is none."""
    size: int
    count: int
    newer: dict[int, int] = field(default_factory=dict)
    """Where in the WAL the pages are that stand there."""

    def page(self, number: int) -> bytes:
        """Return a page; fewer bytes, or none, where the file has ended."""
        if (at := self.newer.get(number)) is not None:
            return os.pread(self.wal, self.size, at)
        return os.pread(self.database, self.size, (number - 1) * self.size)

    def cells(self, number: int) -> Iterator[Cell]:
        """Yield what may be a row on a page, whatever kind of page it says it is."""
        page = self.page(number)
        head = 100 if number == 1 else 0
        if len(page) < self.size:
            return
        for table, begin in ((True, head + 8), (False, head + 8), (False, head + 12)):
            for at in _pointers(page, head, begin):
                cell = self._cell(page, at if begin != head + 12 else at + 4, table=table)
                if cell is not None:
                    yield cell

    def whole(self, cell: Cell) -> bytes | None:
        """Return a row's record; None where its chain of pages is broken."""
        parts, left, number = [cell.local], cell.size - len(cell.local), cell.overflow
        while left > 0:
            page = self.page(number) if 0 < number <= self.count else b""
            if len(page) < self.size:
                return None
            number = int.from_bytes(page[:4], "big")
            parts.append(page[4 : 4 + left])
            left -= len(parts[-1])
        return b"".join(parts)

    def _cell(self, page: bytes, at: int, *, table: bool) -> Cell | None:
        size, at = varint(page, at)
        rowid = None
        if table:
            rowid, at = varint(page, at)
        if not 2 <= size <= _LONGEST:
            return None
        local = self._local(size, table=table)
        end = at + local
        if end + (4 if local < size else 0) > len(page):
            return None
        overflow = int.from_bytes(page[end : end + 4], "big") if local < size else 0
        return Cell(rowid, size, page[at:end], overflow)

    def _local(self, size: int, *, table: bool) -> int:
        """Return how many bytes of a record are on its page."""
        most = self.size - 35 if table else (self.size - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (self.size - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (self.size - 4)
        return fitting if fitting <= most else least


def states(database: int, wal: int) -> list[Pages]:
    """Return the states of a database that something may be found in, the latest first.

    One has all frames of the WAL that belong to it, whatever their checksums say, up to the last
    that ends a commit; the other those that SQLite would take.
    """
    length = os.fstat(database).st_size
    size = _page_size(
        os.pread(database, 100, 0), os.pread(wal, _WAL_HEADER, 0) if wal >= 0 else b""
    )
    every, taken = _frames(wal, size) if wal >= 0 else ({}, {})
    found = [Pages(database, wal, size, max([length // size, *every]), every)]
    if taken != every:
        found.append(Pages(database, wal, size, max([length // size, *taken]), taken))
    return found


def varint(text: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it; -1 where there is none."""
    number = 0
    for index in range(9):
        if at + index >= len(text):
            return -1, at
        byte = text[at + index]
        if index == 8:
            return (number << 8) | byte, at + 9
        number = (number << 7) | (byte & 0x7F)
        if byte < 0x80:
            return number, at + index + 1
    return -1, at


def record(text: bytes, size: int | None = None) -> list[int | bytes | str | None] | None:
    """Return a record's values; None if it is none, or not as long as *size*.

    What reaches beyond *text* is left out.
    """
    head, at = varint(text, 0)
    if not 2 <= head <= min(len(text), 64):
        return None
    values: list[int | bytes | str | None] = []
    body = head
    while at < head:
        kind, at = varint(text, at)
        length = _length(kind)
        if length < 0:
            return None
        values.append(_value(kind, text[body : body + length]))
        body += length
    return values if at == head and body == (len(text) if size is None else size) else None


def _length(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, -1, 0, 0, -1, -1)[kind] if kind >= 0 else -1


def _value(kind: int, text: bytes) -> int | bytes | str | None:
    match kind:
        case 0:
            return None
        case 8 | 9:
            return kind - 8
        case _ if kind < 12:
            return int.from_bytes(text, "big", signed=True)
        case _ if kind % 2:
            return text.decode("utf-8", "replace")
    return text


def _pointers(page: bytes, head: int, begin: int) -> Iterator[int]:
    """Yield where cells may be: as many as the page says, or as there seem to be."""
    said = int.from_bytes(page[head + 3 : head + 5], "big")
    believed = said if said <= len(page) // 4 else 0
    lowest, seen = len(page), set[int]()
    for index in range(len(page) // 4):
        at = begin + 2 * index
        if at + 2 > lowest and index >= believed:
            return
        where = int.from_bytes(page[at : at + 2], "big")
        if begin + 2 <= where <= len(page) - 4 and where not in seen:
            lowest = min(lowest, where)
            seen.add(where)
            yield where
        elif index >= believed:
            return


def _page_size(header: bytes, wal: bytes) -> int:
    said = [int.from_bytes(header[16:18], "big"), int.from_bytes(wal[8:12], "big")]
    known = [size for size in (65_536 if one == 1 else one for one in said) if size in _SIZES]
    if len(known) == 2 and known[0] != known[1] and PAGE in known:
        return PAGE
    return known[0] if known else PAGE


def _frames(wal: int, size: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return where each page's last frame is: of all, and of those that SQLite believes."""
    header = os.pread(wal, _WAL_HEADER, 0)
    swapped = (header[:4] == b"\x37\x7f\x06\x83") != (sys.byteorder == "big")
    sums = _summed(header[: _WAL_HEADER - 8], (0, 0), swapped=swapped)
    trusted = sums == (int.from_bytes(header[24:28], "big"), int.from_bytes(header[28:32], "big"))
    salts = b""
    every: dict[int, int] = {}
    taken: dict[int, int] = {}
    open_all: dict[int, int] = {}
    open_taken: dict[int, int] = {}
    at = _WAL_HEADER
    while len(frame := os.pread(wal, _FRAME + size, at)) == _FRAME + size:
        salts = salts or (header[16:24] if trusted else frame[8:16])
        if frame[8:16] == salts:
            number, commits = int.from_bytes(frame[:4], "big"), frame[4:8] != bytes(4)
            open_all[number] = at + _FRAME
            if trusted:
                sums = _summed(frame[:8] + frame[_FRAME:], sums, swapped=swapped)
                trusted = frame[16:24] == b"".join(one.to_bytes(4, "big") for one in sums)
            if trusted:
                open_taken[number] = at + _FRAME
            if commits:
                every |= open_all
                open_all = {}
            if commits and trusted:
                taken |= open_taken
                open_taken = {}
        else:
            trusted = False
        at += _FRAME + size
    return every, taken


def _summed(text: bytes, sums: tuple[int, int], *, swapped: bool) -> tuple[int, int]:
    """Return SQLite's running checksum of a WAL, over *text* of whole pairs of words."""
    first, second = sums
    words = array("I", text)
    if swapped:
        words.byteswap()
    for index in range(0, len(words), 2):
        first = (first + words[index] + second) & 0xFFFFFFFF
        second = (second + words[index + 1] + first) & 0xFFFFFFFF
    return first, second
