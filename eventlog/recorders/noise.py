"""What came over a line and is no frame: kept, so that nobody wonders where it went (R119).

Above this module: the recorders and the importer. Below it: `event`.
"""

from __future__ import annotations

from typing import Final

from eventlog.event import Event

MAX_NOISE: Final = 4096
"""Characters of such a line that are kept; its size in bytes is always told."""


def noise(text: bytes) -> Event:
    """Return the event that keeps the beginning of *text*."""
    shown = text.decode("utf-8", "backslashreplace")
    cut = {"size": len(text)} if len(shown) > MAX_NOISE else {}
    return Event.of("agent.noise", {"text": shown[:MAX_NOISE], **cut})


def noise_of_client(text: bytes) -> Event:
    """Return the event that says what a client sent: not the text, which may hold a secret."""
    return Event.of("agent.noise", {"text": "", "size": len(text), "by": "client"})
