"""Tasks that run beside a block and end with it.

Above this module: whoever opens something that needs tasks of its own. Below it: anyio.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def background() -> AsyncGenerator[TaskGroup, None]:
    """Run tasks until the block is left.

    An error of the block comes out as it is, and not in a group with those of the tasks: whoever
    wrote the block knows nothing of them.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001 - raised below
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
