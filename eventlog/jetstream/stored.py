"""A stored message of a session: a batch of events, or a fence between two of them.

Above this module: `session`, `reader`, `writer`. Below it: `batch`, `link`.

Our own numbers, time, checksum and epoch stand in headers. A fence holds no events: it moves the
session's end, so that a writer who does not know of it is refused, and it keeps the numbering
when everything before it is removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eventlog.batch import LINES, Batch
from eventlog.errors import Malformed
from eventlog.jetstream.link import Message
from eventlog.jetstream.row import Row

FIRST: Final = "Seq-First"
LAST: Final = "Seq-Last"
TIME: Final = "Ts"
CRC: Final = "Crc"
CODEC: Final = "Codec"
"""How a body is stored, where it is not lines."""
EPOCH: Final = "Epoch"
WRITER: Final = "Writer"
ROW: Final = "Row"
ORDER: Final = "Order"
"""On a fence: the stream's number of the last batch before it."""

EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"
ID: Final = "Nats-Msg-Id"
ROLLUP: Final = "Nats-Rollup"


@dataclass(frozen=True, slots=True)
class Stored:
    """A message of a session's events, and its number in the stream."""

    at: int
    batch: Batch
    writer: str
    order: int
    """The stream's number of the session's last batch up to here."""
    row: str = ""
    """The session's row, as its header."""
    is_whole: bool = True
    """Whether its body is here; it is not kept in memory after it was written."""

    @property
    def first(self) -> int:
        """The number of its first event; of a fence, of the next one."""
        return self.batch.first

    @property
    def last(self) -> int:
        """The number of its last event; of a fence, of the one before it."""
        return self.batch.last

    @property
    def is_fence(self) -> bool:
        """Whether it holds no events."""
        return self.batch.last < self.batch.first


def stored(message: Message) -> Stored | None:
    """Return what *message* says of itself; None if it says nothing that can be read."""
    found = message.headers
    row = found.get(ROW, "")
    try:
        Row.of(row)
        first, last = int(found[FIRST]), int(found[LAST])
        codec, crc = int(found.get(CODEC, LINES)), int(found[CRC])
        batch = Batch(first, last, int(found[TIME]), codec, crc, message.body)
        order = int(found.get(ORDER, message.seq))
    except (KeyError, ValueError, TypeError, Malformed):
        return None
    return Stored(message.seq, batch, found.get(WRITER, ""), order, row)


def headers(batch: Batch, row: str, *, epoch: str, writer: str) -> dict[str, str]:
    """Return what stands beside a batch's body."""
    codec = {} if batch.codec == LINES else {CODEC: str(batch.codec)}
    return codec | {
        FIRST: str(batch.first),
        LAST: str(batch.last),
        TIME: str(batch.ts),
        CRC: str(batch.crc),
        EPOCH: epoch,
        WRITER: writer,
        ROW: row,
    }
