"""NATS JetStream, one replica, every message synced before its acknowledgement.

Above this module: `bench.peers`. Below it: nats-server, nats-py.
"""

from __future__ import annotations

import sysconfig
from asyncio import gather
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.peers.server import PAYLOAD, Absent, Peer, free_port, program, served, text


class _JetStream:
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._count: Counter[str] = Counter()

    async def append(self, session: str) -> None:
        await self._stream.publish(f"evt.{session}", PAYLOAD)
        self._count[session] += 1

    async def append_many(self, session: str, count: int) -> None:
        await gather(*(self.append(session) for _ in range(count)))

    async def read(self, session: str) -> int:
        puller = await self._stream.subscribe(f"evt.{session}", ordered_consumer=True)
        for seq in range(1, self._count[session] + 1):
            assert text(session, [(seq, (await puller.next_msg(timeout=10)).data)])
        await puller.unsubscribe()
        return self._count[session]


@asynccontextmanager
async def jetstream(folder: Path) -> AsyncGenerator[Peer, None]:
    """Start a server in *folder* with one stream."""
    try:
        import nats  # noqa: PLC0415 - an optional peer
    except ImportError:
        raise Absent("nats-py is not installed") from None
    port = free_port()
    settings = folder / "nats.conf"
    settings.write_text(
        f'listen: "127.0.0.1:{port}"\n'
        f'jetstream {{ store_dir: "{folder / "store"}", sync_interval: always }}\n'
    )
    server = program("nats-server", sysconfig.get_path("scripts"))
    async with served([server, "-c", settings], port):
        client = await nats.connect(f"nats://127.0.0.1:{port}")
        try:
            stream = client.jetstream(timeout=30)
            await stream.add_stream(name="evt", subjects=["evt.*"])
            yield _JetStream(stream)
        finally:
            await client.close()
