"""What the bar at the bottom says: how the line is, where this is, what the agent does.

Above this module: `visit`. Below it: the reference client, which knows its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import anyio

from gateway.client import Client
from replay import Transcript, clean_line

_DOING: Final[Mapping[str, str]] = {"running": "working", "waiting": "waiting for you"}


def bar(
    client: Client, session: str | None, transcript: Transcript | None, *, gone: str | None = None
) -> str:
    """Return it; *transcript* is None until the session has been read, *gone* says why it is not."""
    words = [standing(client, caught_up=transcript is not None), session or ""]
    if transcript is not None:
        words.append(clean_line(transcript.info.name or transcript.info.agent or ""))
    if not client.connected:
        words.append(clean_line(client.trouble))
    elif gone is not None:
        words.append(clean_line(gone))
    elif client.degraded is not None:
        words.append(clean_line(f"cannot record, takes nothing: {client.degraded}"))
    elif transcript is not None:
        words.append(_DOING.get(transcript.status, transcript.status))
    return " · ".join(word for word in words if word)


def standing(client: Client, *, caught_up: bool) -> str:
    """Return whether there is a line, or when the next one is tried."""
    if client.connected:
        return "● live" if caught_up else "◌ catching up"
    again = "reconnecting" if client.lines else "connecting"
    if client.retry_at is None:
        return f"◌ {again}"
    return f"◌ {again} in {max(0, client.retry_at - anyio.current_time()):.0f} s"
