"""Find out when a log that could not record can again, if nobody else does (S-9).

Above this module: `serve`, `wrap`. Below it: the log's condition, of which clients hear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from eventlog import Condition

EVERY: Final = 1.0
"""Seconds between two attempts."""


async def try_to_recover(
    log: Condition, *, waiting: Callable[[], bool], every: float = EVERY
) -> None:
    """Try now and then while nothing can be recorded, until cancelled.

    While something is *waiting* to be recorded, trying that is the better way to find out: what is
    tried here is small.
    """
    while True:
        await log.turned(None)
        while log.degraded is not None:
            await anyio.sleep(every)
            if not waiting():
                await log.probe()
