"""Questions to the user: asked of everybody who can show them, answered once, never lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import GATEWAY, Event, SessionId
from gateway.errors import RpcError
from gateway.jsonrpc import Failure, Reply, Request, dump
from tests.gateway.stage import ASKING, RawClient, Stage, allow, bare, ended, player, staged

pytestmark = pytest.mark.anyio

CAPTURE, PROMPT = ASKING
METHOD = "session/request_permission"


@asynccontextmanager
async def asking(folder: Path) -> AsyncGenerator[tuple[Stage, RawClient, str, int], None]:
    """A session that has been given a prompt whose answer needs a permission."""
    async with staged(folder, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        receipt = await submit(client, session_id)
        yield stage, client, session_id, receipt["seq"]


async def submit(client: RawClient, session_id: str) -> Any:
    """Send the prompt that leads to the question."""
    return await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})


def of_type(events: list[Any], *types: str) -> list[tuple[str, Any]]:
    return [(e["type"], e["payload"].get("id")) for e in events if e["type"] in types]


async def test_question_is_an_event_before_it_is_a_frame(tmp_path: Path) -> None:
    """P-27, P-28, R066: durable first, then asked; the answer is in the log before the agent has it."""
    async with asking(tmp_path) as (stage, client, session_id, prompt):
        request_id = await allow(client, kind="reject_once")
        await client.events(until=ended(prompt))
        events = await stage.log(session_id)

    frames = client.frames
    opened = next(n for n, frame in enumerate(frames) if b'"type":"request.opened"' in frame)
    asked = next(
        n
        for n, frame in enumerate(frames)
        if b'"id":"%b"' % request_id.encode() in frame and b'"method":"session/req' in frame[:120]
    )
    assert opened < asked
    assert of_type(events, "request.opened", "request.answered") == [
        ("request.opened", request_id),
        ("request.answered", request_id),
    ]
    answered = next(e for e in events if e["type"] == "request.answered")
    assert answered["payload"]["by"].startswith("client-")
    assert answered["payload"]["method"] == METHOD


async def test_question_outlives_its_client(tmp_path: Path) -> None:
    """R069, P-17, P-19: who comes later is asked with the original id, after the border; once."""
    async with staged(tmp_path, player(CAPTURE)) as stage:
        async with stage.client() as client:
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            prompt = (await submit(client, session_id))["seq"]
            asked = await client.hear(METHOD)
        async with stage.client() as client:
            since = await client.ask("session.events.since", {"session_id": session_id})
            await client.ask("session.events.subscribe", {"session_id": session_id})
            again = await client.hear(METHOD)
            border = next(n for n, f in enumerate(client.frames) if b'"session.caught_up"' in f)
            assert client.frames.index(client.frames[-1]) > border
            await client.say(dump(Reply(again.id, chosen(again.params, "allow_once"))))
            await client.events(until=ended(prompt))
        events = await stage.log(session_id)

    assert again.id == asked.id
    assert again.params["replayed"] is True
    assert [item["id"] for item in since["open_requests"]] == [asked.id]
    assert len(of_type(events, "request.answered")) == 1


async def test_snapshot_holds_what_is_open(tmp_path: Path) -> None:
    """P-17, P-28: activate names the open question, and then it is not asked a second time."""
    async with asking(tmp_path) as (stage, first, session_id, prompt):
        asked = await first.hear(METHOD)
        async with stage.client() as client:
            answer = await client.ask("session.activate", {"session_id": session_id})
            (entry,) = answer["open_requests"]
            await client.say(dump(Reply(entry["id"], chosen(entry["params"], "allow_once"))))
            await client.events(until=ended(prompt))
            frames = [frame for frame in client.frames if b'"method":"session/req' in frame[:120]]

    assert entry["id"] == asked.id
    assert entry["method"] == METHOD
    assert answer["running"] is True
    assert frames == []


async def test_what_a_snapshot_lists_is_not_asked_at_the_border() -> None:
    """P-28: never both, also if the snapshot is taken while history is on its way."""
    asked = {"questions": [{"qid": "q0", "question": "Which?"}]}
    opened = {"id": "srq-0123456789ab", "method": "clarify", "params": asked}
    history = [Event.of("notice", {"text": "x" * 2_000})] * 2_000
    named = {"session_id": "s-1"}
    async with (
        bare(Event.of("request.opened", opened), *history) as stage,
        stage.near(acp_updates=True, server_requests=True) as client,
    ):
        await client.say(dump(Request("s", "session.events.subscribe", named)))
        await client.events(until=lambda params: params["seq"] == 2)
        snapshot = await client.ask("session.resume", named)
        await client.hear("session.caught_up")
        await client.ask("gateway.ping")

    assert snapshot["latest_seq"] < 2_001
    assert [item["id"] for item in snapshot["open_requests"]] == [opened["id"]]
    assert not any(b'"replayed"' in frame for frame in client.frames)


async def test_first_answer_wins(tmp_path: Path) -> None:
    """P-28, P-27: of two that answer, one settles it; the other is told, and recorded as late."""
    async with asking(tmp_path) as (stage, one, session_id, _):
        asked = await one.hear(METHOD)
        async with stage.client() as other:
            await other.ask("session.activate", {"session_id": session_id})
            await one.say(dump(Reply(asked.id, chosen(asked.params, "allow_once"))))
            await other.events(until=lambda params: params["type"] == "request.answered")
            await other.say(dump(Reply(asked.id, chosen(asked.params, "reject_once"))))
            await one.events(until=lambda params: params["type"] == "request.late")
        events = await stage.log(session_id)

    kinds = of_type(events, "request.answered", "request.late")
    assert kinds == [("request.answered", asked.id), ("request.late", asked.id)]
    late = next(e for e in events if e["type"] == "request.late")
    assert late["payload"]["value"] == chosen(asked.params, "reject_once")


async def test_raced_answers_settle_once(tmp_path: Path) -> None:
    """P-27, P-28: ten clients answer at the same moment; one answer is recorded as the answer."""
    async with asking(tmp_path) as (stage, first, session_id, prompt):
        asked = await first.hear(METHOD)
        reply = dump(Reply(asked.id, chosen(asked.params, "allow_once")))

        ready: list[None] = []
        go = anyio.Event()

        async def answer() -> None:
            async with stage.near(server_requests=True, acp_updates=True) as client:
                await client.ask("session.activate", {"session_id": session_id})
                ready.append(None)
                if len(ready) == 10:
                    go.set()
                await go.wait()
                await client.say(reply)
                await client.ask("gateway.ping")

        async with anyio.create_task_group() as racing:
            for _ in range(10):
                racing.start_soon(answer)
        await first.events(until=ended(prompt))
        events = await stage.log(session_id)
        beside = await stage.log(GATEWAY)  # who came when it was over had not been asked

    assert len(of_type(events, "request.answered")) == 1
    assert len(of_type([*events, *beside], "request.late")) == 9


async def test_client_that_cannot_show_it_declines(tmp_path: Path) -> None:
    """P-29: -32601 leaves the question open for somebody else, and is recorded."""
    async with asking(tmp_path) as (stage, one, session_id, prompt):
        asked = await one.hear(METHOD)
        await one.say(dump(Failure(asked.id, RpcError(-32601, "no such method"))))
        await one.events(until=lambda params: params["type"] == "request.declined")
        async with stage.client() as other:
            answer = await other.ask("session.activate", {"session_id": session_id})
            await other.say(dump(Reply(asked.id, chosen(asked.params, "allow_once"))))
            await other.events(until=ended(prompt))
        events = await stage.log(session_id)

    assert [item["id"] for item in answer["open_requests"]] == [asked.id]
    declined = next(e for e in events if e["type"] == "request.declined")
    assert declined["payload"]["code"] == -32601
    assert len(of_type(events, "request.answered")) == 1


async def test_client_that_takes_no_questions_gets_none(tmp_path: Path) -> None:
    """P-6, P-29: without `server_requests` a socket is asked nothing; the question waits."""
    async with (
        staged(tmp_path, player(CAPTURE)) as stage,
        stage.client(server_requests=False) as client,
    ):
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        await submit(client, session_id)
        await client.events(until=lambda params: params["type"] == "request.opened")
        await client.ask("gateway.ping")
        since = await client.ask("session.events.since", {"session_id": session_id})
        asked = [frame for frame in client.frames if b'"method":"session/req' in frame[:120]]

    assert asked == []
    assert len(since["open_requests"]) == 1


async def test_interrupt_withdraws_the_question(tmp_path: Path) -> None:
    """P-31, P-37: an interrupt is acknowledged when the turn's questions are withdrawn, in the
    log and towards the agent, which ends the turn as cancelled.
    """
    async with asking(tmp_path) as (stage, client, session_id, prompt):
        asked = await client.hear(METHOD)
        answer = await client.ask("session.interrupt", {"session_id": session_id})
        at_ack = of_type(await stage.log(session_id), "turn.interrupted", "request.cancel")
        heard = await client.events(until=ended(prompt))
        events = await stage.log(session_id)

    assert answer["status"] == "interrupted"
    assert at_ack == [("turn.interrupted", None), ("request.cancel", asked.id)]
    assert heard[-1]["payload"]["result"]["stopReason"] == "cancelled"
    cancelled = next(e for e in events if e["type"] == "request.cancel")
    assert cancelled["payload"]["reason"] == "interrupted"
    assert of_type(events, "request.answered") == []


async def test_interrupt_of_an_idle_session_changes_nothing(tmp_path: Path) -> None:
    """P-31: without a turn there is nothing to stop, and nothing is recorded."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        head = (await stage.gateway.log.read(SessionId(session_id), limit=1)).head
        if head < 3:  # the agent says what commands it has, a moment after the session is there
            await stage.gateway.log.wait(SessionId(session_id), after=2)
        before = await stage.lines(session_id)
        answer = await client.ask("session.interrupt", {"session_id": session_id})

        assert answer["status"] == "not_interrupted"
        assert await stage.lines(session_id) == before


async def test_answer_to_what_nobody_asked(tmp_path: Path) -> None:
    """P-28: an answer to an unknown id changes nothing, and is recorded without its value."""
    async with asking(tmp_path) as (stage, client, session_id, _):
        await client.hear(METHOD)
        await client.say(dump(Reply("srq-000000000000", {"choice": "a secret value"})))
        await client.ask("gateway.ping")
        beside = await stage.log(GATEWAY)
        own = await stage.log(session_id)

    assert [(e["type"], e["payload"]) for e in beside] == [
        ("request.late", {"id": "srq-000000000000"})
    ]
    assert of_type(own, "request.answered", "request.late") == []


def chosen(params: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the answer that picks the first option of this kind."""
    option = next(item for item in params["options"] if item["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
