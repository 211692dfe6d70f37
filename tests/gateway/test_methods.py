"""What clients may call, and what they get: also when they call it wrongly."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from eventlog import Event, MemoryStore, SessionId
from gateway.errors import RpcError
from gateway.hermes_view import Views
from gateway.jsonrpc import Failure, Request, dump, parse
from gateway.methods import Gateway
from gateway.server import Server
from gateway.sessions import sessions_of
from gateway.transcripts import Transcripts
from replay import EMPTY, digest, fold
from tests.gateway.stage import QUIET, RawClient, Stage, actor, ended, player, scripted, staged

pytestmark = pytest.mark.anyio

CAPTURE, (PROMPT,) = QUIET
SESSION = SessionId("s-1")


@asynccontextmanager
async def served(count: int = 0) -> AsyncGenerator[tuple[Stage, RawClient], None]:
    """A gateway without agents on a log in memory, which holds one session of *count* events."""
    log = MemoryStore(clock=lambda: 0)
    if count:
        opened = Event.of("session.opened", {"source": {"kind": "imported"}})
        notices = [Event.of("notice", {"message": f"{n}"}) for n in range(1, count)]
        await log.append(SESSION, [opened, *notices])
    async with sessions_of(log, {}) as sessions:
        gateway = Gateway(log, sessions, Transcripts(log), Views(log))
        stage = Stage(gateway, Server(gateway), "")
        async with stage.near() as client:
            yield stage, client


async def refused(client: RawClient, method: str, params: dict[str, Any]) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await client.ask(method, params)
    return caught.value


async def test_first_frame_is_ready() -> None:
    """P-5: gateway.ready comes first and says epoch and server; a ping is answered."""
    async with served() as (stage, client):
        ready: Any = parse(client.frames[0])
        assert await client.ask("gateway.ping") == {"ok": True}

    assert ready.params["type"] == "gateway.ready"
    payload = ready.params["payload"]
    assert payload["replay_epoch"] == stage.gateway.log.epoch
    assert payload["heartbeat"] is True
    assert payload["change_events"] is False
    assert payload["server"]["name"] == "hermes-gateway"


@pytest.mark.parametrize(
    ("frame", "code", "id_"),
    [
        (b"{nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"gateway.ping","params":{"n":NaN}}', -32700, None),
        (b"[" * 70 + b"]" * 70, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"gateway.ping"}]', -32600, None),
        (b'"text"', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"gateway.ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"x","method":"no.such.method"}', -32601, "x"),
        (b'{"jsonrpc":"2.0","id":7,"method":"session.close","params":{}}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":8,"method":"session.list","params":[]}', -32602, 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"session.list","params":{"colour":1}}', 4000, 9),
    ],
)
async def test_each_bad_frame_has_its_error(frame: bytes, code: int, id_: object) -> None:
    """P-2, P-3, R150: it is said what is wrong with a frame, and the next one is answered."""
    async with served() as (_, client):
        await client.say(frame)
        answer = parse(await client.next())
        assert await client.ask("gateway.ping") == {"ok": True}

    assert isinstance(answer, Failure)
    assert (answer.error.code, answer.id) == (code, id_)
    assert answer.error.message


@pytest.mark.parametrize("last_seen", ["x", -1, 1.5, True, 10**30, [], {}])
async def test_cursor_is_a_number(last_seen: Any) -> None:
    """P-14, R011: what is no number of an event is refused, and never taken for the beginning."""
    async with served(3) as (_, client):
        for method in ("session.events.since", "session.events.subscribe"):
            params = {"session_id": SESSION, "last_seen": last_seen}
            error = await refused(client, method, params)
            assert error.code == -32602
            assert error.data["path"] == "last_seen"


async def test_no_cursor_is_the_beginning() -> None:
    """P-14: absent and null mean 0."""
    async with served(3) as (_, client):
        for params in ({}, {"last_seen": None}, {"last_seen": 0}):
            answer = await client.ask("session.events.since", {"session_id": SESSION, **params})
            assert [event["seq"] for event in answer["events"]] == [1, 2, 3]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
async def test_pages(size: int) -> None:
    """P-13, P-15, R012: pages of any size join to the whole; `next` and `has_more` lead on."""
    async with served(11) as (_, client):
        seen, cursor, more = [], 0, True
        while more:
            params = {"session_id": SESSION, "last_seen": cursor, "limit": size}
            page = await client.ask("session.events.since", params)
            seen += [event["seq"] for event in page["events"]]
            cursor, more = page["next"], page["has_more"]
            assert page["count"] == len(page["events"]) <= size

    assert seen == list(range(1, 12))


async def test_page_of_nothing() -> None:
    """R012: a limit of 0 tells where the log stands."""
    async with served(11) as (_, client):
        params = {"session_id": SESSION, "last_seen": 4, "limit": 0}
        page = await client.ask("session.events.since", params)

    assert (page["events"], page["next"], page["latest_seq"], page["has_more"]) == ([], 4, 11, True)


async def test_pages_by_bytes() -> None:
    """P-15: `limit_bytes` bounds a page, which holds at least one event all the same."""
    async with served(11) as (_, client):
        params = {"session_id": SESSION, "limit_bytes": 1}
        page = await client.ask("session.events.since", params)
        wider = await client.ask("session.events.since", {**params, "limit_bytes": 200})

    assert [event["seq"] for event in page["events"]] == [1]
    assert 1 < wider["count"] < 11


async def test_too_much_for_one_answer() -> None:
    """P-15: without paging, more than 4 MiB are not cut: the client is sent to the snapshot."""
    log_line = "x" * 60_000
    async with served(1) as (stage, client):
        many = [Event.of("notice", {"message": log_line})] * 100
        await stage.gateway.log.append(SESSION, many)
        answer = await client.ask("session.events.since", {"session_id": SESSION})
        paged = await client.ask("session.events.since", {"session_id": SESSION, "limit": 1000})
        longest = max(len(frame) for frame in client.frames)

    assert (answer["events"], answer["truncated"], answer["snapshot_required"]) == ([], True, True)
    assert paged["has_more"] is True
    assert longest < 1 << 20


@pytest.mark.parametrize("wrong", [{"last_seen": 12}, {"last_seen": 2, "replay_epoch": "other"}])
async def test_cursor_of_another_history(wrong: dict[str, Any]) -> None:
    """P-16, R011: ahead of the head, or of another epoch: truncated, nothing sent, nothing begun."""
    async with served(11) as (stage, client):
        answer = await client.ask("session.events.since", {"session_id": SESSION, **wrong})
        subscribed = await client.ask("session.events.subscribe", {"session_id": SESSION, **wrong})
        await stage.gateway.log.append(SESSION, [Event.of("notice", {"message": "new"})])
        await client.ask("gateway.ping")
        heard = [frame for frame in client.frames if b'"method":"event"' in frame]

    assert (answer["events"], answer["truncated"], answer["has_more"]) == ([], True, False)
    assert (subscribed["truncated"], subscribed["snapshot_required"]) == (True, True)
    assert len(heard) == 1  # gateway.ready


async def test_unknown_session() -> None:
    """P-14, P-22: there is no empty success for a session that is not there."""
    async with served(1) as (_, client):
        for method in ("session.events.since", "session.events.subscribe", "session.transcript"):
            assert (await refused(client, method, {"session_id": "s-none"})).code == 4007
        for method in ("session.resume", "session.activate", "session.close"):
            assert (await refused(client, method, {"session_id": "s-none"})).code == 4007


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "..\\x", "a/b", "", ".", "x" * 300, "%2e%2e", "a\0b", "id\n", "ｓ-1"],
)
async def test_what_is_no_session_id(name: str) -> None:
    """P-25, R141: it is refused before anything is looked up by it."""
    async with served(1) as (_, client):
        for method in ("session.events.since", "session.resume", "session.transcript"):
            assert (await refused(client, method, {"session_id": name})).code == -32602


async def test_since_is_a_pure_read() -> None:
    """P-13, R052: it attaches to nothing, and takes nothing from anybody."""
    async with served(3) as (stage, client):
        first = await client.ask("session.events.since", {"session_id": SESSION})
        again = await client.ask("session.events.since", {"session_id": SESSION})
        await stage.gateway.log.append(SESSION, [Event.of("notice", {"message": "new"})])
        await client.ask("gateway.ping")
        live = [frame for frame in client.frames if b'"seq":4' in frame]

    assert first == again
    assert live == []


async def test_compact_events() -> None:
    """P-6: with `compact` the answer names the session once."""
    async with served(2) as (_, client):
        await client.ask("client.capabilities", {"compact": True})
        answer = await client.ask("session.events.since", {"session_id": SESSION})

    assert answer["session_id"] == SESSION
    assert ["session_id" in event for event in answer["events"]] == [False, False]


async def test_capabilities_are_said_once() -> None:
    """P-6: a second time is an error."""
    async with served() as (_, client):
        await client.ask("client.capabilities", {"server_requests": True})
        assert (await refused(client, "client.capabilities", {})).code == 4002


async def test_own_blob_keys_come_back_as_they_were() -> None:
    """P-34: a payload's own `$blob` is doubled in the log, and not for a client without blobs."""
    async with served(1) as (stage, client):
        own = {"$blob": "sha256:forged", "$$blob": 1}
        await stage.gateway.log.append(SESSION, [Event.of("notice", {"message": own})])
        answer = await client.ask("session.events.since", {"session_id": SESSION, "last_seen": 1})
        await client.ask("client.capabilities", {"blobs": True})
        raw = await client.ask("session.events.since", {"session_id": SESSION, "last_seen": 1})

    assert answer["events"][0]["payload"]["message"] == own
    assert raw["events"][0]["payload"]["message"] == {"$$blob": "sha256:forged", "$$$blob": 1}


async def test_alias_is_found_and_named() -> None:
    """P-22, R055: an alias resumes the session; where events are read, the durable id is told."""
    async with served(1) as (stage, client):
        alias = Event.of("session.alias", {"scope": "agent", "id": "foreign-1"})
        await stage.gateway.log.append(SESSION, [alias])
        resumed = await client.ask("session.resume", {"session_id": "foreign-1"})
        error = await refused(client, "session.events.since", {"session_id": "foreign-1"})
        await stage.gateway.log.append(SessionId("s-2"), [alias])
        several = await refused(client, "session.resume", {"session_id": "foreign-1"})

    assert resumed["session_id"] == SESSION
    assert (error.code, error.data["session_id"]) == (4007, SESSION)
    assert several.code == -32602
    assert sorted(several.data["candidates"]) == ["s-1", "s-2"]


async def test_prompt_to_a_dormant_session(tmp_path: Path) -> None:
    """P-24, P-40: text for a session without an agent is refused, and not dropped."""
    async with served(1) as (stage, client):
        error = await refused(client, "prompt.submit", {"session_id": SESSION, "text": "hello"})
        recorded = await stage.lines(SESSION)

    assert error.code == 4001
    assert len(recorded) == 1


async def test_same_ref_is_the_same_prompt(tmp_path: Path) -> None:
    """P-24: sent twice under one ref, a prompt is taken once; later the outcome is told, too."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        params = {"session_id": session_id, "text": PROMPT, "submission_ref": "ref-1"}
        first = await client.ask("prompt.submit", params)
        again = await client.ask("prompt.submit", params)
        await client.events(until=ended(first["seq"]))
        after = await client.ask("prompt.submit", params)
        submitted = [e for e in await stage.log(session_id) if e["type"] == "prompt.submitted"]

    assert first == again == {"status": "streaming", "seq": first["seq"]}
    assert after == {**first, "outcome": "end_turn"}
    assert [e["payload"]["ref"] for e in submitted] == ["ref-1"]


async def test_same_ref_is_the_same_words_to_a_turn(tmp_path: Path) -> None:
    """P-24: words that were given to a turn under a ref are not given to it, or to a later one, again."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        session_id = str((await client.ask("session.create"))["session_id"])
        named = {"session_id": session_id}
        words = {**named, "text": "say it", "submission_ref": "r1"}
        for _ in range(2):
            await client.ask("prompt.submit", {**named, "text": "wait"})
            told = [await client.ask("session.steer", words) for _ in range(2)]
            await client.ask("session.interrupt", named)
            await client.events(until=lambda params: params["type"] == "prompt.finished")
        again = await client.ask("prompt.submit", words)
        events = await stage.log(session_id)

    assert told == [{"status": "queued", "text": "say it"}] * 2
    taken = [e for e in events if e["payload"].get("ref") == "r1"]
    assert [e["seq"] for e in taken] == [again["seq"]]
    assert [e["type"] for e in events].count("prompt.corrected") == 1


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("prompt.submit", {"text": "say x", "truncate_before_user_ordinal": 0}),
        ("prompt.submit", {"text": "say x", "truncate_before_row_id": 1}),
        ("prompt.submit", {"text": "say x", "truncate_before_message_id": "m"}),
        ("session.create", {"messages": [{"role": "user", "content": "before"}]}),
    ],
)
async def test_no_agent_forgets_or_remembers_by_order(
    tmp_path: Path, method: str, asked: dict[str, Any]
) -> None:
    """P-24: a prompt that replaces others is refused, not added to them; a past, not left out."""
    async with staged(tmp_path, actor()) as stage, stage.client() as client:
        session_id = str((await client.ask("session.create"))["session_id"])
        before = await stage.lines(session_id)
        place = {"session_id": session_id} if method == "prompt.submit" else {}
        error = await refused(client, method, {**asked, **place})
        assert error.code == 4002
        assert error.data["path"] in asked
        assert await stage.lines(session_id) == before
        assert len(stage.gateway.sessions.live) == 1


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("session.list", {"k" * 3_000_000: 1}),
        ("session.create", {"agent": "k" * 3_000_000}),
        ("session.create", {"cwd": "/" + "k" * 3_000_000}),
        ("approval.respond", {"session_id": "s-1", "choice": "k" * 3_000_000}),
        ("session.resume", {"session_id": "k" * 3_000_000}),
        ("k" * 3_000_000, {}),
    ],
)
async def test_an_error_is_short(method: str, asked: dict[str, Any]) -> None:
    """P-3: what is wrong with a call is said in a frame of less than 1 MiB, however long that is."""
    async with served(1) as (_, client):
        await client.say(dump(Request("long", method, asked)))
        frame = await client.next()
        assert isinstance(parse(frame), Failure)
        assert len(frame) < 1 << 20


async def test_prompts_wait_for_their_turn(tmp_path: Path) -> None:
    """P-24, R074: what is sent while a turn runs is queued, in order, and its start is recorded."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        receipts = [
            await client.ask("prompt.submit", {"session_id": session_id, "text": text})
            for text in (PROMPT, "second", "third")
        ]
        await client.events(until=ended(receipts[-1]["seq"]))
        events = await stage.log(session_id)

    assert [receipt["status"] for receipt in receipts] == ["streaming", "queued", "queued"]
    kinds = ("prompt.started", "prompt.finished")
    order = [(e["type"], e["payload"]["prompt"]) for e in events if e["type"] in kinds]
    first, second, third = (receipt["seq"] for receipt in receipts)
    assert order == [
        ("prompt.finished", first),
        ("prompt.started", second),
        ("prompt.finished", second),
        ("prompt.started", third),
        ("prompt.finished", third),
    ]


async def test_everything_a_person_did_is_in_one_sequence(tmp_path: Path) -> None:
    """R066, R014, P-8: prompts, agent output, interrupts and the end have numbers of one log."""
    async with (
        staged(tmp_path, player(CAPTURE, "--gap-ms", "5")) as stage,
        stage.client() as client,
    ):
        session_id = (await client.ask("session.create", {"cwd": ".", "title": "T"}))["session_id"]
        receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
        await client.events(until=lambda params: params["type"] == "acp.session_update")
        await client.ask("session.interrupt", {"session_id": session_id})
        await client.events(until=ended(receipt["seq"]))
        await client.ask("session.close", {"session_id": session_id})
        events = await stage.log(session_id)

    kinds = [e["type"] for e in events]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    for kind in (
        "session.opened",
        "session.title",
        "prompt.submitted",
        "acp.session_update",
        "turn.interrupted",
        "prompt.finished",
        "agent.exited",
        "session.closed",
    ):
        assert kind in kinds


async def test_transcript_in_pages(tmp_path: Path) -> None:
    """P-26: pages join to the transcript that the log gives, and its digest is the log's."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
        await client.events(until=ended(receipt["seq"]))
        whole = await client.ask("session.transcript", {"session_id": session_id})
        params = {"session_id": session_id, "limit_bytes": 1}
        page = await client.ask("session.transcript", params)
        entries = page["transcript"]["entries"]
        while page["has_more"]:
            page = await client.ask(
                "session.transcript", {**params, "at": page["seq"], "after": page["next"]}
            )
            entries += page["transcript"]["entries"]
        earlier = await client.ask("session.transcript", {"session_id": session_id, "at": 5})
        events = await stage.log(session_id)

    assert entries == whole["transcript"]["entries"]
    assert whole["digest"] == digest(fold(EMPTY, events[: whole["seq"]]))
    assert earlier["digest"] == digest(fold(EMPTY, events[:5]))


async def test_agent_that_cannot_be_started(tmp_path: Path) -> None:
    """P-38: it is said which agent and why, and the gateway goes on."""
    absent = scripted("absent", "")
    agents = (player(CAPTURE), scripted("mute", "raise SystemExit('no key')"))
    async with staged(tmp_path, *agents) as stage, stage.client() as client:
        unknown = await refused(client, "session.create", {"agent": absent.name})
        ended_ = await refused(client, "session.create", {"agent": "mute"})
        nowhere = await refused(client, "session.create", {"cwd": "/no/such/folder"})
        answer = await client.ask("session.create", {"agent": CAPTURE})

    assert unknown.code == 4002
    assert "claude049-hello" in unknown.message
    assert "mute could not be started" in ended_.message
    assert "no key" in ended_.data["stderr"]
    assert nowhere.code == 4002
    assert answer["latest_seq"] > 0


async def test_list_says_what_each_session_does(tmp_path: Path) -> None:
    """P-8, R075: newest first, with titles, and a status that is derived from the log."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        first = (await client.ask("session.create", {"cwd": ".", "title": "One"}))["session_id"]
        second = (await client.ask("session.create", {"cwd": ".", "title": "Two"}))["session_id"]
        await client.ask("session.close", {"session_id": first})
        rows = (await client.ask("session.list"))["sessions"]

    assert [(row["id"], row["title"], row["status"]) for row in rows] == [
        (first, "One", "dormant"),
        (second, "Two", "idle"),
    ]
