"""What the lines of a cassette are: a header, a base, large strings, events.

Above this module: `cassette`, replay. Below it: `event`, `blobs`.

Large strings stand in lines of their own, each before the first event that refers to it; whoever
reads a cassette gets the events with the strings put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from eventlog import codec
from eventlog.blobs import put_back, ref_of, referred
from eventlog.errors import BadCassette, EventLogError, Malformed
from eventlog.event import Seq, SessionId, parse, valid_session_id
from eventlog.store import Checkpoint

VERSION: Final = 1
"""The form of cassettes that this module knows; it reads no later one."""

_MARK: Final = b'{"cassette":'
_BASE: Final = b'{"base":'
_BLOB: Final = b'{"blob":'


@dataclass(frozen=True, slots=True)
class CassetteHeader:
    """Where and how far a session was recorded: the first line of its cassette."""

    session_id: SessionId
    epoch: str
    floor: Seq
    head: Seq

    def line(self) -> bytes:
        """Return the header as it stands in the file."""
        return codec.dumps(
            {
                "cassette": VERSION,
                "session_id": self.session_id,
                "epoch": self.epoch,
                "floor": self.floor,
                "head": self.head,
            }
        )

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Read a header.

        Raises:
            Malformed: it is none, or of a later version.
            InvalidSessionId: it names a session that cannot be.

        """
        match codec.loads(text):
            case {"cassette": int(version)} if version > VERSION:
                raise Malformed(f"cassette version {version}, this program knows up to {VERSION}")
            case {
                "cassette": int(),
                "session_id": key,
                "epoch": str(epoch),
                "floor": int(floor),
                "head": int(head),
            } if 0 <= floor <= head:
                return cls(valid_session_id(key), epoch, Seq(floor), Seq(head))
        raise Malformed("not a cassette's first line")


@dataclass(frozen=True, slots=True)
class CassetteBase:
    """What stood before the first event, if that was pruned: the line behind the header.

    *state* is the fold as its maker wrote it; the rest is what a list shows of a session.
    """

    state: Checkpoint
    created: int
    updated: int
    title: str | None
    opened: Mapping[str, Any]

    def line(self) -> bytes:
        """Return the base as it stands in the file."""
        told = {
            "seq": self.state.seq,
            "version": self.state.version,
            "created": self.created,
            "updated": self.updated,
            "title": self.title,
            "opened": self.opened,
        }
        return b'{"base":%b,"body":%b}' % (codec.dumps(told), self.state.body)

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Read a base.

        Raises:
            Malformed: it is none.

        """
        match codec.loads(text):
            case {
                "base": {
                    "seq": int(seq),
                    "version": int(version),
                    "created": int(created),
                    "updated": int(updated),
                    "title": (str() | None) as title,
                    "opened": dict(opened),
                },
                "body": dict(body),
            }:
                state = Checkpoint(Seq(seq), version, codec.dumps(body))
                return cls(state, created, updated, title, opened)
        raise Malformed("not a cassette's base")


Item = CassetteHeader | CassetteBase | bytes
"""What a cassette is made of, large strings aside."""


def is_cassette(start: bytes) -> bool:
    """Whether a file that starts with *start* means to be a cassette."""
    return start.removeprefix(b"\xef\xbb\xbf").startswith(_MARK)


def read_cassette(
    stream: Iterable[bytes], *, name: str = "-", lenient: bool = False
) -> Iterator[Item | BadCassette]:
    """Yield each session's header, its base if it has one, then its lines, strings put back.

    *stream* gives lines, as a file opened for reading bytes does; *name* is for messages. Where
    *lenient*, what is damaged comes as a `BadCassette` in its place, and reading goes on.

    Raises:
        BadCassette: a line is not what it should be, one is missing, or the file ends early.

    """
    for number, item in _Reading().items(stream):
        if isinstance(item, str):
            flaw = BadCassette(name, number, item)
            if not lenient:
                raise flaw
            yield flaw
        else:
            yield item


class _Reading:
    """Where a reader of a cassette stands: under which header, after which event."""

    def __init__(self) -> None:
        self._header: CassetteHeader | None = None
        self._cursor = 0
        self._blobs: dict[str, bytes] = {}

    def items(self, stream: Iterable[bytes]) -> Iterator[tuple[int, Item | str]]:
        """Yield what each line is, with its number; a string says what is wrong with it."""
        number = 0
        for number, raw in enumerate(stream, 1):
            text = raw.rstrip(b"\r\n")
            text = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
            if not text.strip():
                continue
            for item in self._read(text):
                yield number, item
        for flaw in self._end():
            yield number + 1, flaw

    def _read(self, text: bytes) -> Iterator[Item | str]:
        try:
            if text.startswith(_MARK):
                yield from self._end()
                self._header = CassetteHeader.parse(text)
                self._cursor = self._header.floor
                yield self._header
            elif self._header is None:
                yield "no cassette: the first line has to say so"
            elif text.startswith(_BASE):
                yield self._base(CassetteBase.parse(text))
            elif text.startswith(_BLOB):
                self._keep(codec.loads(text))
            else:
                yield from self._event(text)
        except EventLogError as error:
            yield str(error)

    def _base(self, base: CassetteBase) -> CassetteBase:
        if self._header is None or base.state.seq != self._header.floor:
            raise Malformed("a base belongs behind a header whose floor it stands at")
        return base

    def _keep(self, value: Any) -> None:
        match value:
            case {"blob": str(ref), "body": str(text)} if ref_of(body := text.encode()) == ref:
                self._blobs[ref] = body
            case _:
                raise Malformed("a large string is not what its hash says")

    def _event(self, text: bytes) -> Iterator[bytes | str]:
        text = put_back(text, self._blobs)
        for ref in referred(text):
            yield f"it refers to {ref}, which does not stand before it"
        envelope = parse(text)
        seq, due = envelope["seq"], self._cursor + 1
        if type(seq) is not int or not 0 <= envelope["ts"] < 2**63:
            yield "seq and ts have to be integers of at most 63 bits"
        elif seq < due:
            yield f"event {seq} comes after event {self._cursor}"
        else:
            lost = envelope["payload"] if envelope["type"] == "log.gap" else {}
            if seq > due and (lost.get("first"), lost.get("last")) != (due, seq):
                yield f"event {seq} comes where {due} was due"
            self._cursor = seq
            yield text

    def _end(self) -> Iterator[str]:
        if self._header is not None and self._cursor != self._header.head:
            yield f"it ends at event {self._cursor}, the session at {self._header.head}"
