"""A log that cannot be written stops nobody's work, and says afterwards what it lacks (S-9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from eventlog import (
    GATEWAY,
    AcpRecorder,
    Envelope,
    Event,
    LogUnavailable,
    MemoryStore,
    SessionId,
    Span,
)
from gateway.wrap.ledger import Ledger

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
OPEN = [
    ("in", b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}'),
    ("out", b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"agent-1"}}'),
]
SAYS = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"agent-1",'
    b'"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}}}'
)


class FullStore(MemoryStore):
    """A log on a disk that is full for as long as *full* is set."""

    full = False

    async def append(self, session_id: SessionId, events: Sequence[Event], **further: Any) -> Span:
        if self.full:
            raise LogUnavailable("the log", "the disk is full")
        return await super().append(session_id, events, **further)


@asynccontextmanager
async def writing(*, retry: float = 0) -> AsyncGenerator[tuple[Ledger, FullStore, list[str]], None]:
    store, told = FullStore(), list[str]()
    recorder = AcpRecorder(lambda _f, _c: SESSION, lambda: "srq-0", {"kind": "wrapped"})
    ledger = Ledger(store, recorder, GATEWAY, told.append, retry=retry)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ledger.run)
        yield ledger, store, told
        tasks.cancel_scope.cancel()


async def saw(ledger: Ledger, *frames: bytes) -> None:
    for frame in frames:
        ledger.see("out", frame)
        await ledger.flush()


async def opened(ledger: Ledger) -> None:
    for direction, frame in OPEN:
        ledger.see("in" if direction == "in" else "out", frame)
    await ledger.flush()


async def events(store: MemoryStore) -> list[Envelope]:
    return (await store.read(SESSION)).envelopes()


async def test_what_was_lost_is_told_where_it_is_missing() -> None:
    """While the log takes nothing, frames are counted; the first event it takes again stands
    behind a `log.gap` with their number; both changes are told once (S-9)."""
    async with writing() as (ledger, store, told):
        await opened(ledger)
        store.full = True
        await saw(ledger, *(SAYS % number for number in range(3)))
        assert ledger.lost == 3
        store.full = False
        await saw(ledger, SAYS % 3)

        after = (await events(store))[2:]
        assert [event["type"] for event in after] == ["log.gap", "acp.session_update"]
        assert after[0]["payload"]["lost"] == 3
        assert "disk is full" in after[0]["payload"]["reason"]
        assert ledger.lost == 0
        assert [text.partition(":")[0] for text in told] == [
            "not recorded for now",
            "recording goes on",
        ]


async def test_a_session_that_began_meanwhile_still_has_a_beginning() -> None:
    """What names a session is written when it can be, in front of the gap."""
    async with writing() as (ledger, store, _):
        store.full = True
        await opened(ledger)
        await saw(ledger, SAYS % 0)
        store.full = False
        await ledger.settle()

        assert [event["type"] for event in await events(store)] == [
            "session.opened",
            "session.alias",
            "log.gap",
        ]


async def test_a_log_that_fails_is_not_asked_at_every_frame() -> None:
    """Between two attempts frames are counted without delay; at the end there is one more."""
    async with writing(retry=3600) as (ledger, store, _):
        await opened(ledger)
        store.full = True
        await saw(ledger, SAYS % 0)
        store.full = False
        await saw(ledger, SAYS % 1)
        assert ledger.lost == 2
        await ledger.settle()

        assert [event["type"] for event in (await events(store))[2:]] == ["log.gap"]
