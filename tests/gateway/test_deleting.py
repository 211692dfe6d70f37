"""A deleted session is gone for everybody, and its numbers are never used again."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from eventlog import GATEWAY, Checkpoint, Event, Seq, SessionId
from gateway.errors import RpcError
from gateway.jsonrpc import Reply, dump
from tests.gateway.stage import QUIET, bare, player, staged

pytestmark = pytest.mark.anyio

CAPTURE, _ = QUIET
OPENED = Event.of("session.opened", {"source": {"kind": "imported"}, "title": "Gone"})
QUESTION = Event.of("request.opened", {"id": "srq-1", "method": "approval", "params": {}})


async def test_a_live_session_is_not_deleted(tmp_path: Path) -> None:
    """P-20a: it is 4023, and nothing happens to it; once closed it goes."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session_id}
        with pytest.raises(RpcError) as live:
            await client.ask("session.delete", where)
        await client.ask("session.close", where)
        assert await client.ask("session.delete", where) == {"deleted": session_id}
        rows = (await client.ask("session.list"))["sessions"]
        for method in ("session.resume", "session.history", "session.events.since"):
            with pytest.raises(RpcError) as gone:
                await client.ask(method, where)
            assert gone.value.code == 4007

    assert (live.value.code, live.value.data) == (4023, where)
    assert rows == []


async def test_whoever_follows_is_told() -> None:
    """P-20a: each subscriber gets `session.deleted`, once; others hear nothing of it."""
    async with bare(OPENED) as stage, stage.near() as one, stage.near() as other:
        await one.ask("session.events.subscribe", {"session_id": "s-1"})
        await other.ask("session.delete", {"session_id": "s-1"})
        told = await one.hear("session.deleted")
        await one.ask("gateway.ping")
        await other.ask("gateway.ping")
        count = [b'"session.deleted"' in frame for frame in (*one.frames, *other.frames)]

    assert told.params == {"session_id": "s-1"}
    assert count.count(True) == 1


async def test_an_answer_does_not_bring_it_back() -> None:
    """P-28, P-20a: a question of a deleted session is nobody's any more."""
    async with bare(OPENED, QUESTION) as stage:
        async with stage.near(server_requests=True) as client:
            snapshot = await client.ask("session.resume", {"session_id": "s-1"})
            assert [item["id"] for item in snapshot["open_requests"]] == ["srq-1"]
            await client.ask("session.delete", {"session_id": "s-1"})
            await client.say(dump(Reply("srq-1", {"choice": "once"})))
            await client.ask("gateway.ping")
        assert await stage.gateway.log.session(SessionId("s-1")) is None
        assert [event["type"] for event in await stage.log(GATEWAY)] == ["request.late"]


async def test_a_reader_that_pruning_overtakes_is_told() -> None:
    """P-20a: one that lags behind what is removed starts from a snapshot, and knows where."""
    large = Event.of("notice", {"message": "x" * 60_000})
    async with bare(OPENED, *[large] * 80) as stage, stage.near() as client:
        log, session_id = stage.gateway.log, SessionId("s-1")
        await client.ask("session.events.subscribe", {"session_id": "s-1"})
        await anyio.wait_all_tasks_blocked()  # the send buffer is full, and nobody reads
        await log.prune(session_id, Checkpoint(Seq(79), 1, b"{}"))
        reset = await client.hear("session.events.reset")
        heard = [frame for frame in client.frames if b'"seq":' in frame]
        await client.ask("gateway.ping")

    assert reset.params == {"session_id": "s-1", "floor": 79, "snapshot_required": True}
    assert 0 < len(heard) < 79


async def test_what_belongs_to_no_session_is_read_but_not_deleted() -> None:
    """P-12: only who asks for `@gateway` sees its numbers, and nobody removes or changes it."""
    async with bare(OPENED) as stage, stage.near() as client:
        await stage.gateway.log.append(GATEWAY, [Event.of("notice", {"message": "x"})])
        rows = (await client.ask("session.list"))["sessions"]
        await client.ask("session.events.subscribe", {"session_id": GATEWAY})
        (heard,) = await client.events(until=lambda event: event["session_id"] == GATEWAY)
        for method, more in (
            ("session.delete", {}),
            ("session.branch", {}),
            ("session.title", {"title": "mine"}),
        ):
            with pytest.raises(RpcError) as refused:
                await client.ask(method, {"session_id": GATEWAY, **more})
            assert refused.value.code == 4100
        head = (await client.ask("session.events.since", {"session_id": GATEWAY}))["latest_seq"]

    assert (heard["seq"], head) == (1, 1)
    assert [row["id"] for row in rows] == ["s-1"]


async def test_numbers_are_never_used_again() -> None:
    """P-20a: what is recorded under the id later goes on where it was."""
    async with bare(OPENED, QUESTION) as stage, stage.near() as client:
        await client.ask("session.delete", {"session_id": "s-1"})
        span = await stage.gateway.log.append(SessionId("s-1"), [OPENED])

    assert span.first == 3
