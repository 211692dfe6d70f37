"""One process writes a session at a time; who comes later keeps out who was there before."""

from __future__ import annotations

from math import inf

import anyio
import pytest

from eventlog import Event, Fenced, MemoryStore, SessionId
from eventlog.jetstream import JetStreamStore

pytestmark = pytest.mark.anyio

SESSION = SessionId("a.session:with-dots")
PATIENCE = 15


def said(text: str) -> list[Event]:
    return [Event.of("message.delta", {"text": text})]


async def test_who_hosts_alone_holds_all() -> None:
    """Where one process writes the log, it holds every session, for ever."""
    leases = MemoryStore().leases
    lease = await leases.acquire(SESSION)

    assert (leases.holds(SESSION), leases.duration) == (True, inf)
    assert await leases.find(SESSION) == lease
    assert await leases.orphans() == []


async def test_a_session_has_one_owner(url: str) -> None:
    """A second process is told who holds it; when it is given back, it can have it at once."""
    async with JetStreamStore.open(url, owner="a") as a, JetStreamStore.open(url, owner="b") as b:
        lease = await a.leases.acquire(SESSION)
        assert await a.leases.acquire(SESSION) == lease
        assert await b.leases.find(SESSION) == lease
        with pytest.raises(Fenced, match="by a"):
            await b.leases.acquire(SESSION)
        assert (a.leases.holds(SESSION), b.leases.holds(SESSION)) == (True, False)

        await a.append(SESSION, said("one"))
        await a.leases.release(SESSION)
        assert not a.leases.holds(SESSION)
        assert await b.leases.find(SESSION) is None
        later = await b.leases.acquire(SESSION)
        assert later.revision > lease.revision
        assert (await b.read(SESSION)).head == 1


async def test_an_owner_that_is_gone_is_followed(url: str) -> None:
    """Its sessions are orphans when its lease has ended, and can be taken over; not before."""
    where = f"{url}&lease=2"
    async with JetStreamStore.open(where, owner="b") as b:
        async with JetStreamStore.open(where, owner="a") as a:
            await a.leases.acquire(SESSION)
            await a.append(SESSION, said("one"))
            assert await b.leases.orphans() == []
            await a._link._client.close()  # as if its cable were cut
            with anyio.fail_after(PATIENCE):
                await a.leases.lost(SESSION)
                while not (left := await b.leases.orphans()):  # noqa: ASYNC110 - a lease ends in silence
                    await anyio.sleep(0.1)
            assert left == [SESSION]
            await b.leases.acquire(SESSION)
            assert await b.append(SESSION, said("two")) == (2, 2)
            with pytest.raises(Fenced):
                await a.append(SESSION, said("late"))
        assert [one["payload"]["text"] for one in (await b.read(SESSION)).envelopes()] == [
            "one",
            "two",
        ]


@pytest.mark.parametrize("written", [False, True], ids=["nothing yet", "something"])
async def test_an_owner_that_was_paused_writes_nothing(url: str, *, written: bool) -> None:
    """The servers refuse it, whatever it believes, also if its follower has written nothing yet."""
    where = f"{url}&lease=2"
    async with JetStreamStore.open(where) as a, JetStreamStore.open(where) as b:
        await a.leases.acquire(SESSION)
        await a.append(SESSION, said("one"))
        await a.leases._lives.renewed.acquire()  # it is paused: nothing is renewed …
        a.leases._lives.until = inf  # … and its clock stands still
        with anyio.fail_after(PATIENCE):
            while await b.leases.find(SESSION):  # noqa: ASYNC110 - a lease ends in silence
                await anyio.sleep(0.1)
        await b.leases.acquire(SESSION)
        if written:
            await b.append(SESSION, said("two"))
        with pytest.raises(Fenced):
            await a.append(SESSION, said("late"))
        assert not a.leases.holds(SESSION)
        assert (await b.read(SESSION)).head == 1 + written


async def test_what_was_held_is_given_back_at_the_end(url: str) -> None:
    """A process that ends in order leaves no orphans and nobody waiting."""
    async with JetStreamStore.open(url) as b:
        async with JetStreamStore.open(url) as a:
            await a.leases.acquire(SESSION)
        assert await b.leases.find(SESSION) is None
        assert await b.leases.orphans() == []
        await b.leases.acquire(SESSION)


async def test_a_claim_is_no_session(url: str) -> None:
    """Who holds a session that has no events has made none."""
    async with JetStreamStore.open(url) as log:
        await log.leases.acquire(SESSION)
        assert await log.session(SESSION) is None
        assert await log.sessions() == []
        assert not await log.delete(SESSION)
        assert await log.append(SESSION, said("one"), expected=0) == (1, 1)
        assert [row.id for row in await log.sessions()] == [SESSION]
