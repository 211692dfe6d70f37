"""Lines that carry frames: one adapter per technology."""

from gateway.transports.memory import memory_pair
from gateway.transports.transport import HUNG_UP, Line, Transport, half_open, hang_up, taken

__all__ = ["HUNG_UP", "Line", "Transport", "half_open", "hang_up", "memory_pair", "taken"]
