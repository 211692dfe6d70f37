"""The log's lines as frames of events: bytes in, bytes out (P-11).

Above this module: attachments, `session.events.since`. Below it: `eventlog`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eventlog import SessionId, codec, on_the_wire

_HEAD: Final = b'{"jsonrpc":"2.0","method":"event","params":'


def event_objects(
    session_id: SessionId, lines: Iterable[bytes], *, blobs: bool, compact: bool = False
) -> list[bytes]:
    """Return the event objects of *lines*, as `since` lists them and notifications carry them.

    A client that did not say that it knows blobs gets a payload's own `$blob` keys as their
    sender wrote them (P-34).
    """
    whole = lines if blobs else [_restored(text) if b"$blob" in text else text for text in lines]
    return list(whole) if compact else on_the_wire(session_id, whole)


def event_frames(session_id: SessionId, lines: Iterable[bytes], *, blobs: bool) -> Iterator[bytes]:
    """Yield a notification for each line."""
    for params in event_objects(session_id, lines, blobs=blobs):
        yield _HEAD + params + b"}"


def event_frame(session_id: SessionId, text: bytes, *, blobs: bool) -> bytes:
    """Return the notification for one line."""
    (frame,) = event_frames(session_id, [text], blobs=blobs)
    return frame


def _restored(text: bytes) -> bytes:
    return codec.dumps(codec.restore_blobs(codec.loads(text)))
