"""One client has one place in a session, however many of its calls attach it at once (§4)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Event
from gateway.jsonrpc import Notification, Reply, Request, dump, parse
from tests.gateway.stage import RawClient, Stage, actor, bare, ended, staged

pytestmark = pytest.mark.anyio

SAME = [
    ("session.activate",) * 3,
    ("session.resume", "session.activate"),
    ("session.events.subscribe",) * 3,
    ("session.activate", "session.events.subscribe", "session.activate"),
]
FOLLOWS = [True, False]


@pytest.mark.parametrize("follows", FOLLOWS)
@pytest.mark.parametrize("methods", SAME)
async def test_calls_at_once_attach_once(
    tmp_path: Path, methods: tuple[str, ...], *, follows: bool
) -> None:
    """P-9, P-21: they come in one message; each event comes once, behind the answers before it."""
    calls: list[bytes] = []
    async with (
        staged(tmp_path, actor()) as stage,
        stage.client() as other,
        stage.client() as client,
    ):
        opener = client if follows else other
        opened = await opener.ask("session.create")
        session_id, head = str(opened["session_id"]), {"last_seen": opened["latest_seq"]}
        for n, method in enumerate(methods):
            place = head if method == "session.events.subscribe" else {}
            calls.append(dump(Request(f"c{n}", method, {"session_id": session_id, **place})))
        await client.say(b"\n".join(calls))
        await _answers(client, len(calls))
        await _turn(client, session_id)
        frames = [parse(frame) for frame in client.frames]

    seqs = _seqs(client)
    assert seqs == list(range(seqs[0], seqs[-1] + 1))
    at = None
    for frame in frames:  # a snapshot stands just where it says that it does
        match frame:
            case Notification("event", {"seq": int(seq)}):
                at = seq
            case Reply(str(), {"messages": _, "latest_seq": int(seq)}):
                assert at is None or at == seq


async def test_prompts_at_once_attach_once_and_keep_their_order(tmp_path: Path) -> None:
    """P-9, P-24: a client that says several before it has heard of the first hears each event once."""
    async with (
        staged(tmp_path, actor()) as stage,
        stage.client() as other,
        stage.client() as client,
    ):
        session_id = str((await other.ask("session.create"))["session_id"])
        told = [{"session_id": session_id, "text": f"say {n}"} for n in range(20)]
        calls = [dump(Request(f"p{n}", "prompt.submit", one)) for n, one in enumerate(told)]
        await client.say(b"\n".join(calls))
        await _turn(client, session_id)
        log = await stage.log(session_id)

    seqs = _seqs(client)
    assert seqs == list(range(seqs[0], seqs[-1] + 1))
    texts = [e["payload"]["content"][0]["text"] for e in log if e["type"] == "prompt.submitted"]
    assert texts == [f"say {n}" for n in range(20)] + ["say the end"]


async def test_leaving_waits_for_its_turn(tmp_path: Path) -> None:
    """§4: whoever attaches and leaves at once has left."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        session_id = str((await client.ask("session.create"))["session_id"])
        named = {"session_id": session_id}
        calls = ("session.activate", "session.events.unsubscribe")
        await client.say(b"\n".join(dump(Request(m, m, named)) for m in calls))
        answers = await _answers(client, 2)
        (follower,) = stage.gateway.clients
        assert answers["session.events.unsubscribe"] == {"unsubscribed": True}
        assert not follower.places.followed


async def test_an_attaching_call_that_wants_no_answer_holds_nothing_up() -> None:
    """P-9: without an id there is no answer for the events to stand behind, and they come."""
    async with bare(Event.of("notice", {"n": 1})) as stage, stage.near(acp_updates=True) as client:
        named = {"session_id": "s-1"}
        await client.ask("session.events.subscribe", named)
        await client.events(until=_number(1))
        for method in ("session.resume", "session.events.subscribe"):
            await client.say(dump(Notification(method, named)))
        await client.ask("session.resume", named)
        await stage.gateway.log.append(_only(stage), [Event.of("notice", {"n": 2})])
        await client.events(until=_number(2))


def _only(stage: Stage) -> Any:
    (follower,) = stage.gateway.clients
    (session_id,) = follower.places.followed
    return session_id


def _number(n: int) -> Callable[[dict[str, Any]], bool]:
    return lambda params: params["payload"].get("n") == n


async def _answers(client: RawClient, count: int) -> dict[Any, Any]:
    """Hear until *count* calls that were said by hand are answered; return the results by id."""
    found: dict[Any, Any] = {}
    while len(found) < count:
        match parse(await client.next()):
            case Reply(str(id_), result):
                found[id_] = result
    return found


async def _turn(client: RawClient, session_id: str) -> None:
    """Have a turn, and hear all that there is to hear of it, once or twice."""
    told = {"session_id": session_id, "text": "say the end"}
    seq = (await client.ask("prompt.submit", told))["seq"]
    await client.events(until=ended(seq))
    await client.ask("session.usage", {"session_id": session_id})  # behind what came twice
    await anyio.wait_all_tasks_blocked()
    await client.ask("gateway.ping")


def _seqs(client: RawClient) -> list[int]:
    """Return the numbers of all events that came, in the order in which they came."""
    seqs: list[int] = []
    for frame in client.frames:
        match parse(frame):
            case Notification("event", {"seq": int(seq)}):
                seqs.append(seq)
    return seqs
