"""How far a log goes is said by a majority; in a full log, by a leader that hears one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eventlog import Event, LogUnavailable, SessionId, WrongExpectedVersion
from eventlog.jetstream import JetStreamReader, JetStreamStore
from eventlog.jetstream.barrier import HEARD, leads

SOON, LATE = 10_000_000, int((HEARD + 1) * 1e9)


def cluster(*active: int, leader: str = "n1") -> dict[str, Any]:
    replicas = [{"name": f"n{number}", "active": one} for number, one in enumerate(active, 2)]
    return {"leader": leader, "replicas": replicas}


@pytest.mark.parametrize(
    ("found", "believed"),
    [
        (cluster(), True),
        (cluster(SOON, SOON), True),
        (cluster(SOON, LATE), True),
        (cluster(LATE, LATE), False),
        (cluster(0, 0), False),
        (cluster(0, SOON), True),
        (cluster(SOON, SOON, leader=""), False),
        (cluster(SOON, SOON, LATE, LATE), True),
        (cluster(SOON, LATE, LATE, LATE), False),
        ({}, False),
    ],
)
def test_a_leader_hears_a_majority(found: dict[str, Any], *, believed: bool) -> None:
    """Who was paused or cut off hears nobody for a while; who only follows names no leader."""
    assert leads(found) is believed


SESSION = SessionId("s")


def said(text: str) -> list[Event]:
    return [Event.of("message.delta", {"text": text})]


@pytest.mark.cluster
@pytest.mark.anyio
async def test_what_nobody_has_changed_is_looked_at_once(
    fresh_on_three: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a reader's mark follows its last one, a session is as it was seen; else it is not."""
    where = fresh_on_three()
    async with JetStreamStore.open(where) as log, JetStreamReader.open(where) as reader:
        await log.append(SESSION, said("one"))
        assert (await reader.read(SESSION, limit=0)).head == 1
        collect, looks = reader.link.collect, list[Any]()

        async def counted(wanted: Any) -> Any:
            looks.append(wanted)
            return await collect(wanted)

        monkeypatch.setattr(reader.link, "collect", counted)
        for _ in range(5):
            assert (await reader.read(SESSION, limit=0)).head == 1
        assert looks == []
        await log.append(SESSION, said("two"))
        assert (await reader.read(SESSION, limit=0)).head == 2
        assert len(looks) == 1


@pytest.mark.cluster
@pytest.mark.anyio
async def test_a_full_log_is_read(fresh_on_three: Callable[[], str]) -> None:
    """S-9: what takes no event takes no mark either: reading goes on."""
    where = f"{fresh_on_three()}?deadline=5"
    async with JetStreamStore.open(where) as log, JetStreamReader.open(where) as reader:
        await log.append(SESSION, said("one"))
        api = f"STREAM.{{}}.{log.address.name}"
        found = await log.link.api(api.format("INFO"))
        full = {"max_bytes": int(found["state"]["bytes"]) + 1}
        await log.link.api(api.format("UPDATE"), {**found["config"], **full})
        with pytest.raises(LogUnavailable, match="maximum bytes"):
            await log.append(SESSION, said("two"))
        for one in (log, reader):
            assert (await one.read(SESSION)).head == 1
        with pytest.raises(WrongExpectedVersion) as refused:
            await log.append(SESSION, said("two"), expected=7)
        assert refused.value.actual == 1
