"""Where the log is, and which session is meant: the same for every program."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import (
    GATEWAY,
    Event,
    InvalidSessionId,
    LogAddress,
    MemoryStore,
    SessionId,
    log_location,
    open_log,
    open_reader,
    sessions_named,
)

pytestmark = pytest.mark.anyio


def test_an_option_is_stronger_than_the_environment() -> None:
    """`--log`, else `HERMES_LOG`, else the user's data folder."""
    environ = {"HERMES_LOG": "/from/environment"}

    assert log_location("/from/option", environ=environ) == Path("/from/option")
    assert log_location(None, environ=environ) == Path("/from/environment")
    assert log_location("", environ=environ) == Path("/from/environment")
    assert log_location(None, environ={}).name == "hermes-replay"
    assert log_location(None, environ={"HERMES_LOG": ""}) == log_location(None, environ={})


def test_an_address_is_a_log_on_servers() -> None:
    """A URL is not taken for a folder, nor shown with what is secret in it."""
    found = log_location("nats://me:hush@a:1,b/name?replicas=1")

    assert isinstance(found, LogAddress)
    assert found.servers == ("nats://a:1", "nats://b:4222")
    assert (found.name, found.user, found.password, found.replicas) == ("name", "me", "hush", 1)
    assert str(found) == "nats://a:1,b:4222/name"
    assert "hush" not in repr(found)


async def test_the_log_is_opened_where_it_is(tmp_path: Path) -> None:
    """Both ways to open it lead to the same log, one of them to write."""
    async with open_log(tmp_path) as log:
        await log.append(SessionId("s"), [Event.of("x")])
        async with open_reader(tmp_path) as reader:
            assert reader.epoch == log.epoch
            assert [row.id for row in await reader.sessions()] == ["s"]


async def test_a_name_means_the_closest_thing() -> None:
    """An id before an alias, an alias before `latest`, `latest` before a beginning."""
    log = MemoryStore()
    for key, alias in (("abc", "other"), ("abd", "abc"), ("latest-1", "shared"), ("x", "shared")):
        event = Event.of("session.alias", {"scope": "t", "id": alias})
        await log.append(SessionId(key), [event])

    assert await sessions_named(log, "abc") == ["abc"]
    assert await sessions_named(log, "other") == ["abc"]
    assert sorted(await sessions_named(log, "shared")) == ["latest-1", "x"]
    assert await sessions_named(log, "latest") == ["x"]
    assert sorted(await sessions_named(log, "ab")) == ["abc", "abd"]
    assert await sessions_named(log, "latest-") == ["latest-1"]
    assert await sessions_named(log, "nothing") == []
    assert await sessions_named(log, "@gateway") == [GATEWAY]
    with pytest.raises(InvalidSessionId):
        await sessions_named(log, "a/b")
