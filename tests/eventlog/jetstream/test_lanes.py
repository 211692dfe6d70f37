"""What writes a session's queue: one call at a time, and nothing stays behind in it."""

from __future__ import annotations

from asyncio import get_running_loop
from typing import Any, cast

import anyio
import pytest

from eventlog import SessionId
from eventlog.jetstream import lanes
from eventlog.jetstream.lanes import Lanes
from eventlog.jetstream.session import Session

pytestmark = pytest.mark.anyio


async def test_who_comes_as_an_idle_lane_ends_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane that has been sent home, and has not heard of it yet, looks at its queue once more."""
    monkeypatch.setattr(lanes, "_IDLE", 1)
    first, second = Session(SessionId("first")), Session(SessionId("second"))
    written: list[Any] = []

    def give(session: Session, what: str) -> None:
        session.queue.append(cast("Any", what))
        one.wake(session)

    async def write(session: Session) -> None:
        written.append(session.queue.popleft())
        if session is second:  # and then its lane is idle, too: one of them has to go
            get_running_loop().call_soon(give, first, "late")

    async with anyio.create_task_group() as tasks:
        one = Lanes(tasks, write)
        give(first, "early")
        await anyio.wait_all_tasks_blocked()
        give(second, "other")
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await one.close()
    assert written == ["early", "other", "late"]
    assert not first.busy
    assert not second.busy
