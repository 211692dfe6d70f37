"""The log alone tells where to ask an upstream gateway on."""

from __future__ import annotations

import pytest

from eventlog import Event, MemoryStore, SessionId
from gateway.wrap.standing import Standing, source_of, standings

pytestmark = pytest.mark.anyio

SCOPE = "hermes:test"
OPENED = Event.of("session.opened", {"source": source_of(SCOPE), "protocol": "hermes"})


def alias(scope: str, id_: str) -> Event:
    return Event.of("session.alias", {"scope": scope, "id": id_})


def said(origin: str) -> Event:
    return Event.of("message.delta", {}, origin=origin)


async def standing_of(*events: Event) -> Standing:
    log = MemoryStore()
    await log.append(SessionId("s"), [OPENED, *events])
    (found,) = await standings(log, SCOPE)
    return found


async def test_the_highest_number_of_the_last_process_counts() -> None:
    """Numbers of an earlier process, or runtime id, are another sequence (P-39)."""
    found = await standing_of(
        alias(f"{SCOPE}/aaaaaaaa", "r1"),
        alias(SCOPE, "stored-1"),
        said("aaaaaaaa.r1:1"),
        said("aaaaaaaa.r1:9"),
        alias(f"{SCOPE}/bbbbbbbb", "r2"),
        said("bbbbbbbb.r2:2"),
        Event.of("request.answered", {}),
    )

    assert found == Standing(SessionId("s"), "bbbbbbbb", "r2", 2, attached=True, stored="stored-1")


async def test_what_has_ended_is_attached_no_more() -> None:
    """A closed session, or one whose process is gone, is not asked about."""
    for end in ("agent.exited", "session.closed"):
        found = await standing_of(alias(f"{SCOPE}/aaaaaaaa", "r1"), Event.of(end, {}))
        assert not found.attached


async def test_a_long_session_is_read_from_its_end_and_knows_its_names() -> None:
    """Of many thousand events only the last are looked at."""
    many = [said(f"aaaaaaaa.r1:{seq}") for seq in range(1, 10_001)]
    found = await standing_of(alias(SCOPE, "stored-1"), *many)

    assert (found.highest, found.stored) == (10_000, "stored-1")


async def test_what_is_ours_at_the_end_does_not_hide_where_the_gateway_stands() -> None:
    """Hundreds of events that came from no gateway may stand behind the last that did."""
    ours = [Event.of("request.late", {}) for _ in range(300)]
    found = await standing_of(alias(SCOPE, "stored-1"), said("aaaaaaaa.r1:7"), *ours)

    assert (found.runtime, found.highest, found.attached) == ("r1", 7, True)


async def test_other_sessions_are_left_alone() -> None:
    """Those of another gateway, or of an agent, are not this one's."""
    log = MemoryStore()
    other = Event.of("session.opened", {"source": source_of("hermes:b"), "protocol": "hermes"})
    await log.append(SessionId("b"), [other])
    await log.append(SessionId("c"), [Event.of("session.opened", {"source": {"kind": "hosted"}})])

    assert await standings(log, SCOPE) == []
