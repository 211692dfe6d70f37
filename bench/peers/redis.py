"""Redis streams, every write synced before its answer.

Above this module: `bench.peers`. Below it: redis-server, redis-py.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.peers.server import PAYLOAD, Absent, Peer, free_port, program, served, text

PAGE = 512


class _Redis:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def append(self, session: str) -> None:
        await self._client.xadd(session, {b"d": PAYLOAD})

    async def append_many(self, session: str, count: int) -> None:
        async with self._client.pipeline(transaction=True) as pipeline:
            for _ in range(count):
                pipeline.xadd(session, {b"d": PAYLOAD})
            await pipeline.execute()

    async def read(self, session: str) -> int:
        found, after = 0, b"-"
        while page := await self._client.xrange(session, after, b"+", PAGE):
            events = ((at, item[b"d"]) for at, (_, item) in enumerate(page, found + 1))
            assert text(session, events)
            found += len(page)
            after = b"(" + page[-1][0]
        return found


@asynccontextmanager
async def redis(folder: Path) -> AsyncGenerator[Peer, None]:
    """Start a Redis in *folder*."""
    try:
        from redis.asyncio import Redis  # noqa: PLC0415 - an optional peer
    except ImportError:
        raise Absent("redis is not installed") from None
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    command = [program("redis-server"), *options, "--appendonly", "yes", "--appendfsync", "always"]
    async with served(command, port), Redis(host="127.0.0.1", port=port) as client:
        yield _Redis(client)
