"""What can go wrong on a line, and the numbers by which peers tell each other (protocol §9).

Above this module: everything in this package. Below it: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final


class Code(IntEnum):
    """The error codes of the wire: JSON-RPC's own are negative, Hermes's and ours positive."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    UNKNOWN_KEY = 4000
    NOT_LIVE = 4001
    BAD_ARGUMENT = 4002
    SESSION_NOT_FOUND = 4007
    BUSY = 4009
    DELETE_OF_LIVE_SESSION = 4023
    LIMIT_REACHED = 4090
    NOT_ALLOWED = 4100
    NOT_SHOWN = 4404
    LOG_UNAVAILABLE = 5003
    GOING_AWAY = 5035


class Closing(IntEnum):
    """The close codes of a WebSocket that mean something here (P-7)."""

    NORMAL = 1000
    GOING_AWAY = 1001
    UNSUPPORTED = 1003
    NOT_ALLOWED = 1008
    TOO_BIG = 1009
    TOO_SLOW = 1013


_LONGEST: Final = 1 << 16
"""Characters of one string in an error, at most."""


class GatewayError(Exception):
    """Root of every error this package raises."""


@dataclass(eq=False)
class RpcError(GatewayError):
    """A request failed, here or at the peer. *data* says what a client can act on."""

    code: int
    message: str
    data: Any = None

    def __str__(self) -> str:
        return f"{self.message} ({int(self.code)})"

    def brief(self) -> RpcError:
        """Return this without the length of what a client has sent, which is no news to it (P-3)."""
        return RpcError(self.code, _short(self.message), _short(self.data))

    @property
    def words(self) -> str:
        """The message, and the details that ACP's libraries put into *data* of "Internal error"."""
        match self.data:
            case {"details": str(details)}:
                return f"{self.message}: {details}"
        return self.message


@dataclass(eq=False)
class BadFrame(RpcError):
    """What came is no frame (P-2). *id* is the caller's, if there was a caller to be seen."""

    id: int | str | None = None


@dataclass(eq=False)
class FrameTooLong(GatewayError):
    """A frame was skipped: *size* bytes where *limit* are allowed. The next one is readable."""

    limit: int
    size: int
    head: bytes
    """How it began."""

    def __str__(self) -> str:
        return f"a frame of {self.size} bytes is over the limit of {self.limit}"


@dataclass(eq=False)
class PeerGone(GatewayError):
    """The line dropped before the answer to *method* came; whether it was done is not known."""

    method: str

    def __str__(self) -> str:
        return f"the line dropped before {self.method} was answered"


@dataclass(eq=False)
class TooSlow(GatewayError):
    """The peer does not take what it is sent (P-20): *waiting* bytes stand in its buffer."""

    waiting: int
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.waiting} bytes are waiting"


@dataclass(eq=False)
class CannotStart(GatewayError):
    """An agent's command could not be run."""

    command: str
    reason: str

    def __str__(self) -> str:
        return f"cannot run {self.command}: {self.reason}"


@dataclass(eq=False)
class CannotConnect(GatewayError):
    """No conversation with the gateway at *url* could be opened."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"cannot connect to {self.url}: {self.reason}"


def _short(value: Any) -> Any:
    match value:
        case str() if len(value) > _LONGEST:
            return f"{value[:_LONGEST]}… ({len(value)} characters)"
        case dict():
            return {_short(key): _short(item) for key, item in value.items()}
        case list():
            return [_short(item) for item in value]
    return value
