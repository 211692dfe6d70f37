"""What senders know of frames beyond the frames, until these are sent.

Above this module: `agent`. Below it: `recording`, which asks for it as a frame passes.
"""

from __future__ import annotations

from gateway.recording import Remark


class Remarks:
    """Remarks by the frames that they are about; equal frames have theirs in order."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, list[Remark]] = {}

    def add(self, frame: bytes, remark: Remark) -> None:
        """Keep what is known of a frame that will be sent."""
        self._waiting.setdefault(frame, []).append(remark)

    def take(self, frame: bytes) -> Remark | None:
        """Return what is known of a frame that is being sent."""
        waiting = self._waiting.get(frame, [])
        remark = waiting.pop(0) if waiting else None
        if not waiting:
            self._waiting.pop(frame, None)
        return remark

    def lose(self) -> None:
        """Tell who waits that no frame will be sent any more."""
        for waiting in self._waiting.values():
            for remark in waiting:
                remark.done(recorded=False)
