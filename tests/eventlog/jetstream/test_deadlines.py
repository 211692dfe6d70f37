"""A call ends within the deadline of the URL, whatever it has to ask, and says why."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path

import anyio
import pytest

from eventlog import Checkpoint, Event, EventLogError, LogUnavailable, Seq, SessionId
from eventlog.jetstream import JetStreamStore
from eventlog.jetstream.timing import InTime, until
from tests.nats.cluster import servers

pytestmark = pytest.mark.anyio

SESSION, HELD = SessionId("s"), SessionId("held")
DEADLINE = 2
A_BIT = 0.5


def unavailable(reason: str) -> LogUnavailable:
    return LogUnavailable("log", reason)


async def test_what_takes_too_long_is_cut() -> None:
    """A block ends with an error that says how long it was given; one that is quick, well."""
    late = pytest.raises(LogUnavailable, match=r"nobody came in 0\.05 seconds")
    with late, InTime(0.05, unavailable, "nobody came"):
        await anyio.sleep_forever()
    with InTime(5, unavailable, "nobody came"):
        await anyio.lowlevel.checkpoint()


async def test_a_part_gives_up_before_its_call() -> None:
    """A part is given no more than its call has left, and time to say why it failed."""
    now = anyio.current_time()
    assert until(3) == pytest.approx(now + 3, abs=0.1)
    with InTime(1, unavailable, "late"):
        assert until(3) == pytest.approx(now + 0.9, abs=0.1)
        assert until(0.2) == pytest.approx(now + 0.2, abs=0.1)


async def test_who_is_cancelled_is_not_out_of_time() -> None:
    """A part of a call that is cancelled ends as cancelled: it says nothing of the servers."""
    with anyio.CancelScope() as scope:
        scope.cancel()
        assert until(3) == pytest.approx(anyio.current_time() + 3, abs=0.1)
        while anyio.current_time() < until(3):
            await anyio.lowlevel.checkpoint()
        raise unavailable("a server that answers has lost what it had")
    assert scope.cancelled_caught


async def test_every_call_about_a_session_ends_in_time(tmp_path: Path) -> None:
    """S-9: a server that stopped with its connections open is an error within the deadline."""
    async with servers(tmp_path) as cluster:
        url = f"{cluster.url}/log?replicas=1&deadline={DEADLINE}"
        async with JetStreamStore.open(url) as log:
            await log.leases.acquire(HELD)
            for key in (HELD, SESSION):
                await log.append(key, [Event.of("x")])
            cluster.nodes[0].pause()
            calls: list[Awaitable[object]] = [
                log.append(SESSION, [Event.of("x")]),
                log.append(SESSION, [Event.of("x")], expected=7),
                log.append(HELD, [Event.of("x")]),
                log.read(SESSION),
                log.wait(SESSION, after=1),
                log.session(SESSION),
                log.resolve(SESSION),
                log.base(SESSION),
                log.checkpoint(SESSION, "kind", 1),
                log.keep(SESSION, "kind", Checkpoint(Seq(1), 1, b"{}")),
                log.read_blob(SESSION, "sha256-0"),
                log.leases.acquire(SESSION),
                log.leases.find(SESSION),
                log.size(),
            ]
            found: list[tuple[str, float]] = []

            async def note(call: Awaitable[object]) -> None:
                begun = anyio.current_time()
                try:
                    end = str(await call)
                except EventLogError as error:
                    end = type(error).__name__
                found.append((end, anyio.current_time() - begun))

            try:
                async with anyio.create_task_group() as tasks:
                    for call in calls:
                        tasks.start_soon(note, call)
            finally:
                cluster.nodes[0].resume()

    assert len(found) == len(calls)
    assert max(taken for _, taken in found) < DEADLINE + A_BIT, found
    assert {end for end, _ in found} <= {"LogUnavailable", "None"}, found
