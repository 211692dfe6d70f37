"""The values of the log: what happened (`Event`) and the line that says where it stands.

Above this module: stores, recorders, the fold, the gateway. Below it: `codec`.

One event is one line of JSON, made once, at the door; the same bytes are stored, sent and
exported:

    {"seq":12,"ts":1764…,"type":"message.delta","payload":{…}}

Further members of an upstream event follow `payload`, then `origin` (protocol §8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, NewType, NotRequired, TypedDict

from eventlog import codec
from eventlog.errors import InvalidSessionId, Malformed

SessionId = NewType("SessionId", str)
"""One session is one stream of events."""

Seq = NewType("Seq", int)
"""Position in a session: 1, 2, 3, … without holes (P-8)."""

START: Final = Seq(0)
"""The position before the first event."""

GATEWAY: Final = SessionId("@gateway")
"""Events that belong to no session are recorded here (P-12)."""

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
_STAND_IN: Final = re.compile(r"imp-[0-9a-f]{12}-0\Z")
_STRING: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN: Final = re.compile(_STRING + rb"|[{}]")
_LINE: Final = re.compile(rb'\{"seq":[0-9]+,"ts":[0-9]+,"type":' + _STRING + rb',"payload":(?=\{)')
_SPACING: Final = re.compile(rb"[\r\n\t]")
_OWN: Final = frozenset({"seq", "ts", "type", "payload", "session_id"})
_RESERVED: Final = frozenset({"seq", "ts", "type", "payload", "session_id", "origin"})


class Envelope(TypedDict):
    """A line of the log, read. `ts` is µs since the Unix epoch: for people, never for order."""

    seq: Seq
    ts: int
    type: str
    payload: dict[str, Any]
    session_id: NotRequired[SessionId]
    origin: NotRequired[str]


class Span(NamedTuple):
    """The numbers that one append was given: *first* to *last*, both included."""

    first: Seq
    last: Seq


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, not yet recorded.

    *payload* is the JSON text of an object; *rest* is either empty or the JSON text of further
    members, with a comma in front (`,"turn":{…},"origin":"…"`). Both are single lines.
    """

    type: str
    payload: bytes = b"{}"
    rest: bytes = b""

    def __post_init__(self) -> None:
        if b"\n" in self.payload or b"\n" in self.rest:
            raise Malformed(f"a {self.type} holds a line break: the log keeps one event a line")

    @classmethod
    def of(
        cls,
        type_: str,
        payload: Mapping[str, Any] | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        origin: str | None = None,
    ) -> Event:
        """Make an event from values.

        Raises:
            Malformed: something in it has no JSON form, or *members* hold a reserved name.

        """
        if members and (taken := _RESERVED & members.keys()):
            raise Malformed(f"{min(taken)!r} is a member of every line")
        rest = {**(members or {}), **({"origin": origin} if origin else {})}
        return cls(
            type_,
            _stored(payload or {}),
            b"," + _stored(rest)[1:-1] if rest else b"",
        )


def line(seq: int, ts: int, event: Event) -> bytes:
    """Return the line that *event* is in the log at *seq*."""
    return b'{"seq":%d,"ts":%d,"type":%b,"payload":%b%b}' % (
        seq,
        ts,
        _quoted(event.type),
        event.payload,
        event.rest,
    )


@lru_cache(maxsize=256)
def _quoted(type_: str) -> bytes:
    return codec.dumps(type_)


def event_of(text: bytes) -> tuple[int, Event]:
    """Return the `ts` and the event that a line was made of: the inverse of `line`.

    A line in the log's own form keeps its bytes; any other spelling of one is printed again.

    Raises:
        Malformed: it is not the JSON text of an event.

    """
    value = codec.loads(text)
    _check(value)
    if (found := _LINE.match(text)) and not _SPACING.search(text):
        end = _end_of_object(text, found.end())
        event = Event(value["type"], text[found.end() : end], text[end:-1])
        if line(value["seq"], value["ts"], event) == text and not _names_twice(event.rest):
            return value["ts"], event
    rest = {key: item for key, item in value.items() if key not in _OWN}
    return value["ts"], Event(
        value["type"],
        codec.dumps(value["payload"]),
        b"," + codec.dumps(rest)[1:-1] if rest else b"",
    )


def seq_of(text: bytes) -> Seq:
    """Return the number that a line of the log carries, without parsing the rest."""
    return Seq(int(text[7 : text.index(b",", 7)]))


def parse(text: bytes) -> Envelope:
    """Read a line of the log, with the payload as its sender wrote it.

    Raises:
        Malformed: it is not the JSON text of an event.

    """
    value = codec.loads(text)
    _check(value)
    envelope: Envelope = codec.restore_blobs(value) if b"$blob" in text else value
    return envelope


def on_the_wire(session_id: SessionId, lines: Iterable[bytes]) -> list[bytes]:
    """Return the `params` object of each line's event notification (P-11)."""
    head = b'{"session_id":%b,' % codec.dumps(session_id)
    return [head + text[1:] for text in lines]


def valid_session_id(text: object) -> SessionId:
    """Return *text* as a session id.

    Raises:
        InvalidSessionId: it does not have the form of one (P-25, R141).

    """
    if isinstance(text, str) and (_SESSION_ID.match(text) or text == GATEWAY):
        return SessionId(text)
    raise InvalidSessionId(text if isinstance(text, str) else repr(text))


def is_session(key: str) -> bool:
    """Whether *key* is a session's: neither `@gateway` nor what stands for it in an import."""
    return key != GATEWAY and not _STAND_IN.match(key)


def _check(value: Any) -> None:
    match value:
        case {"seq": int(), "ts": int(), "type": str(), "payload": dict()}:
            return
    raise Malformed("not an event: seq, ts, type and payload are needed")


def _end_of_object(text: bytes, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] == b"{":
            depth += 1
        elif token[0] == b"}":
            depth -= 1
            if depth == 0:
                return token.end()
    raise Malformed("the payload has no end")


def _names_twice(rest: bytes) -> bool:
    """Whether *rest* has a second word on what stands before it."""
    return bool(rest) and not _OWN.isdisjoint(codec.loads(b"{%b}" % rest[1:]))


def _stored(value: Mapping[str, Any]) -> bytes:
    text = codec.dumps(value)
    return codec.dumps(codec.escape_blobs(value)) if b"$blob" in text else text
