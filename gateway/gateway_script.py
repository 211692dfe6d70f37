"""A recording of a Hermes gateway, frame by frame.

Above this module: `gateway_player`. Below it: `codec`. No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eventlog import Malformed, codec
from gateway.answers import CANNOT_SHOW

Step = tuple[str, dict[str, Any]]
"""`in` or `out`, and a frame."""


def is_ready(step: Step) -> bool:
    """Whether this is how a process of the gateway begins."""
    match step:
        case ("out", {"method": "event", "params": {"type": "gateway.ready"}}):
            return True
    return False


def declines(frame: Mapping[str, Any]) -> bool:
    """Whether an answer only says that this client cannot show the question."""
    code = (frame.get("error") or {}).get("code")
    return code in CANNOT_SHOW


def read_steps(data: bytes) -> Iterator[Step]:
    """Yield the frames, but for what was no frame, and greetings of further recorded sockets.

    Raises:
        Malformed: no line of it says that a gateway is ready.

    """
    epochs: set[str] = set()
    for text in data.splitlines():
        value = codec.loads(text)
        frame = value.get("frame")
        if value.get("dir") not in {"in", "out"} or not isinstance(frame, dict):
            continue
        if is_ready((value["dir"], frame)):
            epoch = str(frame["params"]["payload"].get("replay_epoch"))
            if epoch in epochs:
                continue
            epochs.add(epoch)
        if "_raw" not in frame:
            yield value["dir"], frame
    if not epochs:
        raise Malformed("no line of it says that a Hermes gateway is ready")
