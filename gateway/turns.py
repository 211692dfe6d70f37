"""Whose call runs when: how much one client may ask at a time (P-20).

Above this module: `server`. Below it: anyio.

Answers that may be large are made a few at a time, and each is said when the one before it has
left: a client on a slow line that asks for much at once gets it one after the other, and is not
taken for one that does not read. Small calls do not wait for large ones, and a sign of life waits
for nothing (P-5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import WeakValueDictionary

import anyio

from gateway.errors import Code, RpcError

AT_ONCE: Final = frozenset({"gateway.ping", "gateway.authenticate", "client.capabilities"})
"""Calls that wait for nothing."""

LARGE: Final = frozenset(
    {
        "session.activate",
        "session.branch",
        "session.events.since",
        "session.history",
        "session.list",
        "session.resume",
        "session.transcript",
    }
)
"""Calls whose answers may have any size."""

IN_ORDER: Final = frozenset(
    {"prompt.submit", "session.interrupt", "session.redirect", "session.steer"}
)
"""Calls of which each waits for the one before it in its session: what was said first is done first."""

LARGE_AT_A_TIME: Final = 4
SMALL_AT_A_TIME: Final = 64
MOST: Final = 1024
"""Calls of one client that may run or wait; any further one is refused (4090)."""


class Turns:
    """The turns of one client. *quiet* returns once no answer waits to leave."""

    def __init__(self, quiet: Callable[[], Awaitable[None]]) -> None:
        self._quiet = quiet
        self._large = anyio.CapacityLimiter(LARGE_AT_A_TIME)
        self._small = anyio.CapacityLimiter(SMALL_AT_A_TIME)
        self._speaking = anyio.Lock()
        self._orders: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._calls = 0

    async def take(
        self, method: str, work: Callable[[], Awaitable[Any]], *, session: str = ""
    ) -> Any:
        """Do *work* when it is its turn; return its result when it may be said, at once.

        *session* is what the call names, if it is one whose order counts.

        Raises:
            RpcError: 4090, too many calls wait already.

        """
        if method in AT_ONCE:
            return await work()
        if self._calls >= MOST:
            told = {"limit": MOST}
            raise RpcError(Code.LIMIT_REACHED, f"{MOST} calls are waiting already", told)
        self._calls += 1
        try:
            if method in IN_ORDER:
                async with self._orders.setdefault(session, anyio.Lock()), self._small:
                    return await work()
            if method not in LARGE:
                async with self._small:
                    return await work()
            async with self._large:
                result = await work()
                async with self._speaking:
                    await self._quiet()
                    return result
        finally:
            self._calls -= 1
