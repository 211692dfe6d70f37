"""The library `eventsourcing`, its SQLite recorder, called from threads: it is not async.

Above this module: `bench.peers`. Below it: the library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import anyio

from bench.peers.server import PAYLOAD, Absent, Peer, text

PAGE = 512


class _Recorder:
    def __init__(self, recorder: Any, event: Any) -> None:
        self._recorder = recorder
        self._event = event
        self._heads: Counter[str] = Counter()
        self._turn = Lock()  # it allows one writer, and versions have to be in order
        self._threads = anyio.CapacityLimiter(64)

    async def append(self, session: str) -> None:
        await self.append_many(session, 1)

    async def append_many(self, session: str, count: int) -> None:
        await anyio.to_thread.run_sync(self._append, session, count, limiter=self._threads)

    def _append(self, session: str, count: int) -> None:
        with self._turn:
            head = self._heads[session]
            self._heads[session] += count
            id_ = uuid5(NAMESPACE_OID, session)
            self._recorder.insert_events(
                [self._event(id_, head + at + 1, "message.delta", PAYLOAD) for at in range(count)]
            )

    async def read(self, session: str) -> int:
        return await anyio.to_thread.run_sync(self._read, session)

    def _read(self, session: str) -> int:
        found, id_ = 0, uuid5(NAMESPACE_OID, session)
        while page := self._recorder.select_events(id_, gt=found, limit=PAGE):
            assert text(session, ((item.originator_version, item.state) for item in page))
            found = page[-1].originator_version
        return found


@asynccontextmanager
async def eventsourcing(folder: Path) -> AsyncGenerator[Peer, None]:
    """Make a recorder with a database in *folder*."""
    try:
        from eventsourcing.persistence import StoredEvent  # noqa: PLC0415 - an optional peer
        from eventsourcing.sqlite import (  # noqa: PLC0415
            SQLiteApplicationRecorder,
            SQLiteDatastore,
        )
    except ImportError:
        raise Absent("eventsourcing is not installed") from None
    store = SQLiteDatastore(str(folder / "events.db"))
    recorder = SQLiteApplicationRecorder(store)
    recorder.create_table()
    yield _Recorder(recorder, StoredEvent)
    store.close()
