"""Whether a log can record at present, and a way to hear when that turns (S-9).

Above this module: the adapters; the gateway tells clients `log.degraded`, `log.recovered`.
"""

from __future__ import annotations

import anyio


class Condition:
    """Why nothing can be recorded; None while everything is well."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._turned: anyio.Event | None = None

    def turn(self, reason: str | None) -> None:
        """Note that recording fails for *reason*, or that it has succeeded."""
        if reason != self.reason:
            self.reason = reason
            if self._turned is not None:
                self._turned.set()
                self._turned = None

    async def turned(self, known: str | None) -> str | None:
        """Return the condition once it is another than *known*."""
        while self.reason == known:
            self._turned = self._turned or anyio.Event()
            await self._turned.wait()
        return self.reason
