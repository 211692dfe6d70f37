"""Large strings, kept once by content and referred to from the lines that hold them (P-34).

Above this module: the adapters, which store what `cut` takes out and put it back for readers;
cassettes. Below it: `codec`, `event`.

A string over 64 KiB inside an event becomes a reference:

    {"$blob":"sha256:…","size":1234567,"head":"…","tail":"…"}

An event that is still over 256 KiB has its longest strings replaced, then its payload, whose
content is then JSON. Cutting is deterministic: what is put back and cut again is the same line
and the same content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import anyio.to_thread

from eventlog import codec
from eventlog.errors import Malformed
from eventlog.event import Event

LONGEST: Final = 65_536
"""Bytes that a string may have in a line; a longer one is replaced."""

LARGEST: Final = 262_144
"""Bytes that an event should have at most."""

HEAD: Final = 1_024
TAIL: Final = 256
"""Bytes of a string's ends that a reference shows."""

_WORTH: Final = 8 * HEAD
"""Shorter strings are not worth a reference, however large their event is."""

_SLOW: Final = 1 << 20
"""Bytes whose parsing, printing and hashing would be felt on the event loop (R162)."""

_REFERENCE: Final = re.compile(r"sha256:[0-9a-f]{64}\Z")
MARK: Final = b'"$blob":"sha256:'
"""Stands in every line that refers to something, and in no other: a payload's own is doubled."""


T = TypeVar("T")


class Blob(NamedTuple):
    """A large string, in UTF-8, or a payload's JSON; *ref* is `sha256:` and 64 hex digits."""

    ref: str
    body: bytes


class Piece(NamedTuple):
    """Some bytes of a blob, which has *size* of them."""

    size: int
    body: bytes


Fetch = Callable[[str], Awaitable[bytes | None]]
"""Returns what a reference means; None if it is not to be had."""


def hash_of(ref: object) -> bytes | None:
    """Return the SHA-256 that *ref* names, or None if it has not the form of a reference."""
    known = isinstance(ref, str) and _REFERENCE.match(ref)
    return bytes.fromhex(str(ref)[7:]) if known else None


def ref_of(body: bytes) -> str:
    """Return the reference to *body*."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def is_large(event: Event) -> bool:
    """Whether *event* may hold something that `cut` would take out."""
    return len(event.payload) + len(event.rest) > LONGEST


def cut(event: Event) -> tuple[Event, list[Blob]]:
    """Return *event* as it is stored, and what was taken out of it."""
    if not is_large(event):
        return event, []
    found: dict[str, Blob] = {}
    payload = _without(codec.loads(event.payload), LONGEST, found)
    rest = _without(codec.loads(b"{%b}" % event.rest[1:]), LONGEST, found)
    small = _event(event.type, payload, rest) if found else event
    if (excess := _size(small) - LARGEST) > 0:
        payload = _without(payload, _threshold(payload, excess), found)
        small = _event(event.type, payload, rest) if found else event
    if _size(small) > LARGEST and len(small.payload) > _WORTH:
        small = Event(event.type, codec.dumps(_take(small.payload, found)), small.rest)
    return small, list(found.values())


def lean(value: Any) -> Any:
    """Return a part of a payload with references for its large strings, as the log stores them."""
    return _without(codec.escape_blobs(value), LONGEST, {})


async def cut_all(events: list[Event]) -> tuple[list[Event], list[tuple[int, Blob]]]:
    """Return *events* as they are stored, and what was taken out, each with its event's index.

    What is large enough to be felt is cut in a thread.
    """
    if sum(len(event.payload) for event in events) > _SLOW:
        return await anyio.to_thread.run_sync(_cut_all, events)
    return _cut_all(events)


def refs(value: Any) -> Iterator[str]:
    """Yield every reference in *value*, as a line or a payload is read by `codec.loads`."""
    match value:
        case {"$blob": str(ref)}:
            yield ref
        case dict():
            for item in value.values():
                yield from refs(item)
        case list():
            for item in value:
                yield from refs(item)


async def restored(text: bytes, fetch: Fetch) -> bytes:
    """Return a line with everything put back; what *fetch* does not have stays a reference."""
    found: dict[str, bytes] = {}
    size = 0
    for ref in referred(text):
        if (body := await fetch(ref)) is not None:
            found[ref] = body
            size += len(body)
            for inner in await _aside(size, referred, body):
                if (body := await fetch(inner)) is not None:
                    found[inner] = body
                    size += len(body)
    return await _aside(size, put_back, text, found)


def referred(text: bytes) -> list[str]:
    """Return what a line, or the JSON of a payload, refers to, each once."""
    if MARK not in text:
        return []
    try:
        return list(dict.fromkeys(refs(codec.loads(text))))
    except Malformed:
        return []  # a string, that looks like JSON but for this


def put_back(text: bytes, found: Mapping[str, bytes]) -> bytes:
    """Return a line with what is found put back; what is not stays a reference."""
    if MARK not in text:
        return text
    value = codec.loads(text)
    match value["payload"]:
        case {"$blob": str(ref)} if ref in found:
            value["payload"] = codec.loads(found[ref])
    return codec.dumps(_put(value, found))


async def _aside(size: int, do: Callable[..., T], *given: Any) -> T:
    return await anyio.to_thread.run_sync(do, *given) if size > _SLOW else do(*given)


def _put(value: Any, found: Mapping[str, bytes]) -> Any:
    match value:
        case {"$blob": str(ref)}:
            return found[ref].decode() if ref in found else value
        case dict():
            return {key: _put(item, found) for key, item in value.items()}
        case list():
            return [_put(item, found) for item in value]
    return value


def _cut_all(events: list[Event]) -> tuple[list[Event], list[tuple[int, Blob]]]:
    small: list[Event] = []
    taken: list[tuple[int, Blob]] = []
    for index, event in enumerate(events):
        stored, found = cut(event)
        small.append(stored)
        taken += ((index, blob) for blob in found)
    return small, taken


def _without(value: Any, longest: int, found: dict[str, Blob]) -> Any:
    """Return *value* with every string over *longest* bytes taken out."""
    match value:
        case str() if (body := _encoded(value, longest)) is not None:
            return _take(body, found)
        case {"$blob": str()}:
            return value  # taken out before
        case dict():
            return {key: _without(item, longest, found) for key, item in value.items()}
        case list():
            return [_without(item, longest, found) for item in value]
    return value


def _encoded(text: str, longest: int) -> bytes | None:
    """Return *text* in UTF-8 if it is longer than that; one with a lone surrogate has none."""
    if len(text) * 4 <= longest:
        return None
    try:
        body = text.encode()
    except UnicodeEncodeError:
        return None
    return body if len(body) > longest else None


def _take(body: bytes, found: dict[str, Blob]) -> dict[str, Any]:
    blob = Blob(ref_of(body), body)
    found[blob.ref] = blob
    return {
        "$blob": blob.ref,
        "size": len(body),
        "head": body[:HEAD].decode("utf-8", "ignore"),  # a character cut in two is left out
        "tail": body[-TAIL:].decode("utf-8", "ignore"),
    }


def _threshold(value: Any, excess: int) -> int:
    """Return the length beyond which strings have to go, so that *value* is *excess* smaller."""
    lengths = sorted((length for length in _lengths(value) if length > _WORTH), reverse=True)
    for length in lengths:
        excess -= length - HEAD - TAIL
        if excess <= 0:
            return length - 1
    return _WORTH


def _lengths(value: Any) -> Iterator[int]:
    match value:
        case str():
            yield len(value.encode("utf-8", "surrogatepass"))
        case dict():
            for item in value.values():
                yield from _lengths(item)
        case list():
            for item in value:
                yield from _lengths(item)


def _size(event: Event) -> int:
    return len(event.payload) + len(event.rest)


def _event(type_: str, payload: Any, rest: Any) -> Event:
    return Event(type_, codec.dumps(payload), b"," + codec.dumps(rest)[1:-1] if rest else b"")


def checked(body: bytes, ref: str) -> bytes | None:
    """Return *body* if it is what *ref* refers to."""
    return body if ref_of(body) == ref else None


def text_of(body: bytes, offset: int) -> str:
    """Return a piece of a blob as text; half a character at its end is left out.

    Raises:
        Malformed: it begins inside a character.

    """
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        if error.start == 0 and body[0] & 0xC0 == 0x80:
            raise Malformed(f"byte {offset} is inside a character") from None
        return body[: error.start].decode()
