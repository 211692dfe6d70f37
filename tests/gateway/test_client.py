"""The reference client ends with the whole session, once and in order, whatever its line does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Envelope
from gateway.client import Asked, Backoff, Client, Dial, client_of
from gateway.errors import CannotConnect
from gateway.jsonrpc import Notification, Reply, Request, dump, parse
from gateway.transports import Transport, connect_websocket, memory_pair
from replay import EMPTY, digest, fold
from replay import dump as dump_transcript
from tests.gateway.stage import ASKING, QUIET, TOKEN, Stage, player, staged

pytestmark = pytest.mark.anyio

CAPTURE, (PROMPT,) = QUIET
SOON = Backoff(first=0.001, most=0.002, chance=lambda: 0.0)
Script = Callable[["FakeGateway"], Awaitable[None]]


class FakeGateway:
    """The other end of a line, written out frame by frame; each line has a script of its own."""

    def __init__(self, line: Transport) -> None:
        self.line = line

    async def takes(self, method: str) -> Request:
        """Hear a call, which must be of this method."""
        frame = parse(await self.line.receive())
        assert isinstance(frame, Request)
        assert frame.method == method
        return frame

    async def introduce(self) -> None:
        call = await self.takes("client.capabilities")
        await self.line.send(dump(Reply(call.id, {"server_requests": []})))

    async def subscribes(self, *, last: int, before: tuple[int, ...] = (), **head: Any) -> None:
        """Answer a subscribe from *last*; events of *before* come even before the answer."""
        call: Any = await self.takes("session.events.subscribe")
        assert call.params["last_seen"] == last
        await self.events(*before)
        answer = {"snapshot_required": False, "epoch": "e1", **head}
        await self.line.send(dump(Reply(call.id, answer)))

    async def events(self, *numbers: int) -> None:
        for seq in numbers:
            await self.line.send(dump(Notification("event", dict(event(seq)))))

    async def caught_up(self, seq: int) -> None:
        params = {"session_id": "s-1", "seq": seq}
        await self.line.send(dump(Notification("session.caught_up", params)))


def event(seq: int) -> dict[str, Any]:
    payload = {"message": f"number {seq}"}
    return {"session_id": "s-1", "seq": seq, "ts": seq, "type": "notice", "payload": payload}


def dial_to(*scripts: Script) -> Dial:
    """Dial a gateway that follows one script a line, then stays silent."""
    waiting = list(scripts)

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        here, there = memory_pair()

        async def play() -> None:
            async with there:
                if waiting:
                    await waiting.pop(0)(FakeGateway(there))
                else:
                    await anyio.sleep_forever()

        async with here, anyio.create_task_group() as tasks:
            tasks.start_soon(play)
            yield here
            tasks.cancel_scope.cancel()

    return dial


@asynccontextmanager
async def following(dial: Dial) -> AsyncGenerator[tuple[Client, list[int], Any], None]:
    heard: list[int] = []
    with anyio.fail_after(10):
        async with client_of(dial, backoff=SOON) as client:
            follower = await client.follow("s-1", seen=lambda item, _: heard.append(item["seq"]))
            yield client, heard, follower


async def test_live_frames_that_overtake_the_answer() -> None:
    """R057: 21 and 22 come before the answer, then 11 to 22: heard 11 to 22, in order, once."""

    async def script(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=0)
        await gateway.events(*range(1, 11))

    async def again(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=10, before=(21, 22))
        await gateway.events(*range(11, 23))
        await gateway.caught_up(22)
        await anyio.sleep_forever()

    async with following(dial_to(script, again)) as (_, heard, follower):
        await follower.until(lambda me: me.caught_up)

    assert heard == list(range(1, 23))


async def test_hole_is_never_applied() -> None:
    """R012: 4 after 1 is a gap; the client asks again from 1 and hears 2 before 4."""

    async def script(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=0)
        await gateway.events(1, 4, 5)
        await gateway.subscribes(last=1)
        await gateway.events(2, 3, 4, 5, 6)
        await gateway.caught_up(6)
        await anyio.sleep_forever()

    async with following(dial_to(script)) as (client, heard, follower):
        await follower.until(lambda me: me.caught_up)

    assert heard == [1, 2, 3, 4, 5, 6]
    assert client.lines == 1


async def test_gap_that_says_so_is_applied() -> None:
    """S-6, P-9: a `log.gap` that begins at the next number stands for what is lost."""
    gap = {**event(5), "type": "log.gap", "payload": {"first": 2, "last": 5, "reason": "damaged"}}

    async def script(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=0)
        await gateway.events(1)
        await gateway.line.send(dump(Notification("event", gap)))
        await gateway.events(6)
        await gateway.caught_up(6)
        await anyio.sleep_forever()

    async with following(dial_to(script)) as (_, heard, follower):
        await follower.until(lambda me: me.caught_up)

    assert heard == [1, 5, 6]


async def test_duplicates_are_applied_once() -> None:
    """R007, R062: what came before is not applied again, and the transcript is as if it had not."""

    async def script(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=0)
        await gateway.events(1, 2, 1, 2, 3, 3, 4)
        await gateway.caught_up(4)
        await anyio.sleep_forever()

    async with following(dial_to(script)) as (_, heard, follower):
        await follower.until(lambda me: me.caught_up)
        transcript = follower.transcript

    records: list[Any] = [event(seq) for seq in (1, 2, 3, 4)]
    assert heard == [1, 2, 3, 4]
    assert digest(transcript) == digest(fold(EMPTY, records))


async def test_cursor_moves_with_what_was_applied() -> None:
    """R061: five drops; each time the client asks from the last event it has applied."""

    def script(first: int) -> Script:
        async def play(gateway: FakeGateway) -> None:
            await gateway.introduce()
            await gateway.subscribes(last=first)
            await gateway.events(first + 1, first + 2)

        return play

    scripts = [script(first) for first in (0, 2, 4, 6, 8)]
    async with following(dial_to(*scripts)) as (client, heard, follower):
        await follower.until(lambda me: me.seq == 10)
        await anyio.wait_all_tasks_blocked()

    assert heard == list(range(1, 11))
    assert client.lines >= 5


async def test_other_history_starts_from_a_snapshot() -> None:
    """P-16, P-18: told that its cursor is of no use, the client takes the transcript, then goes on."""
    records: list[Any] = [event(seq) for seq in range(1, 8)]
    later: Any = event(8)

    async def script(gateway: FakeGateway) -> None:
        await gateway.introduce()
        await gateway.subscribes(last=0, snapshot_required=True, epoch="e2")
        call = await gateway.takes("session.transcript")
        whole = dump_transcript(fold(EMPTY, records))
        page = {"transcript": whole, "seq": 7, "has_more": False, "next": "e7"}
        await gateway.line.send(dump(Reply(call.id, page)))
        await gateway.subscribes(last=7, epoch="e2")
        await gateway.events(8)
        await gateway.caught_up(8)
        await anyio.sleep_forever()

    async with following(dial_to(script)) as (_, heard, follower):
        await follower.until(lambda me: me.caught_up)
        transcript = follower.transcript

    assert heard == [8]
    assert follower.epoch == "e2"
    assert digest(transcript) == digest(fold(EMPTY, [*records, later]))


async def test_gateway_that_closes_at_once() -> None:
    """R065: the wait between two attempts grows, and nothing is fetched meanwhile."""
    waits: list[float] = []
    attempts = 0

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        nonlocal attempts
        attempts += 1
        if attempts <= 20:
            raise CannotConnect("ws://nowhere", "refused")
        async with dial_to()() as line:
            yield line

    class Noted(Backoff):
        def delay(self, attempt: int) -> float:
            waits.append(super().delay(attempt))
            return 0.0

    with anyio.fail_after(10):
        async with client_of(dial, backoff=Noted(first=0.1, most=15.0, chance=lambda: 1.0)):
            while attempts <= 20:
                await anyio.lowlevel.checkpoint()

    assert waits[:5] == [0.1, 0.2, 0.4, 0.8, 1.6]
    assert waits[-1] == 15.0


async def test_prompt_is_sent_until_it_is_taken_and_taken_once(tmp_path: Path) -> None:
    """P-24: the line drops before the receipt; sent again under its ref, it is the same prompt."""
    async with staged(tmp_path, player(CAPTURE)) as stage, connected(stage) as client:
        session = await client.request("session.create", {"cwd": "."})
        follower = await client.follow(session["session_id"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.submit, session["session_id"], PROMPT)
            await follower.until(lambda me: any(e.kind == "user" for e in me.transcript.entries))
            await client.drop()
        await follower.until(lambda me: me.transcript.status == "idle" and me.caught_up)
        events = await stage.log(session["session_id"])

    assert [e["type"] for e in events].count("prompt.submitted") == 1


async def test_notifier_is_called_for_live_events_only(tmp_path: Path) -> None:
    """R008, R020: over ten reconnects, history is never taken for news, and news is told once."""
    news: list[int] = []

    def notify(envelope: Envelope, live: bool) -> None:  # noqa: FBT001 - a follower's `Seen`
        if live:
            news.append(envelope["seq"])

    async with staged(tmp_path, player(CAPTURE)) as stage, connected(stage) as client:
        session = await client.request("session.create", {"cwd": "."})
        follower = await client.follow(session["session_id"], seen=notify)
        await follower.until(lambda me: me.caught_up)
        first = follower.seq
        await client.submit(session["session_id"], PROMPT)
        await follower.until(lambda me: me.transcript.status == "idle" and me.seq > first + 5)
        told = list(news)
        for _ in range(10):
            lines = client.lines
            await client.drop()
            await follower.until(lambda me, was=lines: client.lines > was and me.caught_up)  # type: ignore[misc]

    assert told == list(range(first + 1, follower.seq + 1))
    assert news == told


async def test_question_that_is_settled_elsewhere_is_taken_back(tmp_path: Path) -> None:
    """P-28: a client that still thinks about its answer hears that another has given one."""
    taken_back = anyio.Event()

    async def slow(_: Asked) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            taken_back.set()

    async with (
        staged(tmp_path, player(ASKING[0])) as stage,
        connected(stage, slow) as thinking,
        connected(stage, allow) as quick,
    ):
        session = await thinking.request("session.create", {"cwd": "."})
        follower = await thinking.follow(session["session_id"])
        await thinking.submit(session["session_id"], ASKING[1])
        await follower.until(lambda me: me.transcript.status == "waiting")
        await quick.follow(session["session_id"])
        with anyio.fail_after(10):
            await taken_back.wait()
        await follower.until(lambda me: me.transcript.status == "idle")
        events = await stage.log(session["session_id"])

    kinds = [e["type"] for e in events]
    assert kinds.count("request.answered") == kinds.count("request.opened") == 1
    assert "request.late" not in kinds


async def test_every_client_has_the_same_digest(tmp_path: Path) -> None:
    """P-26, R007: one that followed live, one that caught up, and the log fold to the same."""
    async with staged(tmp_path, player(CAPTURE)) as stage, connected(stage) as live:
        session = await live.request("session.create", {"cwd": "."})
        follower = await live.follow(session["session_id"])
        await live.submit(session["session_id"], PROMPT)
        await follower.until(lambda me: len(me.transcript.turns) == 1)
        await follower.until(lambda me: me.transcript.status == "idle")
        async with connected(stage) as late:
            other = await late.follow(session["session_id"])
            await other.until(lambda me: me.caught_up and me.seq >= follower.seq)
            await follower.until(lambda me: me.seq >= other.seq)
            answer = await late.request("session.transcript", {"session_id": other.session_id})

    assert digest(follower.transcript) == digest(other.transcript) == answer["digest"]


@asynccontextmanager
async def connected(stage: Stage, answerer: Any = None) -> AsyncGenerator[Client, None]:
    """A client of a real gateway, over a real socket."""

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        async with connect_websocket(stage.url, TOKEN) as line:
            yield line

    with anyio.fail_after(30):
        async with client_of(dial, answerer=answerer, backoff=SOON) as client:
            yield client


async def allow(asked: Asked) -> Any:
    option = next(item for item in asked.params["options"] if item["kind"] == "allow_once")
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
