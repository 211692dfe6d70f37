"""Questions answered: by whom, in which words, one by one, wrongly, too late, all at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId, parse
from gateway.answers import settle
from gateway.errors import RpcError
from gateway.jsonrpc import Failure, Reply, dump
from gateway.questions import Settled
from tests.gateway.stage import ASKING, RawClient, Stage, bare, ended, player, staged

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
OPENED = Event.of("session.opened", {"source": {"kind": "imported"}})
BATCH = {
    "questions": [
        {"qid": "q0", "question": "Which?", "choices": ["a", "b"], "multi_select": False},
        {"qid": "q1", "question": "Why?", "multi_select": False},
    ]
}
HERMES = {"server_requests": True}
ACP = {"server_requests": True, "acp_updates": True}


class Asking:
    """A question of the gateway's own, and how it ended."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.settled: list[Settled] = []
        self._ended = anyio.Event()

    async def ask(self, method: str, params: dict[str, Any], seconds: float | None) -> None:
        questions = self.stage.gateway.sessions.questions
        self.settled.append(await questions.ask(SESSION, method, params, timeout=seconds))
        self._ended.set()

    async def end(self) -> Settled:
        await self._ended.wait()
        return self.settled[0]


@asynccontextmanager
async def asking(
    method: str,
    params: dict[str, Any] | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - passed on
) -> AsyncGenerator[tuple[Stage, Asking], None]:
    """A session in which the gateway asks something."""
    async with bare(OPENED) as stage, anyio.create_task_group() as tasks:
        one = Asking(stage)
        tasks.start_soon(one.ask, method, params or {}, timeout)
        await stage.gateway.log.wait(SESSION, after=1)
        yield stage, one
        tasks.cancel_scope.cancel()


async def asked(client: RawClient, method: str) -> Any:
    """Follow the session, and return what is asked in it."""
    await client.ask("session.events.subscribe", {"session_id": SESSION})
    return await client.hear(method)


def of_type(events: list[Any], type_: str) -> list[Any]:
    return [event["payload"] for event in events if event["type"] == type_]


# -- locks -----------------------------------------------------------------------------------------


async def lock(client: RawClient, id_: str, question: str, answer: Any) -> Any:
    params = {"request_id": id_, "question_id": question, "answer": answer}
    return await client.ask("clarify.lock", params)


async def test_locks_one_by_one() -> None:
    """P-30, R085: an answer can be locked anew until all are; the last lock answers the batch."""
    async with asking("clarify", BATCH) as (stage, one), stage.near(**HERMES) as client:
        id_ = (await asked(client, "clarify")).id
        first = await lock(client, id_, "q0", "a")
        again = await lock(client, id_, "q0", "b")
        since = await client.ask("session.events.since", {"session_id": SESSION})
        with pytest.raises(RpcError) as unknown:
            await lock(client, id_, "q9", "x")
        last = await lock(client, id_, "q1", None)
        settled = await one.end()
        after = await lock(client, id_, "q1", "late")
        events = await stage.log(SESSION)

    assert first == again == {"status": "ok", "remaining": ["q1"]}
    assert since["open_requests"][0]["params"]["answers"] == {"q0": "b"}
    assert unknown.value.code == 4002
    assert last == {"status": "ok", "remaining": []}
    assert settled == Settled("answered", result={"answers": {"q0": "b", "q1": None}})
    assert after == {"status": "expired"}
    assert [item["answer"] for item in of_type(events, "request.locked")] == ["a", "b", None]
    assert len(of_type(events, "request.answered")) == 1


async def test_an_answer_is_laid_over_the_locks() -> None:
    """P-30: what was locked before stays, unless the final answer says otherwise."""
    async with asking("clarify", BATCH) as (stage, one), stage.near(**HERMES) as client:
        id_ = (await asked(client, "clarify")).id
        await lock(client, id_, "q0", "a")
        await client.say(dump(Reply(id_, {"answers": {"q1": "because"}})))
        assert (await one.end()).result == {"answers": {"q0": "a", "q1": "because"}}
        assert await lock(client, id_, "q0", "b") == {"status": "expired"}


async def test_locks_outlive_the_timeout() -> None:
    """P-30: a batch that nobody finished ends with what was locked."""
    async with (
        asking("clarify", BATCH, timeout=0.2) as (stage, one),
        stage.near(**HERMES) as client,
    ):
        id_ = (await asked(client, "clarify")).id
        await lock(client, id_, "q0", "a")
        settled = await one.end()

    assert (settled.how, settled.reason, settled.locked) == ("cancelled", "timeout", {"q0": "a"})


async def test_locks_outlive_a_restart(tmp_path: Path) -> None:
    """P-30, P-32: what was locked stands in the log, and so in `open_requests` of the next gateway."""
    imported = SessionId("imp-000000000000-1")
    opened = Event.of("request.opened", {"id": "srq-1", "method": "clarify", "params": BATCH})
    locked = Event.of("request.locked", {"id": "srq-1", "question_id": "q0", "answer": "a"})
    async with staged(tmp_path) as stage:
        await stage.gateway.log.append(imported, [OPENED, opened, locked])
    async with staged(tmp_path) as stage, stage.client() as client:
        since = await client.ask("session.events.since", {"session_id": imported})

    (entry,) = since["open_requests"]
    assert (entry["id"], entry["params"]["answers"]) == ("srq-1", {"q0": "a"})


async def test_two_lock_the_last_questions_at_once() -> None:
    """P-30, P-27: both locks count, and the batch is answered once."""
    async with (
        asking("clarify", BATCH) as (stage, one),
        stage.near(**HERMES) as left,
        stage.near(**HERMES) as right,
    ):
        id_ = (await asked(left, "clarify")).id
        await asked(right, "clarify")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lock, left, id_, "q0", "a")
            tasks.start_soon(lock, right, id_, "q1", "b")
        assert (await one.end()).result == {"answers": {"q0": "a", "q1": "b"}}
        events = await stage.log(SESSION)

    assert len(of_type(events, "request.answered")) == 1
    assert of_type(events, "request.late") == []


# -- approvals -------------------------------------------------------------------------------------


async def test_an_approval_is_answered_by_call() -> None:
    """P-31, R085: it is listed, seen and answered by its id; the answer returns when it is durable."""
    async with (
        asking("approval", {"command": "rm x"}) as (stage, one),
        stage.near(**HERMES) as client,
    ):
        where = {"session_id": SESSION}
        (waiting,) = (await client.ask("approval.pending", where))["approvals"]
        seen = {**where, "request_id": waiting["request_id"]}
        assert await client.ask("approval.received", seen) == {"acknowledged": True}
        before = await stage.lines(SESSION)
        with pytest.raises(RpcError) as wrong:
            await client.ask("approval.respond", {**seen, "choice": "perhaps"})
        other = {**where, "request_id": "another", "choice": "once"}
        assert await client.ask("approval.respond", other) == {"resolved": 0}
        assert await stage.lines(SESSION) == before  # refused and empty calls are not recorded
        assert await client.ask("approval.respond", {**seen, "choice": "once"}) == {"resolved": 1}
        assert len(of_type(await stage.log(SESSION), "request.answered")) == 1
        assert (await one.end()).result == {"choice": "once"}
        assert await client.ask("approval.respond", {**seen, "choice": "once"}) == {"resolved": 0}
        assert await client.ask("approval.received", seen) == {"acknowledged": False}

    assert wrong.value.code == 4002
    assert waiting["command"] == "rm x"


@pytest.mark.parametrize(("params", "left"), [({"all": True}, 0), ({}, 2)])
async def test_one_approval_or_all(params: dict[str, Any], left: int) -> None:
    """P-31: without an id the oldest is answered, with `all` each; the default is to deny."""
    async with bare(OPENED) as stage, anyio.create_task_group() as tasks:
        answers = [Asking(stage) for _ in range(3)]
        for one in answers:
            tasks.start_soon(one.ask, "approval", {"command": "x"}, None)
        await stage.gateway.log.wait(SESSION, after=3)
        async with stage.near(**HERMES) as client:
            where = {"session_id": SESSION}
            count = await client.ask("approval.respond", {**where, **params})
            pending = await client.ask("approval.pending", where)
            assert (await answers[0].end()).result == {"choice": "deny"}
        tasks.cancel_scope.cancel()

    assert (count["resolved"], len(pending["approvals"])) == (3 - left, left)


async def test_an_answer_for_all() -> None:
    """P-31: `all` in the answer to one approval answers the others, too."""
    async with bare(OPENED) as stage, anyio.create_task_group() as tasks:
        answers = [Asking(stage) for _ in range(3)]
        for one in answers:
            tasks.start_soon(one.ask, "approval", {"command": "x"}, None)
        async with stage.near(**HERMES) as client:
            request = await asked(client, "approval")
            await client.say(dump(Reply(request.id, {"choice": "session", "all": True})))
            for one in answers:
                assert (await one.end()).result["choice"] == "session"
        tasks.cancel_scope.cancel()


# -- who, when, and what is no answer --------------------------------------------------------------


async def test_raced_a_thousand_times() -> None:
    """P-27, P-28: in every one of 1,000 races one answer counts, and the other is late."""
    async with bare(OPENED) as stage:
        sessions, log = stage.gateway.sessions, stage.gateway.log
        verdicts: list[str] = []

        async def say(id_: str, value: str) -> None:
            reply = Reply(id_, {"choice": value})
            verdicts.append(await settle(sessions, log, SESSION, reply, by=value))

        for _ in range(1000):
            async with anyio.create_task_group() as tasks:
                one, head = Asking(stage), len(await stage.lines(SESSION))
                tasks.start_soon(one.ask, "approval", {}, None)
                await log.wait(SESSION, after=head)
                id_ = parse((await log.read(SESSION, after=head)).lines[0])["payload"]["id"]
                tasks.start_soon(say, id_, "once")
                tasks.start_soon(say, id_, "deny")
                settled = await one.end()
            first = next(
                event["payload"]["by"]
                for event in map(parse, (await log.read(SESSION, after=head)).lines)
                if event["type"] == "request.answered"
            )
            assert settled.result == {"choice": first}
        events = await stage.log(SESSION)

    assert sorted(verdicts) == ["accepted"] * 1000 + ["late"] * 1000
    answered = [payload["id"] for payload in of_type(events, "request.answered")]
    assert len(answered) == len(set(answered)) == 1000


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("approval", {"choice": "perhaps"}),
        ("approval", {}),
        ("approval", None),
        ("clarify", {"answers": "a"}),
        ("clarify", {"answers": {"q0": 7}}),
        ("secret", {"value": 7}),
        ("sudo", ["s3cret-word"]),
        ("vault.code", {"wrong": "s3cret-word"}),
    ],
)
async def test_what_is_no_answer(method: str, result: Any) -> None:
    """R077: it is neither a yes nor a no: declined as malformed, unrecorded; the question waits."""
    async with asking(method, BATCH) as (stage, one), stage.near(**HERMES) as client:
        request = await asked(client, method)
        await client.say(dump(Reply(request.id, result)))
        await client.ask("gateway.ping")
        events = await stage.log(SESSION)
        since = await client.ask("session.events.since", {"session_id": SESSION})

    assert of_type(events, "request.declined") == [
        {"id": request.id, "code": -32602, "by": "client-1"}
    ]
    assert [item["id"] for item in since["open_requests"]] == [request.id]
    assert "s3cret-word" not in str(events)
    assert one.settled == []


async def test_a_deadline_passes() -> None:
    """P-27, P-29: with nobody to ask it waits in `open_requests` until its deadline; late is late."""
    async with asking("approval", {}, timeout=0.1) as (stage, one), stage.near(**HERMES) as client:
        since = await client.ask("session.events.since", {"session_id": SESSION})
        settled = await one.end()
        where = {"session_id": SESSION}
        after = await client.ask("session.events.since", where)
        respond = {**where, "request_id": since["open_requests"][0]["id"]}
        assert await client.ask("approval.respond", respond) == {"resolved": 0}
        events = await stage.log(SESSION)

    assert (settled.how, settled.reason) == ("cancelled", "timeout")
    assert (len(since["open_requests"]), after["open_requests"]) == (1, [])
    assert isinstance(of_type(events, "request.opened")[0]["deadline"], int)
    assert [item["reason"] for item in of_type(events, "request.cancel")] == ["timeout"]


@pytest.mark.parametrize(("call", "reason"), [("session.close", "session_closed")])
async def test_the_end_of_a_session_ends_its_questions(call: str, reason: str) -> None:
    """P-27, P-31: they are withdrawn, and the log says why."""
    async with asking("clarify", BATCH) as (stage, one), stage.near(**HERMES) as client:
        await client.ask(call, {"session_id": SESSION})
        assert (await one.end()).reason == reason


async def test_shutdown_withdraws() -> None:
    """P-27: a gateway that goes away leaves no question of its own behind."""
    async with asking("secret") as (stage, one):
        await stage.gateway.sessions.stop_all()
        assert (await one.end()).reason == "shutdown"


async def test_a_refusal_is_an_answer() -> None:
    """P-28: an error other than `cannot show` ends the question, and is what the asker gets."""
    async with asking("approval") as (stage, one), stage.near(**HERMES) as client:
        request = await asked(client, "approval")
        await client.say(dump(Failure(request.id, RpcError(-32603, "crashed"))))
        settled = await one.end()

    assert settled.how == "refused"
    assert settled.error
    assert settled.error.message == "crashed"


async def test_a_past_full_of_questions_asks_only_what_is_open() -> None:
    """R087, P-19: of twenty questions that ended and one that did not, the one is asked, at the
    border and not before.
    """
    past = [OPENED]
    for number in range(21):
        opened = {"id": f"srq-{number:012}", "method": "approval", "params": {"request_id": "r"}}
        ended = {"id": f"srq-{number:012}", "method": "approval", "by": "x", "result": {}}
        past.append(Event.of("request.opened", opened))
        past += [Event.of("request.answered", ended)] if number != 7 else []
    async with bare(*past) as stage, stage.near(**HERMES) as client:
        await client.ask("session.events.subscribe", {"session_id": SESSION})
        request = await client.hear("approval")
        await client.ask("gateway.ping")
        asked_ = [
            n for n, frame in enumerate(client.frames) if b'"method":"approval"' in frame[:90]
        ]
        border = next(n for n, frame in enumerate(client.frames) if b"caught_up" in frame)

    assert request.id == f"srq-{7:012}"
    assert [n > border for n in asked_] == [True]


# -- an agent's question, asked of a Hermes client -------------------------------------------------


async def test_a_hermes_client_permits() -> None:
    """P-6, P-28: asked as `approval`, answered with a choice; the agent gets its own option."""
    await permitted({"choice": "once"}, "allow_once")


async def test_a_hermes_client_denies() -> None:
    """P-6, R077: a denial is the agent's own option to reject."""
    await permitted({"choice": "deny"}, "reject_once")


async def permitted(result: dict[str, Any], kind: str) -> None:
    async with agent_asks() as (stage, client, session_id, prompt):
        request = await client.hear("approval")
        await client.say(dump(Reply(request.id, result)))
        await client.events(until=lambda params: params["type"] == "message.complete")
        events = await stage.log(session_id)

    opened, answered = (of_type(events, f"request.{how}")[0] for how in ("opened", "answered"))
    option = next(item for item in opened["params"]["options"] if item["kind"] == kind)
    assert answered["result"]["outcome"]["optionId"] == option["optionId"]
    assert of_type(events, "prompt.finished")[0]["prompt"] == prompt


async def test_another_client_answers_in_its_own_words() -> None:
    """P-6, P-28: one client is asked in ACP's words, another in Hermes's; the card of one closes."""
    async with agent_asks() as (stage, hermes, session_id, prompt):
        card = await hermes.hear("approval")
        async with stage.near(**ACP) as client:
            await client.ask("session.activate", {"session_id": session_id})
            answer = await client.ask("session.activate", {"session_id": session_id})
            (entry,) = answer["open_requests"]
            option = entry["params"]["options"][-1]["optionId"]
            reply = Reply(entry["id"], {"outcome": {"outcome": "selected", "optionId": option}})
            await client.say(dump(reply))
            await client.events(until=ended(prompt))
        heard = await hermes.events(until=lambda params: params["type"] == "message.complete")

    assert entry["method"] == "session/request_permission"
    assert entry["id"] == card.id
    closed = [event["payload"] for event in heard if event["type"] == "request.cancel"]
    assert closed == [{"id": card.id, "method": "approval", "reason": "resolved"}]


async def test_an_option_that_was_not_offered() -> None:
    """R077: an agent never gets one, whatever a client says."""
    async with agent_asks() as (stage, hermes, session_id, _), stage.near(**ACP) as client:
        await hermes.hear("approval")
        answer = await client.ask("session.activate", {"session_id": session_id})
        (entry,) = answer["open_requests"]
        for outcome in (
            {"outcome": "selected", "optionId": "root"},
            {"outcome": "selected"},
            "yes",
        ):
            await client.say(dump(Reply(entry["id"], {"outcome": outcome})))
        await client.ask("gateway.ping")
        events = await stage.log(session_id)

    assert [item["code"] for item in of_type(events, "request.declined")] == [-32602] * 3
    assert of_type(events, "request.answered") == []


@asynccontextmanager
async def agent_asks() -> AsyncGenerator[tuple[Stage, RawClient, str, int], None]:
    """A session whose agent asks a Hermes client for a permission."""
    capture, prompt = ASKING
    with TemporaryDirectory() as folder:
        async with (
            staged(Path(folder), player(capture)) as stage,
            stage.client(acp_updates=False) as client,
        ):
            session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
            params = {"session_id": session_id, "text": prompt}
            receipt = await client.ask("prompt.submit", params)
            yield stage, client, session_id, receipt["seq"]
