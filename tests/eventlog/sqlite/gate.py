"""A gate before the writing connection: it notes the calls, and holds or breaks them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from eventlog import Event, SessionId, SqliteStore

A, B, C = map(SessionId, "abc")


class Gate:
    """Stands before the writing connection: notes what it does, and holds or breaks it.

    What is one piece for the connection's thread is one item of *pieces*.
    """

    def __init__(self, store: SqliteStore) -> None:
        self._inner = store._writer._database
        store._writer._database = self  # type: ignore[assignment]
        self.pieces: list[list[str]] = []
        self.begun = 0
        self.open = anyio.Event()
        self.reached = anyio.Event()
        self.error: sqlite3.Error | None = None
        self.failing: int | None = None
        """The piece that fails with *error*; None if all do."""

    @property
    def _conn(self) -> _Noting:
        return _Noting(self._inner._conn, self)

    async def _execute(self, do: Callable[[], Any]) -> Any:
        self.begun += 1
        self.reached.set()
        await self.open.wait()
        return await self._inner._execute(lambda: self._piece(do))  # type: ignore[no-untyped-call]

    def _piece(self, do: Callable[[], Any]) -> Any:
        self.pieces.append([])
        return do()


class _Noting:
    """A connection that notes what it executes, or fails instead."""

    def __init__(self, inner: sqlite3.Connection, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        self._note(sql)
        return self._inner.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        self._note(sql)
        return self._inner.executemany(sql, parameters)

    def _note(self, sql: str) -> None:
        self._gate.pieces[-1].append(sql.split(maxsplit=1)[0])
        if self._gate.error is not None and self._gate.failing in {None, len(self._gate.pieces)}:
            raise self._gate.error


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
        try:
            yield gate
            await anyio.wait_all_tasks_blocked()
        finally:
            gate.open.set()
