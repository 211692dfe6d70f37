"""The clients and the checker together: a log that works passes, one that forgets does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eventlog import Event, MemoryStore, Seq, SessionId, Span
from tests.nats.work import working

pytestmark = pytest.mark.anyio


class Forgetful(MemoryStore):
    """A log that acknowledges, once, what it does not keep."""

    kept = 0

    async def append(self, session_id: SessionId, events: Sequence[Event], **options: Any) -> Span:
        self.kept += 1
        if self.kept == 100:
            head = self._streams[session_id].head
            return Span(Seq(head + 1), Seq(head + len(events)))
        return await super().append(session_id, events, **options)


async def test_a_log_that_works_passes() -> None:
    """What the reference adapter answers to many clients at once is linearizable."""
    log = MemoryStore()
    async with working([log], deadline=10) as work:
        await work.more(300)
    await work.check(log)


async def test_a_log_that_forgets_is_found_out() -> None:
    """One acknowledged append that is not there is enough."""
    log = Forgetful()
    async with working([log], deadline=10) as work:
        await work.more(300)
    with pytest.raises(AssertionError):
        await work.check(log)
