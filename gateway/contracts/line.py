"""The line itself: who speaks, what it can do, whether it is alive (protocol §2).

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Literal

from gateway.contracts.shapes import Amount, Params, Result


class GatewayAuthenticate(Params):
    """Show the token as the first frame, where no header can be set (P-7)."""

    token: str | None = None


class GatewayPing(Params):
    """Ask for a sign of life (P-5)."""


class Alive(Result):
    """Yes."""

    ok: Literal[True]


class ClientCapabilities(Params):
    """Say once what this client can do (P-6)."""

    server_requests: bool = False
    acp_updates: bool = False
    blobs: bool = False
    compact: bool = False
    limit_bytes: Amount | None = None


class ClientCapabilitiesResult(Result):
    """The questions that may be asked of a client."""

    server_requests: list[str]
    declines_not_shown: bool
