"""Coming to one of a log's servers, and saying in words why not.

Above this module: `link`. Below it: nats-py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
from nats.aio.client import Client
from nats.errors import Error as NatsError

from eventlog.address import LogAddress
from eventlog.errors import LogUnavailable

CONNECT: Final = 5.0
"""Seconds until a server that does not answer counts as absent."""


class Connection(Client):  # type: ignore[misc]  # it has no types
    """nats-py's client, which leaves open what it has given up: a server that does not speak."""

    async def _connect_to_server(self, *server: Any) -> None:
        if self._transport is not None:
            self._transport.close()
        await super()._connect_to_server(*server)


async def connect(
    client: Client, address: LogAddress, reconnected: Callable[[], Awaitable[None]]
) -> None:
    """Connect *client*; from then on it never gives up.

    Raises:
        LogUnavailable: no server can be reached, or they do not know who this is.

    """
    failures: list[Exception] = []

    async def failed(error: Exception) -> None:
        failures[:] = [*failures[-9:], error]

    settings: dict[str, Any] = {"user": address.user, "password": address.password}
    if address.user is not None and address.password is None:
        settings = {"token": address.user}
    if address.credentials is not None:
        settings["user_credentials"] = str(address.credentials)
    try:
        with anyio.fail_after(CONNECT):
            await client.connect(
                list(address.servers),
                name="hermes",
                error_cb=failed,
                reconnected_cb=reconnected,
                connect_timeout=2,
                dont_randomize=True,  # the URL's order: the nearest first, and the next one next
                ping_interval=1,  # a server that was stopped closes no connection
                max_outstanding_pings=3,
                reconnect_time_wait=0.25,
                max_reconnect_attempts=2,
                **settings,
            )
    except (NatsError, OSError, TimeoutError, ValueError) as error:
        with anyio.CancelScope(shield=True):
            await client.close()
        told = [one for one in (error, *reversed(failures)) if str(one)]
        why = next((one for one in told if _is_about_who(one)), (told or [error])[-1])
        raise LogUnavailable(str(address), _meaning(why)) from error
    client.options["max_reconnect_attempts"] = -1


def _meaning(error: Exception) -> str:
    text = str(error)
    if _is_about_who(error):
        return (
            "the servers do not accept this user; put the right one into the URL"
            " (nats://user:password@…, or ?creds=FILE)"
        )
    return f"no server can be reached ({text or 'none answers'}); start one, or correct the URL"


def _is_about_who(error: Exception) -> bool:
    """Whether a server does not know who this is."""
    text = str(error).lower()
    return "authorization" in text or "authentication" in text
