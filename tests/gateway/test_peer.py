"""What two peers promise each other, on every transport."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any

import anyio
import pytest

from gateway.errors import Code, PeerGone, RpcError
from gateway.jsonrpc import Failure, Notification, Raw, Reply, Request, dump, parse
from gateway.outbox import Outbox
from gateway.peer import Answer, Call, Handler, Peer
from gateway.transports import Transport, memory_pair

pytestmark = pytest.mark.anyio

Open = Callable[[], AbstractAsyncContextManager[tuple[Transport, Transport]]]


async def silent(call: Call) -> Any:
    """Know no method."""
    raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {call.method}")


async def echo(call: Call) -> Any:
    """Answer with what was asked."""
    return {"method": call.method, "params": call.params}


@asynccontextmanager
async def talking(
    open_line: Open, left: Handler, right: Handler
) -> AsyncGenerator[tuple[Peer, Peer], None]:
    """Open a line with a peer at each end."""
    with anyio.fail_after(10):
        async with open_line() as (one, other), anyio.create_task_group() as tasks:
            peers = Peer(one, left), Peer(other, right)
            for peer in peers:
                tasks.start_soon(peer.run)
            yield peers
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def serving(handler: Handler, **options: Any) -> AsyncGenerator[Transport, None]:
    """Run a peer on one end of a line, and give the test the other end, bare."""
    with anyio.fail_after(10):
        ours, theirs = memory_pair()
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(Peer(theirs, handler, **options).run)
            yield ours
            tasks.cancel_scope.cancel()


async def test_a_request_is_answered(open_line: Open) -> None:
    """Who asks gets the other's result (P-1)."""
    async with talking(open_line, silent, echo) as (client, _):
        assert await client.request("m", {"n": 1}) == {"method": "m", "params": {"n": 1}}


async def test_either_end_may_ask(open_line: Open) -> None:
    """Neither is only a server: a question to the user travels the other way (P-1)."""
    async with talking(open_line, echo, silent) as (_, server):
        answer = await server.request("approval", {"command": "ls"}, id="srq-0123456789ab")
        assert answer["method"] == "approval"


async def test_a_refusal_arrives_as_it_was_raised(open_line: Open) -> None:
    """Code, message and data are the other's."""

    async def refuse(call: Call) -> Any:
        raise RpcError(Code.SESSION_NOT_FOUND, "no session x", {"session_id": "x"})

    async with talking(open_line, silent, refuse) as (client, _):
        with pytest.raises(RpcError, match="no session x") as refusal:
            await client.request("m")
        assert (refusal.value.code, refusal.value.data) == (4007, {"session_id": "x"})


async def test_notifications_arrive_in_order(open_line: Open) -> None:
    """A slow listener reorders nothing: the second is heard when the first is done with (P-9)."""
    heard: list[int] = []
    done = anyio.Event()

    async def listen(call: Call) -> Any:
        assert isinstance(call.params, dict)
        number = call.params["n"]
        await anyio.lowlevel.checkpoint()
        heard.append(number)
        if number == 199:
            done.set()

    async with talking(open_line, silent, listen) as (client, _):
        for number in range(200):
            await client.notify("event", {"n": number})
        await done.wait()
    assert heard == list(range(200))


async def test_a_slow_answer_holds_up_nothing(open_line: Open) -> None:
    """Requests are answered as they finish, so a ping is answered at once (P-5)."""
    release = anyio.Event()
    answers: list[str] = []

    async def handler(call: Call) -> Any:
        if call.method == "slow":
            await release.wait()
        return call.method

    async with talking(open_line, silent, handler) as (client, _):

        async def ask(method: str) -> None:
            answers.append(await client.request(method))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "slow")
            await anyio.wait_all_tasks_blocked()
            await ask("ping")
            release.set()
    assert answers == ["ping", "slow"]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 5_000_000])
async def test_a_large_frame_passes_whole(open_line: Open, size: int) -> None:
    """No buffer on the way has a size that a frame must fit (R148)."""
    async with talking(open_line, silent, echo) as (client, _):
        text = "x" * size
        assert (await client.request("m", {"text": text}))["params"] == {"text": text}


async def test_text_of_every_kind_passes(open_line: Open) -> None:
    """Line ends, separators, emoji and lone surrogates inside a string tear no frame."""
    text = "a\nb\r\nc\u2028\u0085\x00👩‍👩‍👧‍👦\ud83d"
    async with talking(open_line, silent, echo) as (client, _):
        assert (await client.request("m", {"text": text}))["params"] == {"text": text}


async def test_who_waits_is_told_that_the_line_dropped(open_line: Open) -> None:
    """Nobody waits for ever on a peer that is gone."""
    arrived = anyio.Event()

    async def never(call: Call) -> Any:
        arrived.set()
        await anyio.sleep_forever()

    with anyio.fail_after(10):
        async with open_line() as (one, other), anyio.create_task_group() as tasks:
            client, server = Peer(one, silent), Peer(other, never)

            async def ask() -> None:
                with pytest.raises(PeerGone, match=r"before prompt\.submit was answered"):
                    await client.request("prompt.submit")

            async def serve() -> None:
                async with anyio.create_task_group() as serving:
                    serving.start_soon(server.run)
                    await arrived.wait()
                    serving.cancel_scope.cancel()
                await other.aclose()

            tasks.start_soon(client.run)
            tasks.start_soon(serve)
            await ask()
            tasks.cancel_scope.cancel()


async def test_an_answer_keeps_its_place_among_notifications() -> None:
    """A turn's end is seen after its updates and before those of the next turn (P-36)."""
    seen: list[str] = []

    async def listen(call: Call) -> Any:
        await anyio.lowlevel.checkpoint()
        seen.append(call.method)

    ours, theirs = memory_pair()
    client = Peer(theirs, listen)

    async def ask() -> None:
        await client.request("session/prompt")
        seen.append("answer")

    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(client.run)
            tasks.start_soon(ask)
            asked = parse(await ours.receive())
            assert isinstance(asked, Request)
            for frame in (Notification("a"), Notification("b"), Reply(asked.id, 1)):
                await ours.send(dump(frame))
            await ours.send(dump(Notification("c")))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert seen == ["a", "b", "answer", "c"]


async def test_what_is_sent_before_the_start_is_sent_first() -> None:
    """The first frame to a peer can be chosen before it may say anything (P-5)."""
    ours, theirs = memory_pair()
    peer = Peer(theirs, echo)
    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            await ours.send(dump(Request(1, "m")))
            await peer.notify("event", {"type": "gateway.ready"})
            tasks.start_soon(peer.run)
            assert parse(await ours.receive()) == Notification("event", {"type": "gateway.ready"})
            assert isinstance(parse(await ours.receive()), Reply)
            tasks.cancel_scope.cancel()


async def test_what_follows_an_answer_stands_behind_it() -> None:
    """The first event of a subscription cannot overtake the answer to the subscription (P-19)."""
    ours, theirs = memory_pair()
    due = anyio.Event()

    async def subscribe(call: Call) -> Any:
        return Answer(Raw(b'{"latest_seq":7}'), due.set)

    peer = Peer(theirs, subscribe)

    async def pump() -> None:
        await due.wait()
        await peer.send_raw(dump(Notification("event", Raw(b'{"seq":8}'))))

    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            tasks.start_soon(pump)
            await ours.send(dump(Request("r1", "session.events.subscribe")))
            assert parse(await ours.receive()) == Reply("r1", {"latest_seq": 7})
            assert parse(await ours.receive()) == Notification("event", {"seq": 8})
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("text", "code", "id_"),
    [
        (b"{not json", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}', -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":"x1"}', -32600, "x1"),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":[]}', -32602, 5),
    ],
)
async def test_nonsense_costs_an_error_not_the_conversation(
    text: bytes, code: int, id_: int | str | None
) -> None:
    """A bad frame is answered with its code, and the next one works (P-2, R150)."""
    async with serving(echo) as line:
        await line.send(text)
        answer = parse(await line.receive())
        assert isinstance(answer, Failure)
        assert (answer.error.code, answer.id) == (code, id_)
        await line.send(b'{"jsonrpc":"2.0","id":"next","method":"m"}')
        assert parse(await line.receive()) == Reply("next", {"method": "m", "params": {}})


async def test_a_lenient_peer_answers_no_nonsense() -> None:
    """A banner on an agent's stdout is no question; a bad request still is (R119)."""
    async with serving(echo, lenient=True) as line:
        await line.send(b"Welcome!")
        await line.send(b"[1,2]")
        await line.send(b'{"jsonrpc":"2.0","id":5,"method":"m","params":[]}')
        answer = parse(await line.receive())
        assert isinstance(answer, Failure)
        assert (answer.error.code, answer.id) == (-32602, 5)


async def test_a_failing_handler_tells_no_secrets() -> None:
    """An error of ours is -32603 for its caller alone; the conversation goes on."""

    async def fail(call: Call) -> Any:
        if call.method == "fail":
            raise ValueError("s3cret")
        return object() if call.method == "unprintable" else 1

    async with serving(fail) as line:
        for method in ("fail", "unprintable"):
            await line.send(dump(Request(1, method)))
            said = await line.receive()
            assert b"-32603" in said
            assert b"s3cret" not in said
        await line.send(dump(Notification("fail")))
        await line.send(dump(Request(2, "m")))
        assert parse(await line.receive()) == Reply(2, 1)


async def test_answers_that_nobody_waits_for_are_heard() -> None:
    """A late answer and one to an unknown id reach whoever records them (P-28)."""
    strays: list[Reply | Failure] = []

    async def stray(answer: Reply | Failure) -> None:
        strays.append(answer)

    ours, theirs = memory_pair()
    server = Peer(theirs, silent, stray=stray)

    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(server.run)
            with pytest.raises(TimeoutError):
                await server.request("approval", id="srq-1", timeout=0)
            assert isinstance(parse(await ours.receive()), Request)
            await ours.send(dump(Reply("srq-1", {"choice": "once"})))
            await ours.send(dump(Failure("srq-2", RpcError(4404, "not shown"))))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert [answer.id for answer in strays] == ["srq-1", "srq-2"]


async def test_one_id_is_asked_once_at_a_time() -> None:
    """Two questions under one id could not be told apart."""
    ours, theirs = memory_pair()
    peer = Peer(theirs, silent)
    with anyio.fail_after(10):
        async with ours, theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)

            async def ask() -> None:
                await peer.request("approval", id="srq-1")

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(ValueError, match="already being asked"):
                await peer.request("approval", id="srq-1")
            tasks.cancel_scope.cancel()


async def test_nothing_is_asked_of_a_line_that_dropped() -> None:
    """Once the line is gone, asking and telling fail at once."""
    ours, theirs = memory_pair()
    peer = Peer(theirs, silent)
    with anyio.fail_after(10):
        async with theirs:
            await ours.aclose()
            await peer.run()
            with pytest.raises(PeerGone):
                await peer.request("m")
            with pytest.raises(PeerGone):
                await peer.notify("m")


async def test_a_peer_that_takes_nothing_is_hung_up_on() -> None:
    """A reader that stands still costs its own connection, after the time allowed (P-20)."""
    ours, theirs = memory_pair(frames=1)
    peer = Peer(theirs, silent, outbox=Outbox(patience=0.02))
    with anyio.fail_after(10):
        async with ours:
            for number in range(3):
                await peer.notify("event", {"n": number})
            await peer.run()
            assert b'"n":0' in await ours.receive()
            with pytest.raises(anyio.EndOfStream):
                await ours.receive()


async def test_a_peer_that_asks_and_never_reads_is_hung_up_on() -> None:
    """Answers may not pile up without end (P-20)."""
    ours, theirs = memory_pair(frames=1)

    async def large(call: Call) -> Any:
        return "x" * 1000

    async def ask_for_ever() -> None:
        for number in count():
            await ours.send(dump(Request(number, "m")))

    peer = Peer(theirs, large, outbox=Outbox(urgent_room=10_000))
    with anyio.fail_after(10):
        async with ours, anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            with pytest.raises(anyio.BrokenResourceError):
                await ask_for_ever()
