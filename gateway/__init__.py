"""JSON-RPC peers around the log.

What stands here is what a conversation needs: a client that reconnects (`connect`), and below it
frames, a peer, lines to carry them, a token. The wire's shapes are in `gateway.contracts`.
"""

from gateway.auth import Token, load_token
from gateway.client import Asked, Backoff, Client
from gateway.dial import connect
from gateway.errors import (
    BadFrame,
    CannotConnect,
    CannotStart,
    Code,
    FrameTooLong,
    GatewayError,
    PeerGone,
    RpcError,
    TooSlow,
)
from gateway.follower import Follower
from gateway.jsonrpc import Failure, Frame, Notification, Raw, Reply, Request
from gateway.outbox import Outbox
from gateway.peer import Answer, Call, Handler, Peer
from gateway.transports import (
    Transport,
    connect_websocket,
    memory_pair,
    run_process,
    serve_websocket,
    stdio,
)

__all__ = [
    "Answer",
    "Asked",
    "Backoff",
    "BadFrame",
    "Call",
    "CannotConnect",
    "CannotStart",
    "Client",
    "Code",
    "Failure",
    "Follower",
    "Frame",
    "FrameTooLong",
    "GatewayError",
    "Handler",
    "Notification",
    "Outbox",
    "Peer",
    "PeerGone",
    "Raw",
    "Reply",
    "Request",
    "RpcError",
    "Token",
    "TooSlow",
    "Transport",
    "connect",
    "connect_websocket",
    "load_token",
    "memory_pair",
    "run_process",
    "serve_websocket",
    "stdio",
]
