"""What is wrong with a server, a user or a stream is said, with what to change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import nats
import pytest

from eventlog import Event, ForeignDatabase, LogUnavailable, NewerSchema, SessionId, codec
from eventlog import open_log as open_anywhere
from eventlog.address import address
from eventlog.jetstream import JetStreamReader, JetStreamStore
from eventlog.jetstream.settings import configuration
from tests.nats.cluster import Cluster, servers
from tests.nats.links import free_port

pytestmark = pytest.mark.anyio

ACCOUNTS = """
accounts {
  WITH { jetstream: enabled, users: [{user: "with", password: "p w"}] }
  WITHOUT { users: [{user: "without", password: "p"}] }
}
"""


async def refused(url: str) -> str:
    with anyio.fail_after(20), pytest.raises(LogUnavailable) as problem:
        async with JetStreamStore.open(url):
            pass
    return str(problem.value)


async def made(url: str, **changes: Any) -> None:
    """Make the stream of a log, but for some settings."""
    where = address(url)
    client = await nats.connect(list(where.servers))
    try:
        config = {**configuration(where), **changes}
        subject = f"$JS.API.STREAM.CREATE.{where.name}"
        answer = await client.request(subject, codec.dumps(config), timeout=5)
        assert "error" not in codec.loads(answer.data), answer.data
    finally:
        await client.close()


async def test_no_server() -> None:
    """Nobody listens."""
    assert "no server can be reached" in await refused(f"nats://127.0.0.1:{free_port()}/log")


async def test_no_log(url: str) -> None:
    """Who only reads makes no log."""
    with pytest.raises(LogUnavailable, match="there is no such log"):
        async with JetStreamReader.open(url):
            pass


async def test_accounts(tmp_path: Path) -> None:
    """Who is not known, or may not use JetStream, is told so; what is secret is not shown."""
    async with servers(tmp_path, more=ACCOUNTS) as cluster:
        (host,) = cluster.servers
        for account in ("", "with:wrong@"):
            said = await refused(f"nats://{account}{host}/log?replicas=1")
            assert "do not accept this user" in said
            assert "wrong" not in said
        said = await refused(f"nats://without:p@{host}/log?replicas=1")
        assert "JetStream is not enabled there" in said
        async with JetStreamStore.open(f"nats://with:p%20w@{host}/log?replicas=1") as log:
            assert await log.append(SessionId("s"), [Event.of("x")]) == (1, 1)


async def test_one_server_cannot_keep_three_copies(server: Cluster) -> None:
    """Three copies are the default; fewer have to be asked for by name."""
    assert "?replicas=1" in await refused(f"{server.url}/three")


@pytest.mark.parametrize(
    ("changes", "said", "allowed"),
    [
        ({"retention": "workqueue"}, "its retention is workqueue", ""),
        ({"retention": "interest"}, "its retention is interest", ""),
        ({"storage": "memory"}, "?storage=memory", "storage=memory"),
        ({"max_age": 3_600_000_000_000}, "?allow=max_age", "allow=max_age"),
        ({"max_msgs": 5, "discard": "old"}, "?allow=max_msgs", "allow=max_msgs"),
        ({"max_bytes": 9_999, "discard": "old"}, "?allow=max_bytes", "allow=max_bytes"),
        ({"max_msgs_per_subject": 9}, "?allow=max_msgs_per_subject", "allow=max_msgs_per_subject"),
        ({"no_ack": True, "allow_atomic": False}, "?allow=no_ack", ""),
        ({"allow_atomic": False}, "allow_atomic is not set", ""),
        ({"republish": None}, "republish is not set", ""),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
async def test_settings_that_lose_events(
    url: str, changes: dict[str, Any], said: str, allowed: str
) -> None:
    """A stream that would lose what is acknowledged is refused unless the URL names the setting."""
    await made(url, **changes)
    assert said in await refused(url)
    if allowed:
        async with JetStreamStore.open(f"{url}&{allowed}") as log:
            assert await log.append(SessionId("s"), [Event.of("x")]) == (1, 1)


async def test_a_limit_that_refuses_is_no_danger(url: str) -> None:
    """A full log says so and keeps what it has (S-9)."""
    await made(url, max_bytes=3_000)
    session = SessionId("s")
    async with JetStreamStore.open(f"{url}&deadline=1") as log:
        await log.append(session, [Event.of("x", {"text": "y" * 1_500})])
        with anyio.fail_after(20), pytest.raises(LogUnavailable, match="maximum bytes"):
            await log.append(session, [Event.of("x", {"text": "y" * 1_500})])
        assert (await log.read(session)).head == 1
        assert log.degraded


async def test_fewer_copies_than_wanted(url: str) -> None:
    """A stream of one copy where three are expected is refused, and says how to change it."""
    await made(url)
    said = await refused(url.replace("?replicas=1", ""))
    assert "it has 1 replicas, not 3" in said
    assert "?replicas=1" in said


async def test_another_stream(url: str) -> None:
    """A stream that is no log, or one of a later version, is left untouched."""
    await made(url, metadata={})
    with pytest.raises(ForeignDatabase):
        async with JetStreamStore.open(url):
            pass
    metadata = configuration(address(url))["metadata"]
    later = url.replace("/log", "/later")
    await made(later, metadata={**metadata, "hermes.schema": "2"})
    with pytest.raises(NewerSchema):
        async with JetStreamStore.open(later):
            pass


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nats:///log", "names no server"),
        ("nats://h:x/log", "is no server"),
        ("nats://h/a.b", "the log's name"),
        ("nats://h/log?replica=1", "there is no setting replica"),
        ("nats://h/log?replicas=9", "replicas=9 is not possible"),
        ("nats://h/log?storage=tape", "storage=tape is not possible"),
    ],
)
def test_urls_that_name_no_log(url: str, said: str) -> None:
    """What cannot be meant is refused before anybody is asked."""
    with pytest.raises(LogUnavailable, match=said):
        open_anywhere(url)


def test_the_driver_is_an_extra() -> None:
    """Without nats-py the error says what to install; everything else works without it."""
    program = (
        "import sys; sys.modules['nats'] = None\n"
        "from eventlog import LogUnavailable, open_log\n"
        "try: open_log('nats://h/log')\n"
        "except LogUnavailable as error: print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert "hermes-replay[nats]" in found.stdout
