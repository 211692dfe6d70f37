"""Fixtures for conversations: one line of every kind, all under one name."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from gateway.transports import Transport, memory_pair

Open = Callable[[], AbstractAsyncContextManager[tuple[Transport, Transport]]]


@asynccontextmanager
async def memory_line() -> AsyncGenerator[tuple[Transport, Transport], None]:
    """Open a line inside this process."""
    left, right = memory_pair()
    async with left, right:
        yield left, right


LINES: dict[str, Open] = {"memory": memory_line}


@pytest.fixture(params=LINES)
def open_line(request: pytest.FixtureRequest) -> Open:
    """Open a line of some kind: both ends, closed on leaving."""
    return LINES[request.param]
