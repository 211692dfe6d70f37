"""The log's lines as events on the wire: bytes in, bytes out (P-11).

Above this module: attachments, `session.events.since`. Below it: `eventlog`.

A line holds no raw newline, so a newline and the beginning of a line is always the border between
two, and a whole page becomes an array by one split and one join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from eventlog import Page, SessionId, codec, seq_of

_BEGIN: Final = b'{"seq":'
"""How every line of the log begins."""

_LINE: Final = 256
"""Bytes of a line; where lines are shorter a page is cut once more."""

_HEAD: Final = b'{"jsonrpc":"2.0","method":"event","params":'


def event_array(
    session_id: SessionId, body: bytes, *, blobs: bool, compact: bool
) -> tuple[bytes, int]:
    """Return the JSON array of a page's events, as `since` lists them, and how many there are.

    A client that did not say that it knows blobs gets a payload's own `$blob` keys as their
    sender wrote them (P-34).
    """
    if not body:
        return b"[]", 0
    if not blobs and _may_hold_blobs(body):
        body = b"\n".join(_restored(body.split(b"\n")))
    if compact:
        # One character for two: how much longer the text becomes is how many borders it has.
        told = body.replace(b"\n", b", ")
        return b"".join((b"[", told, b"]")), len(told) - len(body) + 1
    border = b",%b" % _named(session_id) + _BEGIN[1:]
    parts = body.split(b"\n" + _BEGIN)  # a long needle is found five times as fast as `\n{`
    parts[0] = b"[" + border[1:] + parts[0][len(_BEGIN) :]
    parts[-1] += b"]"
    return border.join(parts), len(parts)


def room_for(session_id: SessionId, room: int) -> int:
    """Return how many bytes of lines are *room* bytes of events, as long as most lines are."""
    return room * _LINE // (_LINE + len(_named(session_id)))


def fitting(session_id: SessionId, page: Page, room: int) -> Page:
    """Return as much of *page* as stays within *room* bytes when every event names its session.

    One event stays, whatever its size.
    """
    each = len(_named(session_id))
    body = page.body
    count = body.count(b"\n") + 1
    while (excess := len(body) + each * count - room) > 0 and count > 1:
        # As if all lines were alike; if they are not, once more.
        end = body.rfind(b"\n", 0, len(body) - max(1, excess * len(body) // (room + excess)))
        body = body[: end if end > 0 else body.index(b"\n")]
        count = body.count(b"\n") + 1
    if body is page.body:
        return page
    return replace(page, next=seq_of(body[body.rfind(b"\n") + 1 :]), body=body)


def framer(session_id: SessionId, *, blobs: bool) -> Callable[[bytes], bytes]:
    """Return what makes the notification for a line of a session."""
    head = _HEAD + _named(session_id)

    def frame(text: bytes) -> bytes:
        if not blobs and _may_hold_blobs(text):
            (text,) = _restored([text])
        return head + text[1:] + b"}"

    return frame


def _may_hold_blobs(text: bytes) -> bool:
    return b"$" in text and b"$blob" in text  # one character is found thirty times as fast


def _named(session_id: SessionId) -> bytes:
    return b'{"session_id":%b,' % codec.dumps(session_id)


def _restored(lines: Iterable[bytes]) -> Iterator[bytes]:
    for text in lines:
        known = b"$blob" not in text
        yield text if known else codec.dumps(codec.restore_blobs(codec.loads(text)))
