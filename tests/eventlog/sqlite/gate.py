"""A gate before the writing connection: it counts the calls, and holds or breaks them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from eventlog import Event, SessionId, SqliteStore

A, B, C = map(SessionId, "abc")


class Gate:
    """Stands before the writing connection: counts the calls, and holds or breaks them."""

    def __init__(self, store: SqliteStore) -> None:
        self._inner = store._writer._database
        store._writer._database = self  # type: ignore[assignment]
        self.statements: list[str] = []
        self.open = anyio.Event()
        self.reached = anyio.Event()
        self.error: sqlite3.Error | None = None

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    async def rollback(self) -> None:
        await self._inner.rollback()

    async def executemany(self, sql: str, parameters: Iterable[Any]) -> None:
        self.statements.append(sql.split(maxsplit=1)[0])
        await self._inner.executemany(sql, parameters)

    async def execute_fetchall(self, sql: str, parameters: Iterable[Any] = ()) -> Iterable[Any]:
        self.statements.append(sql.split(maxsplit=1)[0])
        self.reached.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return await self._inner.execute_fetchall(sql, parameters)


def event(text: str = "") -> Event:
    return Event.of("x", {"text": text})


async def known(store: SqliteStore, *sessions: SessionId) -> None:
    """Make sessions, so that appending to them changes nothing in their list."""
    for session in sessions:
        await store.append(session, [event("first")])


@asynccontextmanager
async def busy(store: SqliteStore) -> AsyncGenerator[Gate, None]:
    """Keep the disk busy with an append to C while the block queues what it likes."""
    gate = Gate(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.append, C, [event("in flight")])
        await gate.reached.wait()
        gate.reached = anyio.Event()
        yield gate
        await anyio.wait_all_tasks_blocked()
        gate.open.set()
