"""What carries frames: anyio's `ObjectStream[bytes]`, ordered, reliable, one frame an item.

Above this module: `Peer`. Below it: one adapter per technology.

The failure model is anyio's: `EndOfStream` (the peer hung up), `BrokenResourceError` (the line
went down), `ClosedResourceError` (we hung up). One more is not the end of the line: `FrameTooLong`
says that a frame was skipped, and the next `receive` gives the one behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, cast, runtime_checkable

import anyio
from anyio.abc import ObjectStream

Transport = ObjectStream[bytes]


@runtime_checkable
class Prompt(Protocol):
    """A transport that can send without waiting, which takes half the time."""

    def send_at_once(self, item: bytes) -> bool:
        """Send a frame if nothing is in its way; return whether that was so."""
        ...


def at_once(transport: Transport) -> Callable[[bytes], bool] | None:
    """Return how *transport* itself sends without waiting; None if it cannot.

    It is no attribute: whoever stands in between must see what is sent.
    """
    return transport.send_at_once if isinstance(transport, Prompt) else None


HUNG_UP: Final = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""No more frames pass in this direction."""


class Line(anyio.TypedAttributeSet):
    """What a transport may know beyond its frames; a wrapper passes these on as they are."""

    taken: int = anyio.typed_attribute()
    half_open: bool = anyio.typed_attribute()
    hang_up: Callable[[int, str], Awaitable[None]] = anyio.typed_attribute()
    goodbye: tuple[int, str] | None = anyio.typed_attribute()


def taken(transport: Transport) -> int:
    """Return the bytes taken off our hands so far, which grow within a frame; 0 if unknown."""
    return int(_known(transport, Line.taken, 0))


def half_open(transport: Transport) -> bool:
    """Whether we can still send when the peer has said its last word."""
    return bool(_known(transport, Line.half_open, False))  # noqa: FBT003


async def hang_up(transport: Transport, code: int, reason: str) -> None:
    """Close the line, and say why where there is a way to say it (a WebSocket close code)."""
    close = _known(transport, Line.hang_up, None)
    await (close(code, reason) if close else transport.aclose())


def goodbye(transport: Transport) -> tuple[int, str] | None:
    """Return the close code and the reason that the peer gave when it hung up, if it did."""
    return cast("tuple[int, str] | None", _known(transport, Line.goodbye, None))


def _known(transport: Transport, attribute: Any, default: Any) -> Any:
    found = transport.extra_attributes.get(attribute)
    return found() if found else default
