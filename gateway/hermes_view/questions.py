"""Questions: they are sent as requests, so of their events only the end is told.

Above this module: `view`. Below it: `asks`, `scene`.
"""

from __future__ import annotations

from typing import Final

from eventlog import Envelope
from gateway.hermes_view import tools
from gateway.hermes_view.asks import method_of
from gateway.hermes_view.scene import Scene, Told


def _opened(scene: Scene, envelope: Envelope) -> None:
    match envelope["payload"]:
        case {"id": str(id_), "method": str(method), **rest}:
            params = rest.get("params")
            scene.requests[id_] = method_of(method)
            scene.said.clear()
            if isinstance(params, dict):
                tools.asked_about(scene, params.get("toolCall"), envelope["ts"])


def _answered(scene: Scene, envelope: Envelope) -> Told | None:
    """Tell other windows to close their cards."""
    method = scene.requests.pop(str(envelope["payload"].get("id")), None)
    if method is None:
        return None
    return "request.cancel", {
        "id": envelope["payload"]["id"],
        "method": method,
        "reason": "resolved",
    }


def _cancelled(scene: Scene, envelope: Envelope) -> Told | None:
    payload = envelope["payload"]
    method = scene.requests.pop(str(payload.get("id")), None)
    if method is None:
        return None
    return "request.cancel", {**payload, "method": method}


STEPS: Final = {
    "request.opened": _opened,
    "request.answered": _answered,
    "request.cancel": _cancelled,
}
