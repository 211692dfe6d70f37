"""A log that was not closed in order is settled before anybody is served from it (P-40)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from eventlog import Event, MemoryStore, SessionId
from gateway.closing import recover

pytestmark = pytest.mark.anyio


class Unclosed(MemoryStore):
    """A log in memory on which everything has been written since it was last settled."""

    settled = False

    async def unsettled(self) -> Sequence[SessionId]:
        return [] if self.settled else [row.id for row in await self.sessions()]

    async def settle(self) -> None:
        self.settled = True


async def session(log: MemoryStore, name: str, kind: str, *events: Event) -> SessionId:
    opened = Event.of("session.opened", {"source": {"kind": kind}})
    await log.append(SessionId(name), [opened, *events])
    return SessionId(name)


def prompt(**members: object) -> Event:
    return Event.of("prompt.submitted", {"content": [], **members})


QUESTION = Event.of("request.opened", {"id": "srq-1", "method": "session/request_permission"})


async def told(log: MemoryStore, session_id: SessionId) -> list[tuple[str, object]]:
    events = (await log.read(session_id)).envelopes()[1:]
    keys = ("prompt", "id", "reason")
    return [
        (e["type"], next((e["payload"][k] for k in keys if k in e["payload"]), None))
        for e in events
    ]


async def test_open_work_of_a_hosted_session_is_ended() -> None:
    """P-40: the agent is gone, its question withdrawn, and every prompt, queued or not, ended."""
    log = Unclosed()
    cut = await session(log, "s-cut", "hosted", prompt(), QUESTION, prompt(queued=True))

    assert await recover(log) == [cut]
    assert (await told(log, cut))[3:] == [
        ("agent.exited", "gateway_restarted"),
        ("request.cancel", "srq-1"),
        ("prompt.finished", 2),
        ("prompt.finished", 4),
    ]


async def test_what_is_over_is_left_alone() -> None:
    """P-40: a session in which nothing is open gets no event, and nothing is done twice."""
    log = Unclosed()
    finished = Event.of("prompt.finished", {"prompt": 2, "result": {}})
    over = await session(log, "s-over", "hosted", prompt(), finished)
    cut = await session(log, "s-cut", "hosted", prompt())

    assert await recover(log) == [cut]
    assert await recover(log) == []
    assert len(await told(log, over)) == 2


@pytest.mark.parametrize(("name", "kind"), [("s-1", "imported"), ("imp-0123456789ab-1", "hosted")])
async def test_imported_session_is_never_touched(name: str, kind: str) -> None:
    """P-40: nobody ever worked on it here, whatever its `session.opened` says of another place."""
    log = Unclosed()
    imported = await session(log, name, kind, prompt(), QUESTION)

    assert await recover(log) == []
    assert len(await told(log, imported)) == 2
