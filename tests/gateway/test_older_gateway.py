"""The reference client with a gateway of before: it reads whole what it cannot go on with (R056)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.client import Asked, Backoff, Client
from gateway.dial import connect
from gateway.follower import Follower
from gateway.gateway_player import GatewayPlayer
from gateway.transports import serve_websocket
from replay import Agent, Ask, Tool, User
from tests.gateway.old_gateway import ANSWER, PROMPT, STORED, TURN, OldGateway
from tests.gateway.stage import TOKEN

pytestmark = pytest.mark.anyio

SOON = Backoff(first=0.001, most=0.002, chance=lambda: 0.0)
HALF = len(TURN) // 2
Heard = list[tuple[str, bool]]


@asynccontextmanager
async def client(url: str, answerer: Any = None) -> AsyncGenerator[Client, None]:
    async with connect(url, TOKEN.reveal(), answerer=answerer, backoff=SOON) as found:
        yield found


def said(follower: Follower, kind: type[User | Agent]) -> list[str]:
    return [one.text.strip() for one in follower.transcript.entries if isinstance(one, kind)]


def shown(follower: Follower) -> list[Any]:
    """What there is, but for the times at which it came."""
    return [(one.kind, one.id, getattr(one, "text", None)) for one in follower.transcript.entries]


async def back(client: Client, follower: Follower, lines: int) -> None:
    await follower.until(lambda me: client.lines > lines and me.caught_up)


@pytest.mark.parametrize(
    ("replays", "numbers"),
    [(False, False), (False, True), (True, False), (True, True)],
    ids=["neither", "numbers", "replays", "both"],
)
async def test_break_in_a_turn(*, replays: bool, numbers: bool) -> None:
    """R056: without `session.events.since`, or without numbers, the session is read whole after a
    break; with both, from where it was. Either way each thing is there once, and nothing is told
    as news a second time.
    """
    gateway = OldGateway(replays=replays, numbers=numbers)
    heard: Heard = []
    with anyio.fail_after(20):
        async with gateway.served(), client(gateway.url) as one:
            follower = await one.follow(
                STORED, seen=lambda item, live: heard.append((item["type"], live))
            )
            await follower.until(lambda me: me.caught_up)
            assert one.older
            await one.submit(follower.session_id, PROMPT)
            await gateway.tell(TURN[:HALF])
            await follower.until(lambda me: any(isinstance(e, Tool) for e in me.transcript.entries))
            lines = one.lines
            await gateway.drop()
            await gateway.tell(TURN[HALF:-4])
            await back(one, follower, lines)
            assert follower.resets == (0 if replays and numbers else 1)
            running = follower.transcript
            await gateway.tell(TURN[-4:])
            await follower.until(lambda me: me.transcript.status == "idle")

    assert running.status == "running"
    assert said(follower, User) == [PROMPT]
    assert said(follower, Agent).count(ANSWER) == 1
    interim = "".join(said(follower, Agent)).count("Let me look at the project first.")
    assert interim == (1 if replays and numbers else 0)  # `inflight` does not say where it ended
    assert [type_ for type_, live in heard if live].count("message.complete") == 1
    asked = [params for method, params in gateway.calls if method == "prompt.submit"]
    assert asked == [{"session_id": gateway.runtime, "text": PROMPT}]


async def test_ring_that_reaches_back_gives_what_nobody_missed() -> None:
    """R056: one that was cut off three times ends with the very transcript of one that was not."""
    gateway = OldGateway(replays=True, numbers=True)
    with anyio.fail_after(20):
        async with gateway.served(), client(gateway.url) as steady, client(gateway.url) as shaky:
            one, other = await steady.follow(STORED), await shaky.follow(STORED)
            await one.until(lambda me: me.caught_up)
            await other.until(lambda me: me.caught_up)
            for first in range(0, len(TURN), 10):
                await gateway.tell(TURN[first : first + 5])
                await other.until(lambda me, had=first: me.seq > had)  # type: ignore[misc]
                lines = shaky.lines
                await shaky.drop()
                await gateway.tell(TURN[first + 5 : first + 10])
                await back(shaky, other, lines)
            await one.until(lambda me: me.seq == other.seq)

    assert other.resets == 0
    assert shown(one) == shown(other)


@pytest.mark.parametrize("how", ["ring", "epoch", "behind"])
async def test_number_that_does_not_hold_any_more(how: str) -> None:
    """R056, P-16: a ring that does not reach back, another epoch in the greeting, a count that is
    behind ours: the number is dropped, and the session is read whole.
    """
    gateway = OldGateway(replays=True, numbers=True)
    with anyio.fail_after(20):
        async with gateway.served(), client(gateway.url) as one:
            follower = await one.follow(STORED)
            await follower.until(lambda me: me.caught_up)
            await one.submit(follower.session_id, PROMPT)
            await gateway.tell(TURN)
            await follower.until(lambda me: me.transcript.status == "idle")
            lines = one.lines
            gateway.calls.clear()
            if how == "ring":
                await one.drop()
                await gateway.tell([{"type": "notice", "payload": {"message": "x"}}])
                gateway.forget()
            else:
                await gateway.restart("b" * 32 if how == "epoch" else gateway.epoch, "23a51af7")
            await back(one, follower, lines)
            assert follower.resets == 1
            await one.submit(follower.session_id, "And again?")
            await gateway.tell(TURN)
            await follower.until(lambda me: len(me.transcript.turns) == 2)
            await follower.until(lambda me: me.transcript.status == "idle")

    assert said(follower, User) == [PROMPT, "And again?"]
    assert said(follower, Agent).count(ANSWER) == 2
    if how == "epoch":
        asked = [params for method, params in gateway.calls if method == "session.events.since"]
        assert {params["session_id"] for params in asked} == {"23a51af7"}


async def test_question_that_stays_open_over_a_break() -> None:
    """R056, P-17: what the snapshot lists as open is asked, once, and the answer heard."""
    gateway = OldGateway(replays=False, numbers=False)
    askings: list[Asked] = []
    answer_now = anyio.Event()

    async def answerer(asked: Asked) -> Any:
        askings.append(asked)
        await answer_now.wait()
        return {"choice": "once"}

    with anyio.fail_after(20):
        async with gateway.served(), client(gateway.url, answerer) as one:
            follower = await one.follow(STORED)
            await follower.until(lambda me: me.caught_up)
            await one.submit(follower.session_id, PROMPT)
            await gateway.tell(TURN[:3])
            await gateway.ask("srq-00000000000a", "approval", {"command": "ls"})
            await follower.until(lambda me: me.transcript.status == "waiting")
            lines = one.lines
            await gateway.drop()
            await back(one, follower, lines)
            await follower.until(lambda me: me.transcript.status == "waiting")
            await anyio.wait_all_tasks_blocked()
            answer_now.set()
            await follower.until(lambda me: me.transcript.status == "running")
            while not gateway.answers:
                await anyio.lowlevel.checkpoint()

    assert [asked.session_id for asked in askings] == [follower.session_id] * 2
    assert [answer["result"] for answer in gateway.answers] == [{"choice": "once"}]
    assert [ask.state for ask in follower.transcript.entries if isinstance(ask, Ask)] == [
        "answered"
    ]


async def test_session_that_it_does_not_know() -> None:
    """R056: what is not there is told, and the client goes on."""
    gateway = OldGateway(replays=False, numbers=False)
    with anyio.fail_after(20):
        async with gateway.served(), client(gateway.url) as one:
            follower = await one.follow("nobody")
            await follower.until(lambda me: me.gone is not None)
            assert follower.gone == "session not found"
            assert (await one.request("session.list"))["sessions"]


async def test_recorded_gateway_that_was_started_anew(captures: Path) -> None:
    """R056: a real gateway's frames: a turn, a restart under another epoch, and the session is read
    from its rows, with the next turn behind it.
    """
    player = GatewayPlayer((captures / "hermes" / "10_restart_resume.jsonl").read_bytes())
    with anyio.fail_after(30):
        async with (
            serve_websocket("127.0.0.1", 0, TOKEN, player.serve) as address,
            client(address.url) as one,
        ):
            created = await one.request("session.create", {"cols": 100})
            follower = await one.follow(created["session_id"])
            await follower.until(lambda me: me.caught_up)
            await one.submit(follower.session_id, PROMPT)
            await follower.until(lambda me: me.resets == 1)
            assert one.lasting(follower.session_id) == created["stored_session_id"]
            before = follower.transcript
            await one.submit(follower.session_id, "hello after the restart")
            await follower.until(lambda me: len(me.transcript.turns) == 2)
            await follower.until(lambda me: me.transcript.status == "idle")

    assert [type(entry).__name__ for entry in before.entries].count("User") == 1
    assert said(follower, User) == [PROMPT, "hello after the restart"]
    assert said(follower, Agent)[-2:] == [
        ANSWER,
        "Hello! I am a scripted mock model. How can I help you today?",
    ]
