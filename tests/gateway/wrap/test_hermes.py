"""In front of a Hermes gateway: everything recorded, durable ids, and nothing that is lost."""

from __future__ import annotations

import logging
from base64 import b64encode
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import EndOfStream

from eventlog import GATEWAY, Event, LogUnavailable, codec
from gateway.gateway_player import RING, GatewayPlayer
from gateway.transports import memory_pair
from gateway.wrap import account
from tests.gateway.wrap.house import (
    HERMES,
    House,
    Json,
    Refused,
    Window,
    event,
    gateway,
    house,
    opening,
)

pytestmark = pytest.mark.anyio

STORED = "20260101_000000_aaaaaa"
SUBMIT = ("in", {"id": "r2", "method": "prompt.submit"})
STREAMING: Json = {"id": "r2", "result": {"status": "streaming"}}


def upstream_events(capture: str) -> list[dict[str, Any]]:
    """Return the numbered events that a recorded gateway sent, each once."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for text in (HERMES / f"{capture}.jsonl").read_bytes().splitlines():
        value = codec.loads(text)
        match value["frame"]:
            case {"method": "event", "params": {"session_id": str(id_), "seq": int(seq)} as params}:
                found.setdefault((id_, seq), params)
    return list(found.values())


def said(events: list[Any]) -> list[tuple[str, Any]]:
    """Return what the gateway's own events say."""
    return [(item["type"], item.get("payload") or {}) for item in events if item.get("seq")]


def from_upstream(events: list[Any]) -> list[Any]:
    """Return those that came from the gateway."""
    return [item for item in events if "origin" in item]


async def create(window: Window) -> str:
    """Make a session; return its id."""
    name: str = (await window.ask("session.create", cols=100))["session_id"]
    return name


def everything_in(folder: Path) -> bytes:
    """Return what stands in all files: the database, its WAL, its shared memory."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def seen(home: House, session_id: str, count: int) -> list[Any]:
    """Return the gateway's events in a session, once there are so many."""
    while len(found := from_upstream(log := await home.recorded(session_id))) < count:
        await home.log.wait(home.session(session_id), after=len(log))
    return found


async def test_a_turn_is_recorded_and_shown_under_the_durable_id(tmp_path: Path) -> None:
    """Clients know a session by its stored id; each of the gateway's events reaches them with a
    number of the log, and with its place upstream as origin (P-8, P-22)."""
    sent = upstream_events("01_basic_turn")
    async with house(tmp_path, "01_basic_turn") as home, home.window() as window:
        created = await window.ask("session.create", cols=100)
        assert created["session_id"] == created["stored_session_id"]
        name = created["session_id"]
        submitted = await window.ask("prompt.submit", session_id=name, text="hello there")
        assert submitted["status"] == "streaming"
        await window.event("message.complete")

        told = from_upstream(window.events)
        assert {item["session_id"] for item in told} == {name}
        assert said(told) == said(sent[: len(told)])
        log = await home.recorded(name)
        assert [item["seq"] for item in log] == list(range(1, len(log) + 1))
        prompt = next(item for item in log if item["type"] == "prompt.submitted")
        assert prompt["payload"]["content"] == [{"type": "text", "text": "hello there"}]
        assert prompt["payload"]["by"] == "client-1"


async def test_everything_is_there_where_the_gateway_kept_512(tmp_path: Path) -> None:
    """Of 632 events the recorded gateway gave back the last 512, and said that the rest was gone;
    from the log a client gets every one, page by page (P-15, R033)."""
    sent = upstream_events("13_ring_overflow")
    assert len(sent) > RING
    async with house(tmp_path, "13_ring_overflow") as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="tell me a long story")
        await seen(home, name, len(sent))

        got: list[Json] = []
        more = True
        while more:
            seen_last = got[-1]["seq"] if got else 0
            page = await window.ask(
                "session.events.since", session_id=name, last_seen=seen_last, limit=200
            )
            assert page["truncated"] is False
            got += page["events"]
            more = page["has_more"]

        assert said(from_upstream(got)) == said(sent)


async def test_events_of_no_session_are_told_as_the_gateway_tells_them(tmp_path: Path) -> None:
    """They come with an empty session id and without a number, to every client (P-12)."""
    changed = {
        "method": "event",
        "params": {"type": "sessions.changed", "session_id": "", "payload": {"n": 1}},
    }
    async with house(tmp_path, gateway(*opening(), changed)) as home:
        async with home.window() as one, home.window() as two:
            await create(one)
            for window in (one, two):
                told = await window.event("sessions.changed")
                assert told == {"type": "sessions.changed", "session_id": "", "payload": {"n": 1}}
        (recorded,) = [e for e in await home.recorded(GATEWAY) if e["type"] == "sessions.changed"]
        assert recorded["payload"] == {"n": 1}


async def test_a_subscriber_of_what_belongs_to_no_session_sees_its_numbers(tmp_path: Path) -> None:
    """P-12: each event comes to it once, from the log, with its number; to others without."""
    changes = [
        {
            "method": "event",
            "params": {"type": "sessions.changed", "session_id": "", "payload": {"n": n}},
        }
        for n in range(3)
    ]
    ask, answer = ("in", {"id": "r9", "method": "go.on"}), {"id": "r9", "result": {}}
    player = gateway(*opening(), ask, *changes, answer)
    async with house(tmp_path, player) as home, home.window() as one, home.window() as other:
        await create(one)
        await one.ask("session.events.subscribe", session_id=GATEWAY)
        await one.ask("go.on")
        while sum(b"sessions.changed" in codec.dumps(frame) for frame in one.frames) < 3:
            await one.next()
        for n in range(3):
            assert (await other.event("sessions.changed"))["payload"] == {"n": n}
        recorded = [e for e in await home.recorded(GATEWAY) if e["type"] == "sessions.changed"]
    told = [frame["params"] for frame in one.frames if b"sessions.changed" in codec.dumps(frame)]
    assert [event["seq"] for event in told] == [event["seq"] for event in recorded]
    assert all(event["session_id"] == GATEWAY for event in told)


async def test_what_we_do_not_know_is_the_gateways_to_judge(tmp_path: Path) -> None:
    """Unknown methods and keys are passed on as they are, and so are answers and refusals; only
    the session's id is translated, and none inside a payload (P-2, P-22)."""
    ask = ("in", {"id": "r5", "method": "brand.new"})
    answer = {"id": "r5", "result": {"deep": {"session_id": "aaaa0001"}, "session_id": "aaaa0001"}}
    refuse = ("in", {"id": "r6", "method": "other.new"})
    refusal = {"id": "r6", "error": {"code": 4321, "message": "no", "data": {"x": 1}}}
    player = gateway(*opening(), ask, answer, refuse, refusal)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        named = {"session_id": name, "current_session_id": name, "session_key": name}
        result = await window.ask("brand.new", **named, odd=[1, {"session_id": name}])
        with pytest.raises(Refused) as refused:
            await window.ask("other.new")

        assert result == {"deep": {"session_id": "aaaa0001"}, "session_id": name}
        assert (refused.value.code, refused.value.data) == (4321, {"x": 1})
        runtime = {"session_id": "aaaa0001", "current_session_id": "aaaa0001"}
        assert player.heard[-2:] == [
            ("brand.new", {**runtime, "session_key": STORED, "odd": [1, {"session_id": name}]}),
            ("other.new", {}),
        ]


async def test_events_missed_while_the_line_was_broken_come_once_and_in_order(
    tmp_path: Path,
) -> None:
    """After a break the gateway is asked for what follows the last event that the log has; what
    it kept is recorded like live events, before those that happen meanwhile, and a client that
    stayed connected sees one unbroken stream (P-39, P-9, P-11)."""
    events = [event(seq, text=str(seq)) for seq in range(1, 41)]
    player = gateway(*opening(), SUBMIT, STREAMING, *events)
    player.line_breaks_after(len(player) - 30, unheard=10)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        found = await seen(home, name, 40)
        while len(from_upstream(window.events)) < 40:
            await window.next()

        assert len(home.lines) == 2
        assert [item["origin"] for item in found] == [
            f"eeeeeeee.aaaa0001:{n}" for n in range(1, 41)
        ]
        assert from_upstream(window.events) == [{"session_id": name, **item} for item in found]
        assert not any(item["type"] == "log.gap" for item in await home.recorded(name))


async def test_what_the_gateway_no_longer_has_is_a_gap(tmp_path: Path) -> None:
    """If more happened during a break than the gateway keeps, the log says how much (P-39)."""
    events = [event(seq, text=str(seq)) for seq in range(1, RING + 101)]
    player = gateway(*opening(), SUBMIT, STREAMING, *events)
    player.line_breaks_after(len(player) - len(events) + 10, unheard=len(events) - 10)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        found = await seen(home, name, 10 + RING)
        (gap,) = [item for item in await home.recorded(name) if item["type"] == "log.gap"]

        assert gap["payload"]["lost"] == 90
        assert found[-1]["origin"] == f"eeeeeeee.aaaa0001:{RING + 100}"


async def test_a_gateway_that_was_started_anew_goes_on_under_the_same_id(tmp_path: Path) -> None:
    """The recorded gateway was killed and started again: new epoch, new runtime id, numbers from
    1. The client keeps its id, its epoch and its numbering, is told of the end, and goes on
    without a call of its own; what was said before is all there (P-18, P-22, R066)."""
    player = GatewayPlayer((HERMES / "10_restart_resume.jsonl").read_bytes())
    async with house(tmp_path, player) as home, home.window() as window:
        created = await window.ask("session.create", cols=100)
        name, epoch = created["session_id"], created["replay_epoch"]
        await window.ask("prompt.submit", session_id=name, text="Please count the files")
        await window.event("agent.exited")
        await window.event("session.opened")
        await window.ask("prompt.submit", session_id=name, text="hello after the restart")
        await window.event("message.complete")

        log = await home.recorded(name)
        since = await window.ask("session.events.since", session_id=name, last_seen=0)
        assert since["epoch"] == epoch
        assert [item["seq"] for item in since["events"]] == list(range(1, len(log) + 1))
        upstream = upstream_events("10_restart_resume")
        found = from_upstream(log)
        assert said(found) == said(upstream[: len(found)])
        runtimes = {item["origin"].partition(":")[0].partition(".")[2] for item in found}
        assert runtimes == {"81de3882", "23a51af7"}
        assert len(home.lines) == 2


async def test_several_windows_see_the_same_bytes_and_the_first_answer_counts(
    tmp_path: Path,
) -> None:
    """Two clients of one session get the same events with the same numbers; both are asked, the
    first answer reaches the gateway, the second changes nothing and is recorded as late (P-28)."""
    async with house(tmp_path, "16_ws_reconnect") as home, home.window() as one:
        name = await create(one)
        await one.ask("prompt.submit", session_id=name, text="tell me a long story")
        async with home.window() as two:
            resumed = await two.ask("session.resume", session_id=name, omit_messages=True)
            assert resumed["session_id"] == name
            await one.ask("session.interrupt", session_id=name)
            await one.ask("prompt.submit", session_id=name, text="ask me which colour")
            asked = [await window.asked("clarify") for window in (one, two)]
            assert asked[0] == asked[1]
            assert asked[0]["params"]["session_id"] == name
            id_ = asked[0]["id"]
            await two.answer(id_, result={"answers": {"q0": "teal"}})
            await two.event("request.answered")
            await one.event("request.answered")
            await one.answer(id_, result={"answers": {"q0": "red"}})
            late = await one.event("request.late")
            here = {item["seq"]: item for item in one.events}
            there = {item["seq"]: item for item in two.events}

    assert home.player.answered[id_]["result"] == {"answers": {"q0": "teal"}}
    assert late["payload"]["value"] == {"answers": {"q0": "red"}}
    assert there
    assert min(there) == resumed["latest_seq"] + 1
    assert all(here[seq] == item for seq, item in there.items() if seq in here)


async def test_a_snapshot_and_the_first_event_behind_it_fit_together(tmp_path: Path) -> None:
    """An answer that attaches stands between the last event that it holds and the next one, also
    on a connection that follows the session already (P-21)."""
    resume: list[Any] = [
        ("in", {"id": "r3", "method": "session.resume"}),
        *(event(seq) for seq in range(4, 8)),
        {"id": "r3", "result": {"session_id": "aaaa0001", "inflight": {"assistant": "1234567"}}},
        *(event(seq) for seq in range(8, 11)),
    ]
    first = [event(seq) for seq in range(1, 4)]
    player = gateway(*opening(), SUBMIT, STREAMING, *first, *resume)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        await seen(home, name, 3)
        snapshot = await window.ask("session.resume", session_id=name)
        before = list(window.events)
        while len(from_upstream(window.events)) < 10:
            await window.next()

        assert len(from_upstream(before)) == 7
        assert before[-1]["seq"] == snapshot["latest_seq"]
        numbers = [item["seq"] for item in window.events]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_large_strings_are_fetched_here(tmp_path: Path) -> None:
    """A client with blobs gets references, which no gateway upstream knows (P-34)."""
    text = "x" * 100_000
    player = gateway(*opening(), event(1, text=text))
    async with house(tmp_path, player) as home, home.window(blobs=True) as window:
        name = await create(window)
        delta = await window.event("message.delta")
        ref = delta["payload"]["text"]["$blob"]
        piece = await window.ask("session.blob", session_id=name, ref=ref)

    assert piece["text"] == text


async def test_calls_that_attach_at_once_attach_once(tmp_path: Path) -> None:
    """P-9: a client that activates a session twice at once hears each event once."""
    activate = "session.activate"
    answer: Json = {"session_id": "aaaa0001", "inflight": None}
    player = gateway(
        *opening(),
        ("in", {"id": "r3", "method": activate}),
        *(event(seq) for seq in range(1, 50)),  # meanwhile the second call is on its way
        {"id": "r3", "result": answer},
        ("in", {"id": "r4", "method": activate}),
        {"id": "r4", "result": answer},
        SUBMIT,
        STREAMING,
        *(event(seq) for seq in range(50, 60)),
    )
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        last = [await window.send(activate, session_id=name) for _ in range(2)][-1]
        await window.until(lambda frame: frame.get("id") == last)
        await window.ask("prompt.submit", session_id=name, text="go")
        while len(from_upstream(window.events)) < 59:
            await window.next()
        await window.ask("gateway.ping")
        numbers = [item["seq"] for item in window.events]

    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


QUESTION: Json = {
    "id": "srq-0123456789ab",
    "method": "clarify",
    "params": {"session_id": "aaaa0001", "questions": [{"qid": "q0", "question": "Which?"}]},
}


async def test_an_open_question_outlives_a_restart_of_ours(tmp_path: Path) -> None:
    """While the gateway lives, its question is open and answerable after we were started anew,
    under its own id; the answer reaches the gateway (P-32)."""
    heard: list[Any] = [("in", {"id": QUESTION["id"], "result": {}}), event(2, "tool.complete")]
    player = gateway(*opening(), SUBMIT, STREAMING, event(1), QUESTION, *heard)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        await window.asked("clarify")
    async with house(tmp_path, player) as home, home.window() as window:
        await window.ask("session.events.subscribe", session_id=name, last_seen=0)
        asked = await window.asked("clarify")
        await window.answer(asked["id"], result={"answers": {"q0": "this"}})
        await window.event("tool.complete")
        log = await home.recorded(name)

    assert asked["id"] == QUESTION["id"]
    assert asked["params"]["replayed"] is True
    assert player.answered[QUESTION["id"]]["result"] == {"answers": {"q0": "this"}}
    kinds = [item["type"] for item in log if item["type"].startswith("request.")]
    assert kinds == ["request.opened", "request.answered"]
    assert [item["origin"][-1] for item in from_upstream(log)] == ["1", "2"]


async def test_an_answer_that_was_lost_on_its_way_is_sent_again(tmp_path: Path) -> None:
    """A line may be dead without anybody knowing: the log has the answer, the gateway does not.
    When the next line shows that it still waits, it is told (P-27, P-39)."""
    heard: list[Any] = [("in", {"id": QUESTION["id"], "result": {}}), event(2, "tool.complete")]
    player = gateway(*opening(), SUBMIT, STREAMING, event(1), QUESTION, *heard)
    player.deaf = True
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        asked = await window.asked("clarify")
        await window.answer(asked["id"], result={"answers": {"q0": "this"}})
        await window.event("request.answered")  # it is told when it is recorded, and sent then
        await anyio.wait_all_tasks_blocked()
        player.deaf = False
        await home.break_the_line()
        await window.event("tool.complete")
        since = await window.ask("session.events.since", session_id=name, last_seen=0)

    assert player.answered[QUESTION["id"]]["result"] == {"answers": {"q0": "this"}}
    assert since["open_requests"] == []
    kinds = [item["type"] for item in since["events"] if item["type"].startswith("request.")]
    assert kinds == ["request.opened", "request.answered", "request.late"]


async def test_a_question_that_was_settled_meanwhile_is_withdrawn(tmp_path: Path) -> None:
    """What the gateway no longer lists as open is open nowhere (P-40)."""
    player = gateway(*opening(), SUBMIT, STREAMING, event(1), QUESTION, event(2))
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        await window.asked("clarify")
    player.forget_questions()
    async with house(tmp_path, player) as home, home.window() as window:
        since = await window.ask("session.events.since", session_id=name, last_seen=0)
        log = await home.recorded(name)

    assert since["open_requests"] == []
    ends = [item["payload"] for item in log if item["type"] == "request.cancel"]
    assert ends == [{"id": QUESTION["id"], "method": "clarify", "reason": "resolved"}]


async def test_a_gateway_that_died_with_a_question_leaves_none_open(tmp_path: Path) -> None:
    """Its process is gone when another one answers at its place (P-40)."""
    player = gateway(*opening(), SUBMIT, STREAMING, event(1), QUESTION)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        await window.asked("clarify")
    async with house(tmp_path, gateway(epoch="f" * 32)) as home, home.window():
        log = await home.recorded(name)

    assert [item["type"] for item in log[-2:]] == ["agent.exited", "request.cancel"]
    assert log[-1]["payload"]["reason"] == "agent_gone"


async def test_a_client_that_cannot_show_a_question_leaves_it_to_others(tmp_path: Path) -> None:
    """A declined question stays open, and the gateway hears nothing of it (P-29)."""
    player = gateway(*opening(), SUBMIT, STREAMING, QUESTION)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        asked = await window.asked("clarify")
        await window.answer(asked["id"], error={"code": 4404, "message": "not here"})
        await window.event("request.declined")
        since = await window.ask("session.events.since", session_id=name, last_seen=0)

    assert [item["id"] for item in since["open_requests"]] == [asked["id"]]
    assert player.answered == {}


PLANTED = "pl4nted-s3cret-value/of+tests"


async def test_secrets_pass_and_stand_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Answers to sudo, secret and vault questions, and calls that carry credentials, reach the
    gateway; no file of the log and no line of the program's own log holds a value (P-33)."""
    caplog.set_level(logging.DEBUG)
    methods = ("sudo", "display.install.sudo", "secret", "vault.code")
    questions: list[Any] = []
    for number, method in enumerate(methods):
        id_ = f"srq-{number:012x}"
        questions.append({"id": id_, "method": method, "params": {"session_id": "aaaa0001"}})
        questions.append(("in", {"id": id_, "result": {}}))
    calls: list[Any] = []
    for number, method in enumerate(("vault.unlock", "model.save_key", "connection.respond")):
        calls.append(("in", {"id": f"c{number}", "method": method}))
        calls.append({"id": f"c{number}", "result": {"ok": True}})
    player = gateway(*opening(), SUBMIT, STREAMING, *questions, event(1), *calls)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        for method in methods:
            asked = await window.asked(method)
            await window.answer(asked["id"], result={"value": PLANTED})
        await seen(home, name, 1)
        for method in ("vault.unlock", "model.save_key", "connection.respond"):
            await window.ask(method, session_id=name, key=PLANTED)
        kept = everything_in(tmp_path)

    assert [item["result"]["value"] for item in player.answered.values()] == [PLANTED] * 4
    assert kept.count(b'"redacted":true') >= 4
    forms = {PLANTED, PLANTED.encode().hex(), b64encode(PLANTED.encode()).decode()}
    forms |= {codec.dumps(PLANTED).decode()[1:-1], PLANTED.replace("/", "%2F").replace("+", "%2B")}
    for form in forms:
        assert form.encode() not in kept
        assert form not in caplog.text


async def test_the_log_answers_while_the_gateway_is_away(tmp_path: Path) -> None:
    """Pings and catching up need no gateway; a call that does is told so (P-5)."""
    player = gateway(*opening(), SUBMIT, STREAMING, event(1))
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("prompt.submit", session_id=name, text="go")
        await seen(home, name, 1)
        home.stay_away()
        await home.break_the_line()
        assert await window.ask("gateway.ping") == {"ok": True}
        since = await window.ask("session.events.since", session_id=name, last_seen=0)
        assert from_upstream(since["events"])
        home.upstream.patience = 0.01
        with pytest.raises(Refused) as refused:
            await window.ask("session.history", session_id=name)

    assert refused.value.code == 5035


async def test_the_gateways_own_ids_are_understood(tmp_path: Path) -> None:
    """A runtime id, which lists hold, names the session in a call, also that of an earlier process;
    catching up wants the durable one, and says which it is (P-22)."""
    status: list[Any] = [
        ("in", {"id": "r8", "method": "session.status"}),
        {"id": "r8", "result": {}},
    ]
    player = gateway(*opening(), *status, *status)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        await window.ask("session.status", session_id="aaaa0001")
        with pytest.raises(Refused) as refused:
            await window.ask("session.events.since", session_id="aaaa0001")
        assert (refused.value.code, refused.value.data) == (4007, {"session_id": name})
    resume: Any = ("in", {"id": "r9", "method": "session.resume"})
    resumed = {"id": "r9", "result": {"session_id": "bbbb0002", "resumed": STORED}}
    player = gateway(resume, resumed, *status, epoch="f" * 32)
    async with house(tmp_path, player) as home, home.window() as window:
        assert (await window.ask("session.resume", session_id=name))["session_id"] == name
        await window.ask("session.status", session_id="aaaa0001")
        assert player.heard[-1] == ("session.status", {"session_id": "bbbb0002"})


async def test_a_full_disk_holds_the_gateway_up_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the log takes nothing, nothing is heard from the gateway; then everything is, once and
    in order, on the same line (S-9, P-10)."""
    monkeypatch.setattr(account, "RETRY", 0.001)
    events = [event(seq, text=str(seq)) for seq in range(1, 601)]
    player = gateway(*opening(), SUBMIT, STREAMING, *events)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        append, refused = home.log.append, 0

        async def full(*arguments: Any, **further: Any) -> Any:
            nonlocal refused
            refused += 1
            if refused in range(3, 9):
                raise LogUnavailable("the log", "the disk is full")
            return await append(*arguments, **further)

        monkeypatch.setattr(home.log, "append", full)
        await window.ask("prompt.submit", session_id=name, text="go")
        found = await seen(home, name, 600)

        assert refused > 8
        assert [item["payload"]["text"] for item in found] == [str(n) for n in range(1, 601)]
        assert len(home.lines) == 1


async def test_calls_reach_the_gateway_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """Some name a session, which has to be found first, and some do not: a prompt and what stops
    it must not change places (P-1)."""
    methods = [f"call.{number}" for number in range(30)]
    calls: list[Any] = []
    for method in methods:
        calls += [("in", {"id": method, "method": method}), {"id": method, "result": {}}]
    player = gateway(*opening(), *calls)
    async with house(tmp_path, player) as home, home.window() as window:
        name = await create(window)
        for number, method in enumerate(methods):
            named = {"session_id": name} if number % 3 == 0 else {}
            last = await window.send(method, **named)
        await window.until(lambda frame: frame.get("id") == last)

    assert [method for method, _ in player.heard[1:]] == methods


async def test_an_id_that_means_two_sessions_is_refused(tmp_path: Path) -> None:
    """The candidates are told (P-22)."""
    async with house(tmp_path, gateway()) as home, home.window() as window:
        for name in ("one", "two"):
            alias = Event.of("session.alias", {"scope": f"acp:{name}", "id": "same"})
            await home.log.append(home.session(name), [alias])
        with pytest.raises(Refused) as refused:
            await window.ask("session.status", session_id="same")

    assert refused.value.code == -32602
    assert refused.value.data
    assert refused.value.data["candidates"] == ["one", "two"]


async def test_a_client_is_not_left_waiting_for_a_gateway_that_does_not_come(
    tmp_path: Path,
) -> None:
    """Without a gateway there is nothing to greet with: the client is hung up on, and may come
    again (P-5)."""
    async with house(tmp_path, gateway()) as home:
        async with home.window():
            pass
        home.stay_away()
        await home.break_the_line()
        home.upstream.patience = 0.01
        here, there = memory_pair()
        async with here, there:
            await home.front.converse(there, asks=False)
            with pytest.raises(EndOfStream):
                await here.receive()
