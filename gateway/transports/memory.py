"""Two ends of a line inside one process. The reference transport, and the one tests use.

Above this module: `Peer`. Below it: anyio's memory streams.
"""

from __future__ import annotations

from anyio import create_memory_object_stream
from anyio.streams.stapled import StapledObjectStream

from gateway.transports.transport import Transport


def memory_pair(frames: int = 16) -> tuple[Transport, Transport]:
    """Return both ends; what either sends, the other receives. *frames* fit in each direction."""
    to_right, from_left = create_memory_object_stream[bytes](frames)
    to_left, from_right = create_memory_object_stream[bytes](frames)
    return StapledObjectStream(to_right, from_right), StapledObjectStream(to_left, from_left)
