"""What of an upstream gateway's frames comes first: in the order in which they must be recorded.

Above this module: `upstream`. Below it: a transport.

After a break, events that were missed come in the answer of `session.events.since`, and events
that happen now come by themselves, perhaps before it. Those are held until it is there, so that
the log keeps the order in which things happened (P-39).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anyio.abc import ObjectStream

from eventlog import codec
from gateway.errors import BadFrame
from gateway.jsonrpc import Failure, Frame, Notification, Reply, RequestId, parse
from gateway.transports import Transport


class Ahead(ObjectStream[bytes]):
    """A line whose frames may have been read already, and on which events may be held."""

    def __init__(self, line: Transport, read: Sequence[bytes] = ()) -> None:
        """*read* are frames that came already; they come again, first."""
        self._line = line
        self._ready = deque(read)
        self._awaited: dict[RequestId, str] = {}
        self._held: dict[str, list[bytes]] = {}

    def hold(self, runtime: str, until: RequestId) -> None:
        """Hold the numbered events of *runtime* until the call *until* has been answered."""
        self._awaited[until] = runtime
        self._held[runtime] = []

    async def receive(self) -> bytes:
        """Return the next frame that is not held."""
        while True:
            if self._ready:
                return self._ready.popleft()
            frame = await self._line.receive()
            if not self._is_held(frame):
                return frame

    async def send(self, item: bytes) -> None:
        """Send a frame."""
        await self._line.send(item)

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        await self._line.send_eof()

    async def aclose(self) -> None:
        """Hang up."""
        await self._line.aclose()

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """Return what the line below knows."""
        return self._line.extra_attributes

    def _is_held(self, frame: bytes) -> bool:
        """Hold *frame* if it has to wait; let go what waited for it, behind it."""
        if not self._awaited:
            return False
        match read_frame(frame):
            case Notification("event", {"session_id": str(runtime), "seq": int()}):
                if runtime in self._held:
                    self._held[runtime].append(frame)
                    return True
            case Reply(id_) | Failure(id_) if id_ in self._awaited:
                self._ready.extend(self._held.pop(self._awaited.pop(id_)))
        return False


def read_frame(frame: bytes) -> Frame | None:
    """Return what a frame is, or None if it is none."""
    try:
        return parse(frame, max_depth=codec.DEEPEST)
    except BadFrame:
        return None
