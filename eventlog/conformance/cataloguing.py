"""What every log promises about its list of sessions."""

from __future__ import annotations

from eventlog.conformance.opening import OTHER, SESSION, Open, Promise, counted, said
from eventlog.event import GATEWAY, Event, SessionId


async def the_newest_session_comes_first(open_log: Open) -> None:
    """Sessions are listed by their newest batch, without the gateway's own events."""
    async with open_log() as log:
        for key in (SESSION, OTHER, GATEWAY, SESSION):
            await log.append(key, counted(2))
    async with open_log() as log:
        rows = await log.sessions()

        assert [(row.id, row.head) for row in rows] == [(SESSION, 4), (OTHER, 2)]
        assert await log.sessions(limit=1) == rows[:1]
        assert await log.session(OTHER) == rows[1]


async def what_is_no_session_is_not_listed(open_log: Open) -> None:
    """`latest` is never `@gateway`, nor an import's stand-in for it; both are found by name."""
    stand_in = SessionId("imp-0123456789ab-0")
    async with open_log() as log:
        for key in (SESSION, SessionId("imp-0123456789ab-1"), GATEWAY, stand_in):
            await log.append(key, counted(1))
    async with open_log() as log:
        assert [row.id for row in await log.sessions()] == ["imp-0123456789ab-1", SESSION]
        assert [row.id for row in await log.sessions(limit=1)] == ["imp-0123456789ab-1"]
        assert await log.resolve(stand_in) == [stand_in]
        assert await log.session(stand_in) is not None


async def the_list_shows_the_latest_title(open_log: Open) -> None:
    """A row has the last title and the first `session.opened`; a title can be taken away."""
    opened = {"source": {"kind": "hosted", "name": "a"}, "cwd": "/é"}
    rename = {"update": {"sessionUpdate": "session_info_update", "title": "third"}}
    steps: list[tuple[Event, str | None]] = [
        (Event.of("session.opened", opened), None),
        (Event.of("session.title", {"title": " first "}), "first"),
        (Event.of("session.opened", {"title": "second"}), "second"),
        (Event.of("acp.session_update", rename), "third"),
        (Event.of("session.info", {"title": "lone \ud83d"}), "lone \ufffd"),
        (Event.of("session.title", {"title": None}), None),
    ]
    async with open_log() as log:
        for event, title in steps:
            await log.append(SESSION, [event])
            row = await log.session(SESSION)
            assert row is not None
            assert (row.title, row.opened) == (title, opened)
    async with open_log() as log:
        assert await log.sessions() == [row]


async def other_names_lead_to_a_session(open_log: Open) -> None:
    """A name leads to the session whose id it is, then to those it is an alias of."""

    def alias(scope: str, name: str) -> Event:
        return Event.of("session.alias", {"scope": scope, "id": name})

    third = SessionId("third")
    async with open_log() as log:
        await log.append(SESSION, [alias("acp:a", "theirs"), alias("acp:a", "theirs")])
        await log.append(OTHER, [alias("acp:b", "theirs"), alias("hermes", SESSION)])
        await log.append(OTHER, [alias("hermes", OTHER)])
    async with open_log() as log:
        await log.append(third, [alias("hermes", "only"), alias("x", "lone \ud83d")])

        assert sorted(await log.resolve("theirs")) == [SESSION, OTHER]
        assert await log.resolve(SESSION) == [SESSION, OTHER]
        assert await log.resolve(OTHER) == [OTHER]
        assert await log.resolve("only") == [third]
        for unknown in ("thei", "", "a\0", "lone \udfff", "../x"):
            assert await log.resolve(unknown) == []


async def what_may_still_be_open_is_known(open_log: Open) -> None:
    """Sessions that grew since the log was settled are named, over any restart."""
    async with open_log() as log:
        assert await log.unsettled() == []
        await log.append(SESSION, counted(1))
        await log.settle()
        await log.append(OTHER, counted(1))
        await log.append(GATEWAY, counted(1))
    async with open_log() as log:
        assert await log.unsettled() == [OTHER]
        await log.append(SESSION, said("again"))
        assert await log.unsettled() == [SESSION, OTHER]
        await log.settle()
    async with open_log() as log:
        assert await log.unsettled() == []


PROMISES: tuple[Promise, ...] = (
    the_newest_session_comes_first,
    what_is_no_session_is_not_listed,
    the_list_shows_the_latest_title,
    other_names_lead_to_a_session,
    what_may_still_be_open_is_known,
)
