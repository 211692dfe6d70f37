"""The unit of storage: a run of consecutive events of one session, committed together.

Above this module: the adapters, which make, store and serve batches. Below it: `checksum`, `packing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from eventlog.arguments import GAP as LOST
from eventlog.checksum import Checksum
from eventlog.event import Event, line
from eventlog.packing import unpacked

MAX_EVENTS: Final = 256
MAX_BYTES: Final = 256 * 1024
"""A batch's limits (S-1); a larger event is a batch of its own."""

LINES: Final = 0
"""The codec of a body that is the log's lines as they are."""

PACKED: Final = 1
"""The codec of a body that is compressed lines (S-11)."""

GAP: Final = 2
"""The codec of a body that is one line, a `log.gap`, in the place of all its numbers (S-6)."""

RECORDED: Final = "recorded as lost"
"""Why they are lost, of events whose place a gap has taken for good."""


class Batch(NamedTuple):
    """One row of the table `batch`, but for whose it is."""

    first: int
    last: int
    ts: int
    codec: int
    crc: int
    body: bytes

    @classmethod
    def of(cls, row: Sequence[Any]) -> Batch:
        """Return a row as it was read; a damaged one may hold anything, and is a batch all the same.

        What is not of its kind is nothing.
        """
        if tuple(map(type, row)) == _KINDS:
            return cls._make(row)
        *numbers, body = row
        first, last, ts, codec, crc = (one if type(one) is int else 0 for one in numbers)
        return cls(first, last, ts, codec, crc, body if type(body) is bytes else b"")


_KINDS: Final = (int, int, int, int, int, bytes)


class Run(NamedTuple):
    """Lines that account for *first* to *last*: one each, or one alone that says they are lost."""

    first: int
    last: int
    text: bytes
    reason: str = ""
    """Why they are lost."""

    @property
    def lost(self) -> bool:
        """Whether a line stands for what is gone."""
        return bool(self.reason)

    def begin(self, seq: int) -> int:
        """Return where in the text the line of an event begins; 0 if it is before this run."""
        if self.lost or seq <= self.first:
            return 0
        found = self.text.find(b'\n{"seq":%d,' % seq)
        if found >= 0:
            return found + 1
        return sum(len(line) + 1 for line in self.text.split(b"\n")[: seq - self.first])


@dataclass(slots=True)
class Sealer:
    """Makes a session's batches, and knows a damaged one when it sees it."""

    key: str
    checksum: Checksum

    def seal_one(self, seq: int, ts: int, text: bytes) -> Batch:
        """Return a batch of one line."""
        return Batch(seq, seq, ts, LINES, self.crc(seq, seq, ts, LINES, text), text)

    def seal(self, first: int, times: Sequence[int], lines: Sequence[bytes]) -> Iterator[Batch]:
        """Yield *lines*, the first of which has the number *first*, as batches."""
        for start, end, body in _bodies(lines):
            begin, last, ts = first + start, first + end - 1, times[end - 1]
            yield Batch(begin, last, ts, LINES, self.crc(begin, last, ts, LINES, body), body)

    def seal_loss(self, first: int, last: int, ts: int, reason: str) -> Batch:
        """Return a batch that says that *first* to *last* are lost, and why."""
        return self.seal_gap(first, last, ts, _lost(first, last, reason))

    def seal_gap(self, first: int, last: int, ts: int, event: Event) -> Batch:
        """Return a batch of one event that stands in the place of *first* to *last*."""
        body = line(last, ts, event)
        return Batch(first, last, ts, GAP, self.crc(first, last, ts, GAP, body), body)

    def intact(self, batch: Batch) -> bool:
        """Whether *batch* holds what was once written."""
        return self.text(batch) is not None

    def text(self, batch: Batch) -> bytes | None:
        """Return the lines of *batch*, one for each of its numbers; None if it is damaged.

        A recorded gap has one line for all of them.
        """
        first, last, ts, codec, crc, body = batch
        if crc != self.crc(first, last, ts, codec, body):
            return None
        if codec == GAP:
            return body
        text = body if codec == LINES else unpacked(body) if codec == PACKED else None
        return text if text is not None and _spans(text, first, last) else None

    def runs(self, batches: Iterable[tuple[Batch, int | None]], after: int) -> Iterator[Run]:
        """Yield what is to be read after *after*: whole batches, and a gap for what is lost.

        With each batch comes the number at which its session's next one begins, None if it is
        the last. A damaged batch never hides the others (S-6).
        """
        due = after + 1
        for batch, following in batches:
            if (text := self.text(batch)) is not None:
                if batch.first > due:
                    yield gap(due, batch.first - 1, batch.ts, "missing")
                reason = RECORDED if batch.codec == GAP else ""
                yield Run(batch.first, batch.last, text, reason)
                due = batch.last + 1
            elif (last := batch.last if following is None else following - 1) >= due:
                # what it says of itself cannot be believed; what its neighbours say can
                yield gap(due, last, batch.ts, "damaged")
                due = last + 1
            if following is not None and following > due:
                yield gap(due, following - 1, batch.ts, "missing")
                due = following

    def crc(self, first: int, last: int, ts: int, codec: int, body: bytes) -> int:
        """Return the checksum of a batch."""
        place = f"{self.key}\n{first}\n{last}\n{ts}\n{codec}\n"
        return self.checksum.of(place.encode(), body)  # where it stands, and what it holds


def gap(first: int, last: int, ts: int, reason: str) -> Run:
    """Return the line that stands for events that are lost, and why."""
    # the time is of a batch that may be damaged: it may be none
    return Run(first, last, line(last, max(ts, 0), _lost(first, last, reason)), reason)


def _lost(first: int, last: int, reason: str) -> Event:
    return Event.of(LOST, {"first": first, "last": last, "reason": reason})


def _spans(text: bytes, first: int, last: int) -> bool:
    """Whether *text* begins with the line *first* and ends with the line *last*.

    What is between is as it was written, says the checksum; to count it takes six times as long.
    """
    return text.startswith(b'{"seq":%d,' % first) and text.startswith(
        b'{"seq":%d,' % last, text.rfind(b"\n") + 1
    )


def _bodies(lines: Sequence[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Yield from where to where each batch goes, and its body."""
    for begin in range(0, len(lines), MAX_EVENTS):
        part = lines[begin : begin + MAX_EVENTS]
        body = b"\n".join(part)
        if len(body) < MAX_BYTES:  # nearly always
            yield begin, begin + len(part), body
            continue
        for start, end in _parts(part):
            yield begin + start, begin + end, b"\n".join(part[start:end])


def _parts(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield from where to where a batch goes."""
    start, size = 0, 0
    for index, text in enumerate(lines):
        if index > start and (index - start == MAX_EVENTS or size + len(text) >= MAX_BYTES):
            yield start, index
            start, size = index, 0
        size += len(text) + 1
    yield start, len(lines)
