"""Lines that carry frames: one adapter per technology."""

from gateway.transports.door import Address, serve_websocket
from gateway.transports.memory import memory_pair
from gateway.transports.process import MAX_LINE, Exit, ProcessTransport, run_process
from gateway.transports.stdio import DescriptorTransport, stdio
from gateway.transports.transport import (
    HUNG_UP,
    Line,
    Transport,
    at_once,
    goodbye,
    half_open,
    hang_up,
    taken,
)
from gateway.transports.websocket import WebSocketTransport, connect_websocket

__all__ = [
    "HUNG_UP",
    "MAX_LINE",
    "Address",
    "DescriptorTransport",
    "Exit",
    "Line",
    "ProcessTransport",
    "Transport",
    "WebSocketTransport",
    "at_once",
    "connect_websocket",
    "goodbye",
    "half_open",
    "hang_up",
    "memory_pair",
    "run_process",
    "serve_websocket",
    "stdio",
    "taken",
]
