"""Several gateways over one log: who writes a session, who only reads it, who takes it over."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import anyio
import pytest

from eventlog import Event, Fenced, SessionId, parse
from gateway.agent_spec import AgentSpec
from gateway.client import Backoff, Dial, client_of
from gateway.errors import CannotConnect, Code, RpcError
from gateway.jsonrpc import Request
from gateway.jsonrpc import parse as parse_frame
from gateway.serve import gateway_over
from gateway.server import Server
from gateway.transports import Transport, memory_pair
from tests.gateway.shared import AGENT, DURATION, Table, View
from tests.gateway.stage import Stage, actor, ended, said, scripted

pytestmark = pytest.mark.anyio


@dataclass
class House:
    """Two gateways and what they share."""

    table: Table
    a: Stage
    b: Stage

    @property
    def views(self) -> tuple[View, View]:
        return cast("View", self.a.gateway.log), cast("View", self.b.gateway.log)


@asynccontextmanager
async def staged_over(table: Table, owner: str) -> AsyncGenerator[Stage, None]:
    async with staged_with(table, owner, {"small": scripted("small", AGENT)}) as stage:
        yield stage


@asynccontextmanager
async def staged_with(
    table: Table, owner: str, agents: Mapping[str, AgentSpec]
) -> AsyncGenerator[Stage, None]:
    async with gateway_over(table.view(owner), agents) as gateway:
        yield Stage(gateway, Server(gateway), "")


@asynccontextmanager
async def house() -> AsyncGenerator[House, None]:
    table = Table()
    with anyio.fail_after(40):
        async with staged_over(table, "a") as a, staged_over(table, "b") as b:
            yield House(table, a, b)


def events_of(table: Table, session_id: str) -> list[bytes]:
    return table.store._streams[SessionId(session_id)].lines


async def test_every_gateway_reads_and_follows_what_one_writes() -> None:
    """P-9, P-11: a client of another gateway hears every event of a session, with its numbers."""
    async with (
        house() as both,
        both.a.near(acp_updates=True) as one,
        both.b.near(acp_updates=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        await other.ask("session.events.subscribe", {"session_id": session, "last_seen": 0})
        seq = (await one.ask("prompt.submit", {"session_id": session, "text": "go"}))["seq"]
        heard = await other.events(until=ended(seq))

        assert [event["seq"] for event in heard] == list(range(1, len(heard) + 1))
        since = await other.ask("session.events.since", {"session_id": session})
        assert since["events"][: len(heard)] == heard
        assert (
            since["epoch"]
            == (await one.ask("session.events.since", {"session_id": session}))["epoch"]
        )


WRITES = {
    "prompt.submit": {"text": "hi"},
    "session.activate": {},
    "session.resume": {},
    "session.close": {},
    "session.delete": {},
    "session.interrupt": {},
    "session.configure": {"mode": "plan"},
    "session.title": {"title": "mine"},
    "session.steer": {"text": "hi"},
    "session.redirect": {"text": "hi"},
    "approval.respond": {"choice": "once"},
}


async def test_what_would_write_a_session_of_another_gateway_names_it() -> None:
    """Nothing is written by a gateway that does not host a session, and the error says who does."""
    async with house() as both, both.a.near(acp_updates=True) as one, both.b.near() as other:
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        before = list(events_of(both.table, session))

        for method, params in WRITES.items():
            with pytest.raises(RpcError) as refused:
                await other.ask(method, {"session_id": session, **params})
            assert refused.value.code == Code.NOT_LIVE, method
            assert refused.value.data == {"session_id": session, "owner": "a"}, method
        assert events_of(both.table, session) == before
        (row,) = (await other.ask("session.list"))["sessions"]
        assert (row["status"], row["owner"]) == ("idle", "a")
        assert session in both.a.gateway.sessions.live


async def test_a_question_is_asked_only_where_its_agent_is() -> None:
    """A client of another gateway sees that a question is open, and is not asked it: its answer
    could reach nobody.
    """
    async with (
        house() as both,
        both.a.near(acp_updates=True, server_requests=True) as one,
        both.b.near(acp_updates=True, server_requests=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        await other.ask("session.events.subscribe", {"session_id": session})
        await one.ask("prompt.submit", {"session_id": session, "text": "ask"})
        await one.hear("session/request_permission")
        await other.events(until=lambda event: event["type"] == "request.opened")
        asked = await other.ask("session.events.since", {"session_id": session})

        assert len(asked["open_requests"]) == 1
        frames = [parse_frame(frame) for frame in other.frames]
        assert not any(isinstance(frame, Request) for frame in frames)


async def test_a_session_that_another_gateway_deletes_is_gone_here_too() -> None:
    """P-20a: its subscriber hears `session.deleted`, once, wherever it was deleted; and its id is
    nobody's.
    """
    async with (
        house() as both,
        both.a.near(acp_updates=True) as one,
        both.b.near(acp_updates=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session}
        await one.ask("session.events.subscribe", where)
        await other.ask("session.events.subscribe", where)
        await one.ask("session.close", where)
        await other.events(until=lambda event: event["type"] == "session.closed")
        await one.ask("session.delete", where)
        told = [await client.hear("session.deleted") for client in (one, other)]
        with pytest.raises(RpcError) as gone:
            await other.ask("session.events.subscribe", where)
        for client in (one, other):
            await client.ask("gateway.ping")
            assert sum(b'"session.deleted"' in frame for frame in client.frames) == 1

    assert [notice.params for notice in told] == [where, where]
    assert gone.value.code == 4007


async def test_a_dormant_session_is_anyones() -> None:
    """After one gateway has given a session back, the other resumes it and goes on behind it."""
    async with (
        house() as both,
        both.a.near(acp_updates=True) as one,
        both.b.near(acp_updates=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        await one.ask("session.close", {"session_id": session})
        assert SessionId(session) not in both.table.leases
        head = len(events_of(both.table, session))
        await other.ask("session.title", {"session_id": session, "title": "theirs"})
        assert SessionId(session) not in both.table.leases
        answer = await other.ask("session.resume", {"session_id": session})

        assert answer["latest_seq"] > head + 1
        assert both.table.leases[SessionId(session)].owner == "b"


async def test_a_gateway_that_dies_is_succeeded() -> None:
    """P-40: when its lease is over, another gateway ends its sessions' turns, and only those of a
    gateway that died; then anyone can resume them.
    """
    async with (
        house() as both,
        both.a.near(acp_updates=True) as one,
        both.b.near(acp_updates=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        await other.ask("session.events.subscribe", {"session_id": session})
        view, _ = both.views
        seq = (await one.ask("prompt.submit", {"session_id": session, "text": "wait"}))["seq"]
        view.paused = True
        await both.b.gateway.sessions.ownership.take_over()
        with pytest.raises(RpcError):  # it may live
            await other.ask("session.resume", {"session_id": session})

        both.table.pass_(DURATION + 1)
        await both.b.gateway.sessions.ownership.take_over()
        heard = await other.events(until=ended(seq))
        assert [event["type"] for event in heard][-2:] == ["agent.exited", "prompt.finished"]
        assert heard[-1]["payload"]["error"]["data"] == {"reason": "gateway_restarted"}
        assert SessionId(session) not in both.table.leases


@pytest.mark.parametrize("looks", [True, False])
async def test_a_paused_gateway_that_wakes_up_writes_nothing(*, looks: bool) -> None:
    """A gateway that was stopped across its lease is refused by the log, whether or not it looks
    at the clock first; it ends its agent, and its clients are told who has the session.
    """
    async with (
        house() as both,
        both.a.near(acp_updates=True) as one,
        both.b.near(acp_updates=True) as other,
    ):
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        view, _ = both.views
        view.heard_of_loss = looks
        await one.ask("prompt.submit", {"session_id": session, "text": "wait"})
        view.paused = True
        both.table.pass_(DURATION + 1)
        await other.ask("session.resume", {"session_id": session})
        theirs = len(events_of(both.table, session))

        with pytest.raises(RpcError) as refused:
            await one.ask("prompt.submit", {"session_id": session, "text": "late"})
        assert refused.value.code == Code.NOT_LIVE
        view.paused = False
        both.table.pass_(0)
        if live := both.a.gateway.sessions.live.get(SessionId(session)):
            await live.gone.wait()

        lines = [parse(text) for text in events_of(both.table, session)]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert len(lines) == theirs
        assert both.table.leases[SessionId(session)].owner == "b"
        exits = [line["payload"].get("reason") for line in lines if line["type"] == "agent.exited"]
        assert exits == ["gateway_restarted"]


async def test_a_gateway_that_was_cut_off_ends_what_nobody_took_over() -> None:
    """P-40: a gateway that lost its leases and lives on ends those turns itself: the others see
    that it lives, and leave them alone.
    """
    async with house() as both, both.a.near(acp_updates=True) as one:
        session = (await one.ask("session.create", {"cwd": "."}))["session_id"]
        await one.ask("prompt.submit", {"session_id": session, "text": "wait"})
        view, _ = both.views
        live = both.a.gateway.sessions.live[SessionId(session)]
        view.paused = True
        both.table.pass_(DURATION + 1)
        view.paused = False
        view.look()
        await live.gone.wait()
        both.table.pass_(0)
        await both.b.gateway.sessions.ownership.take_over()
        assert (await both.a.gateway.sessions.state(SessionId(session))).running

        await both.a.gateway.sessions.ownership.take_over()
        assert not (await both.a.gateway.sessions.state(SessionId(session))).running
        assert SessionId(session) not in both.table.leases
        await one.ask("session.resume", {"session_id": session})


async def test_one_session_of_a_shared_agent_is_lost_and_the_others_go_on() -> None:
    """P-40: another gateway takes one of the sessions of a process over, in the middle of a turn:
    it is told to stop there, writes nothing into it, and works on in the others.
    """
    table = Table()
    agents = {"actor": actor({"sessionCapabilities": {"close": {}}}, shared=True)}
    with anyio.fail_after(40):
        async with staged_with(table, "a", agents) as a, staged_over(table, "b"):
            async with a.near(acp_updates=True) as one:
                lost, kept, busy = [
                    {"session_id": (await one.ask("session.create", {"cwd": "."}))["session_id"]}
                    for _ in range(3)
                ]
                for where in (lost, busy):
                    await one.ask("prompt.submit", {**where, "text": "wait"})
                live = a.gateway.sessions.live[SessionId(lost["session_id"])]
                table.grant(SessionId(lost["session_id"]), "b")
                theirs = list(events_of(table, lost["session_id"]))
                await live.gone.wait()
                assert events_of(table, lost["session_id"]) == theirs
                await one.ask("session.events.subscribe", kept)
                seq = (await one.ask("prompt.submit", {**kept, "text": "calls"}))["seq"]
                heard = await one.events(until=ended(seq))
                state = await a.gateway.sessions.state(SessionId(busy["session_id"]))

            assert state.running
            assert not live.agent.gone.is_set()
            assert "session/cancel" in said(heard)
            assert "session/close" in said(heard)


async def test_what_is_held_twice_is_given_back_once() -> None:
    """A session stays held while anything here works on it, and is lost to all of it at once."""
    table = Table()
    session = SessionId("s-1")
    async with gateway_over(table.view("a"), {}) as gateway:
        ownership = gateway.sessions.ownership
        async with ownership.writing(session):
            async with ownership.writing(session):
                pass
            await gateway.log.append(session, [Event.of("notice", {"message": "one"})])
            view = cast("View", gateway.log)
            view.paused = True
            table.pass_(DURATION + 1)
            view.paused = False
            with pytest.raises(Fenced):
                async with ownership.writing(session):
                    pass
        async with ownership.writing(session):
            await gateway.log.append(session, [Event.of("notice", {"message": "two"})])
    assert table.leases == {}


OPEN = [
    Event.of("session.opened", {"source": {"kind": "hosted", "name": "small"}, "protocol": 1}),
    Event.of("prompt.submitted", {"content": []}),
]


async def test_one_session_that_cannot_be_taken_over_keeps_none_of_the_others() -> None:
    """P-40: what could not be ended is tried again, and what else there is is ended meanwhile."""
    table = Table()
    names = [SessionId("s-1"), SessionId("s-2")]
    async with gateway_over(table.view("a"), {}) as gateway:
        ownership, view = gateway.sessions.ownership, cast("View", gateway.log)
        for name in names:
            async with ownership.writing(name):
                await gateway.log.append(name, OPEN)
            ownership.look_after(name)  # its end could not be recorded
        view.unreachable = {names[0]}
        await ownership.take_over()
        assert [(await gateway.sessions.state(name)).running for name in names] == [True, False]

        view.unreachable = set()
        await ownership.take_over()
        assert not (await gateway.sessions.state(names[0])).running
        before = len(events_of(table, names[0]))
        await ownership.take_over()
        assert len(events_of(table, names[0])) == before


async def test_a_client_goes_on_at_another_gateway() -> None:
    """P-9, P-18, P-19: a client with two addresses loses its gateway, goes on at the other with
    the same epoch and numbers, and hears everything once.
    """
    async with house() as both:
        reach = {"a": True}
        lines: list[Transport] = []

        def way(stage: Stage, name: str) -> Dial:
            @asynccontextmanager
            async def dial() -> AsyncGenerator[Transport, None]:
                if not reach.get(name, True):
                    raise CannotConnect(name, "it is gone")
                here, there = memory_pair()
                async with here, there, anyio.create_task_group() as tasks:
                    tasks.start_soon(lambda: stage.server.converse(there, asks=False))
                    lines.append(here)
                    yield here
                    tasks.cancel_scope.cancel()

            return dial

        numbers: list[int] = []
        ways = (way(both.a, "a"), way(both.b, "b"))
        async with client_of(*ways, backoff=Backoff(first=0.01, most=0.05)) as client:
            session = (await client.request("session.create", {"cwd": "."}))["session_id"]
            follower = await client.follow(
                session, seen=lambda event, _: numbers.append(event["seq"])
            )
            await client.submit(session, "wait")
            await follower.until(lambda me: me.seq > 10)
            epoch = follower.epoch
            both.views[0].paused, reach["a"] = True, False
            await client.drop()
            both.table.pass_(DURATION + 1)
            await both.b.gateway.sessions.ownership.take_over()
            await follower.until(lambda me: me.caught_up and me.transcript.status == "idle")
            await client.request("session.resume", {"session_id": session})
            await client.submit(session, "wait")
            await follower.until(lambda me: len(me.transcript.turns) == 2)

        assert len(lines) == 2
        assert (follower.epoch, follower.resets) == (epoch, 0)
        assert numbers == list(range(1, len(numbers) + 1))
