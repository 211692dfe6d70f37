"""What a person should hear of the agent's process and of the log.

Above this module: `view`. Below it: `scene`.
"""

from __future__ import annotations

from typing import Final

from eventlog import Envelope
from gateway.hermes_view.scene import Scene, Told

_ON_PURPOSE: Final = frozenset({"session_closed", "shutdown"})


def _exited(_: Scene, envelope: Envelope) -> Told | None:
    payload = envelope["payload"]
    if payload.get("reason") in _ON_PURPOSE:
        return None
    ways = (("code", "with code {}"), ("signal", "by {}"), ("reason", "({})"))
    how = [words.format(payload[key]) for key, words in ways if payload.get(key) is not None]
    return "notice", {"message": " ".join(["The agent's process ended", *how]) + "."}


def _gap(_: Scene, envelope: Envelope) -> Told:
    lost, reason = envelope["payload"].get("lost"), envelope["payload"].get("reason")
    count = f"{lost} events" if lost else "Events"
    return "notice", {"message": f"{count} are missing here: {reason}."}


STEPS: Final = {"agent.exited": _exited, "log.gap": _gap}
