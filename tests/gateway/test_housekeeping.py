"""A gateway looks after its log, and nobody who reads sees a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import GATEWAY, Event, SessionId, SqliteStore
from gateway.housekeeping import DAY, Housekeeping
from gateway.transcripts import Transcripts
from replay import digest
from tests.gateway.stage import bare

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
NOW = 1_000 * DAY


def notes(count: int) -> list[Event]:
    return [Event.of("agent.noise", {"text": f"line {n}"}) for n in range(count)]


async def test_what_belongs_to_no_session_is_pruned_by_age(tmp_path: Path) -> None:
    """P-12: while live; sessions are not touched, however old they are."""
    async with SqliteStore.open(tmp_path) as log:
        transcripts = Transcripts(log)
        for days in (40, 31, 29, 0):
            at = [NOW - days * DAY] * 5
            await log.append(GATEWAY, notes(5), at=at)
            await log.append(SESSION, notes(5), at=at)
        before = digest(await transcripts.at(GATEWAY))
        whole = await log.read(SESSION)

        await Housekeeping(log, transcripts, clock=lambda: NOW * 1_000).tidy()

        page = await log.read(GATEWAY, after=10)
        assert (page.floor, page.head, len(page.lines)) == (10, 20, 10)
        assert digest(await transcripts.at(GATEWAY)) == before
        assert await log.read(SESSION) == whole
        assert (await log.append(GATEWAY, notes(1))).first == 21


async def test_idle_sessions_are_stored_smaller(tmp_path: Path) -> None:
    """S-11: after a day; again, and nothing is left to do."""
    async with SqliteStore.open(tmp_path) as log:
        for key, day in ((SESSION, 2), (SessionId("s-2"), 0)):
            for _ in range(20):
                await log.append(key, notes(5), at=[NOW - day * DAY] * 5)
        body = (await log.read(SESSION)).body
        keeping = Housekeeping(log, Transcripts(log), clock=lambda: NOW * 1_000)
        for _ in range(2):
            await keeping.tidy()
            figures = await log.figures()
            assert (figures["batches"], figures["compressed_batches"]) == (21, 1)
        assert (await log.read(SESSION)).body == body


async def test_a_log_of_any_kind_is_looked_after() -> None:
    """Also one in memory, which has nothing to make smaller."""
    async with bare(*notes(3)) as stage:
        gateway = stage.gateway
        await Housekeeping(gateway.log, gateway.transcripts).tidy()
        assert len(await stage.lines("s-1")) == 3
