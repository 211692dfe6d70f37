"""The log's lines as events on the wire: bytes in, bytes out (P-11).

Above this module: attachments, `session.events.since`. Below it: `eventlog`.

A line holds no raw newline, so a newline followed by a brace is always the border between two
lines, and a whole page becomes an array by one split and one join.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, takewhile
from typing import Final

from eventlog import Page, SessionId, codec, on_the_wire, seq_of

_HEAD: Final = b'{"jsonrpc":"2.0","method":"event","params":'


def event_array(session_id: SessionId, body: bytes, *, blobs: bool, compact: bool) -> bytes:
    """Return the JSON array of a page's events, as `since` lists them.

    A client that did not say that it knows blobs gets a payload's own `$blob` keys as their
    sender wrote them (P-34).
    """
    if not blobs and b"$blob" in body:
        body = b"\n".join(_restored(body.split(b"\n")))
    if compact or not body:
        return b"[" + body.replace(b"\n", b",") + b"]"
    head = _named(session_id)
    return b"[" + head + (b"," + head).join(body[1:].split(b"\n{")) + b"]"


def fitting(session_id: SessionId, page: Page, room: int) -> Page:
    """Return as much of *page* as stays within *room* bytes when every event names its session.

    One event stays, whatever its size.
    """
    each = len(_named(session_id))
    if len(page.body) + each * (page.body.count(b"\n") + 1) <= room:
        return page
    lines = page.lines
    sizes = accumulate(len(text) + each for text in lines)
    kept = lines[: max(1, sum(1 for _ in takewhile(room.__ge__, sizes)))]
    return replace(page, next=seq_of(kept[-1]), body=b"\n".join(kept))


def event_frames(session_id: SessionId, lines: Iterable[bytes], *, blobs: bool) -> Iterator[bytes]:
    """Yield a notification for each line."""
    for params in on_the_wire(session_id, lines if blobs else _restored(lines)):
        yield _HEAD + params + b"}"


def event_frame(session_id: SessionId, text: bytes, *, blobs: bool) -> bytes:
    """Return the notification for one line."""
    (frame,) = event_frames(session_id, [text], blobs=blobs)
    return frame


def _named(session_id: SessionId) -> bytes:
    return b'{"session_id":%b,' % codec.dumps(session_id)


def _restored(lines: Iterable[bytes]) -> Iterator[bytes]:
    for text in lines:
        known = b"$blob" not in text
        yield text if known else codec.dumps(codec.restore_blobs(codec.loads(text)))
