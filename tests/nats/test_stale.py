"""A leader whom the others have replaced, and who does not know yet, is never believed.

It is cut off while answers of the others are on their way to it, and these are let through when
the others have long gone on without it: for an instant, which a test can make as long as it
likes, it leads and hears a majority, as far as it can see. A leader that was stopped and wakes up
comes to that instant by itself: what it reads first is what had come before it was stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from eventlog import Event, EventLogError, LogUnavailable, SessionId
from eventlog.jetstream import JetStreamStore
from eventlog.jetstream.barrier import leads
from eventlog.jetstream.link import Refused, Silent
from tests.nats.cluster import Node, prepared

pytestmark = [pytest.mark.anyio, pytest.mark.cluster, pytest.mark.timeout(150)]

SESSION = SessionId("s")
OTHER = SessionId("other")
LOG = "hermes"
BUCKET = f"KV_{LOG}"
LEASE = 2
ATTEMPTS = 4
"""How often it is tried: others may take so long to elect one that it has given up before."""

IN_TIME = 2.5
"""Seconds within which a call of a process has to end that knows no other server: 2, and a bit."""


class Replaced(NamedTuple):
    """A process that knows only a server that was replaced, and one that knows the others."""

    old: JetStreamStore
    new: JetStreamStore

    async def believes(self) -> bool:
        """Whether the server still says that it leads the log, and hears a majority."""
        return leads((await self.old.link.api(f"STREAM.INFO.{LOG}"))["cluster"])

    async def has_thrown_away(self, key: str) -> bool:
        """Whether it says, as who leads the bucket, that a lease has ended."""
        with suppress(Refused, Silent):  # by itself it gives up ten seconds after it was cut off
            while await self._has(key):  # noqa: ASYNC110 - an entry ends in silence
                await anyio.sleep(0.02)
            return True
        return False

    async def _has(self, key: str) -> bool:
        return (await self.old.leases._lives._entry(key)).at > 0


def said(text: str) -> list[Event]:
    return [Event.of("notice", {"message": text})]


@asynccontextmanager
async def replaced(folder: Path, stream: str) -> AsyncGenerator[Replaced, None]:
    """Let the leader of a stream be replaced that does not know it yet, and seems to be heard."""
    async with prepared(folder, nodes=3) as cluster, AsyncExitStack() as opened:
        await cluster.start()

        async def log(*nodes: Node, deadline: int) -> JetStreamStore:
            hosts = ",".join(node.server for node in nodes)
            url = f"nats://{hosts}/{LOG}?deadline={deadline}&lease={LEASE}"
            return await opened.enter_async_context(JetStreamStore.open(url))

        async with JetStreamStore.open(f"{cluster.url}/{LOG}?lease={LEASE}") as first:
            await first.append(SESSION, said("first"))
            await first.leases.acquire(OTHER)  # which makes the bucket
        leader = await cluster.leader(stream)
        others = [node for node in cluster.nodes if node is not leader]
        old, new = await log(leader, deadline=2), await log(*others, deadline=30)
        await old.leases.acquire(OTHER)
        await new.leases.acquire(SESSION)
        assert (await old.read(SESSION)).head == 1

        cluster.deafen(leader)  # the others hear what it says now, and what they answer waits
        with anyio.move_on_after(0.75):  # in which it says that *old* lives, too
            await old.append(OTHER, said("into the void"))
        cluster.cut(leader)
        await _passed(new)
        await new.leases.acquire(SESSION)  # what no other server heard renewed has ended
        await new.append(SESSION, said("later"))
        cluster.whisper(leader)
        yield Replaced(old, new)
        cluster.heal(leader)


async def _passed(log: JetStreamStore) -> None:
    """Return when a lease would have ended, if nobody has heard it renewed."""
    with anyio.move_on_after(1.5 * LEASE):
        await log.leases.lost(SESSION)


async def told(call: Awaitable[object]) -> object:
    """Return what a call returns or raises, in time."""
    with anyio.fail_after(IN_TIME):
        try:
            return await call
        except EventLogError as error:
            return error


async def test_a_leader_that_was_replaced_is_not_believed(tmp_path: Path) -> None:
    """Reads, heads, refusals, rows and names come from a majority, or there is an error in time."""
    for attempt in map(str, range(ATTEMPTS)):
        async with replaced(tmp_path / attempt, LOG) as it:
            if await it.believes():
                await _asked(it.old)
                return
    pytest.fail("it knew too soon")


async def _asked(old: JetStreamStore) -> None:
    calls: list[Awaitable[object]] = [
        old.read(SESSION),
        old.append(SESSION, said("late"), expected=1),
        old.append(SESSION, said("late"), expected=7),
        old.session(SESSION),
        old.resolve(SESSION),
        old.leases.find(SESSION),
        old.leases.acquire(SESSION),
    ]
    found: list[object] = []

    async def note(call: Awaitable[object]) -> None:
        found.append(await told(call))

    async with anyio.create_task_group() as tasks:
        for call in calls:
            tasks.start_soon(note, call)
    assert [type(one) for one in found] == [LogUnavailable] * len(calls), found
    assert old.degraded


async def test_who_lives_is_not_taken_for_dead(tmp_path: Path) -> None:
    """P-40: a server that did not hear a lease renewed, and leads no more, gives it to nobody."""
    for attempt in map(str, range(ATTEMPTS)):
        async with replaced(tmp_path / attempt, BUCKET) as it:
            if await it.has_thrown_away(f"$KV.{LOG}.{it.new._process}"):
                found = await told(it.old.leases._lives.others(it.new._process))
                assert found is True or isinstance(found, LogUnavailable), found
                assert it.new.leases.holds(SESSION)
                return
    pytest.fail("it knew too soon")
