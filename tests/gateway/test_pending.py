"""Questions that wait while clients come and go: whoever comes is asked, and all hear how it ended."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId
from gateway.jsonrpc import Notification, Reply, Request, dump, parse
from gateway.questions import Settled
from tests.gateway.stage import RawClient, bare

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
OPENED = Event.of("session.opened", {"source": {"kind": "hosted"}, "protocol": 1})


async def caught_up(client: RawClient) -> list[Any]:
    """Subscribe; return the questions that come, two of them, and when the border came."""
    await client.ask("session.events.subscribe", {"session_id": SESSION, "last_seen": 0})
    found: list[Any] = []
    while sum(isinstance(frame, Request) for frame in found) < 2:
        match parse(await client.next()):
            case Request() as request:
                found.append(request)
            case Notification("session.caught_up"):
                found.append("border")
    return found


async def test_what_waits_outlives_who_was_asked() -> None:
    """R069, R071, R080, R081, P-28: two questions are open when the client that was asked them is
    gone; two others come, and get both with their first ids, behind the history. One answers one:
    the asker has it, and both clients hear so once. The rest is withdrawn for both.
    """
    ended: dict[str, Settled] = {}
    async with bare(OPENED) as stage, anyio.create_task_group() as tasks:
        questions = stage.gateway.sessions.questions

        async def ask(command: str) -> None:
            ended[command] = await questions.ask(SESSION, "approval", {"command": command})

        async with stage.near(acp_updates=True, server_requests=True) as gone:
            await gone.ask("session.events.subscribe", {"session_id": SESSION, "last_seen": 0})
            tasks.start_soon(ask, "one")
            await gone.hear("approval")
            tasks.start_soon(ask, "two")  # its frame meets a line that is hung up
        async with (
            stage.near(acp_updates=True, server_requests=True) as left,
            stage.near(acp_updates=True, server_requests=True) as right,
        ):
            first, second = await caught_up(left), await caught_up(right)
            assert [type(item) for item in first] == [str, Request, Request]
            assert [item.params["command"] for item in first[1:]] == ["one", "two"]
            assert [item.id for item in first[1:]] == [item.id for item in second[1:]]
            assert all(item.params["replayed"] is True for item in first[1:])

            await right.say(dump(Reply(first[1].id, {"choice": "once"})))
            for client in (left, right):
                (*_, last) = await client.events(until=lambda e: e["type"] == "request.answered")
                assert last["payload"]["id"] == first[1].id
            await questions.withdraw(SESSION, "interrupted")
            for client in (left, right):
                (*_, last) = await client.events(until=lambda e: e["type"] == "request.cancel")
                told = (last["payload"]["id"], last["payload"]["reason"])
                assert told == (first[2].id, "interrupted")
        events = await stage.log(SESSION)
    assert ended["one"].result == {"choice": "once"}
    assert ended["two"].reason == "interrupted"
    kinds = [event["type"] for event in events if event["type"].startswith("request.")]
    assert kinds == ["request.opened", "request.opened", "request.answered", "request.cancel"]
