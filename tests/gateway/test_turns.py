"""How much one client may ask at a time: large answers one after the other, small ones between."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId
from gateway.contracts import CONTRACTS
from gateway.errors import RpcError
from gateway.jsonrpc import Reply, Request, dump, parse
from gateway.turns import IN_ORDER, LARGE, LARGE_AT_A_TIME, MOST, Turns
from tests.gateway.stage import bare

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
ANSWERS = 12
SINCE = "session.events.since"


async def test_many_large_answers_on_a_slow_line() -> None:
    """P-20: twelve answers of nearly 4 MiB, asked for at once and read slowly, all arrive; a ping
    that was asked behind them is answered without waiting for them all (P-5).
    """
    line = "x" * 60_000
    order: list[int | str] = []
    async with (
        bare(*[Event.of("notice", {"message": line})] * 66) as stage,
        stage.near(acp_updates=True) as client,
    ):
        for number in range(100, 100 + ANSWERS):
            await client.say(dump(Request(number, SINCE, {"session_id": SESSION})))
        await client.say(dump(Request(999, "gateway.ping", {})))
        while len(order) <= ANSWERS:
            await anyio.lowlevel.checkpoint()
            match parse(await client.line.receive()):
                case Reply(id_, result):
                    order.append(id_)
                    assert id_ == 999 or result["count"] == 66

    assert sorted(map(int, order)) == [*range(100, 100 + ANSWERS), 999]
    assert order.index(999) < ANSWERS


async def test_large_answers_are_made_a_few_at_a_time() -> None:
    """P-20: what is not read is not made, so a client costs a few answers of memory at most."""
    made, go = 0, anyio.Event()

    async def never_quiet() -> None:
        await go.wait()

    async def work() -> Any:
        nonlocal made
        made += 1

    turns = Turns(never_quiet)
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(turns.take, SINCE, work)
        await anyio.wait_all_tasks_blocked()
        before = made
        await turns.take("prompt.submit", work)  # a small call does not wait for them
        go.set()

    assert (before, made) == (LARGE_AT_A_TIME, 51)


async def test_a_flood_of_calls_is_refused() -> None:
    """P-20: beyond the limit a call is answered 4090, and a ping still is (P-5)."""
    go = anyio.Event()

    async def wait() -> Any:
        await go.wait()

    async def ping() -> str:
        return "pong"

    turns = Turns(go.wait)
    async with anyio.create_task_group() as tasks:
        for _ in range(MOST):
            tasks.start_soon(turns.take, "prompt.submit", wait)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(RpcError) as refused:
            await turns.take(SINCE, wait)
        assert await turns.take("gateway.ping", ping) == "pong"
        go.set()
    await turns.take(SINCE, wait)

    assert refused.value.code == 4090


async def test_words_are_given_in_the_order_in_which_they_were_said() -> None:
    """P-24, R074: to one session; another one does not wait for them."""
    go = anyio.Event()
    done: list[int] = []

    async def work(number: int, ready: anyio.Event | None) -> None:
        if ready:
            await ready.wait()
        done.append(number)

    async def take(number: int, session: str, ready: anyio.Event | None = None) -> None:
        await turns.take("prompt.submit", lambda: work(number, ready), session=session)

    turns = Turns(go.wait)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take, 1, "s-1", go)
        tasks.start_soon(take, 2, "s-1")
        tasks.start_soon(take, 3, "s-2")
        await anyio.wait_all_tasks_blocked()
        assert done == [3]
        go.set()

    assert done == [3, 1, 2]


def test_large_calls_are_calls() -> None:
    """A name that nobody calls would bound nothing."""
    assert set(CONTRACTS) > LARGE | IN_ORDER
