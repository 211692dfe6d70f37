"""Hermes's methods about sessions, on a recorded agent: what they tell is what the log says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId
from gateway.errors import RpcError
from replay import EMPTY, fold
from tests.gateway.stage import ASKING, QUIET, RawClient, Stage, bare, ended, player, staged

pytestmark = pytest.mark.anyio

CAPTURE, (PROMPT,) = QUIET


async def one_turn(client: RawClient) -> str:
    """Return a session in which a prompt has been answered."""
    session = await client.ask("session.create", {"cwd": ".", "title": "T"})
    session_id = str(session["session_id"])
    receipt = await client.ask("prompt.submit", {"session_id": session_id, "text": PROMPT})
    await client.events(until=ended(receipt["seq"]))
    return session_id


async def test_a_snapshot_holds_the_session(tmp_path: Path) -> None:
    """P-21: messages, info and status are those of the log at `latest_seq`."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = await one_turn(client)
        answer = await client.ask("session.activate", {"session_id": session_id})
        short = {"session_id": session_id, "omit_messages": True}
        omitted = await client.ask("session.resume", short)
        history = await client.ask("session.history", {"session_id": session_id})
        events = await stage.log(session_id)

    said = fold(EMPTY, events[: answer["latest_seq"]])
    agent = [entry for entry in said.entries if entry.kind == "agent"]
    user, reply = answer["messages"][0], answer["messages"][-1]
    assert (user["role"], user["text"]) == ("user", PROMPT)
    assert (reply["role"], reply["text"]) == ("assistant", agent[-1].text)
    assert reply["reasoning"]
    assert (answer["running"], answer["status"], answer["inflight"]) == (False, "idle", None)
    assert answer["message_count"] == len(answer["messages"])
    assert answer["info"]["title"] == "T"
    assert answer["info"]["usage"]["total"] > 0
    assert (omitted["messages"], omitted["messages_omitted"]) == ([], True)
    assert omitted["message_count"] == answer["message_count"]
    assert history["messages"] == answer["messages"]


async def test_a_snapshot_in_mid_turn(tmp_path: Path) -> None:
    """P-21, R069: what is in flight, what waits and what is asked, then each event once."""
    capture, prompt = ASKING
    async with staged(tmp_path, player(capture)) as stage, stage.client() as first:
        session_id = (await first.ask("session.create", {"cwd": "."}))["session_id"]
        for text in (prompt, "later"):
            await first.ask("prompt.submit", {"session_id": session_id, "text": text})
        asked = await first.hear("session/request_permission")
        async with stage.client() as client:
            answer = await client.ask("session.activate", {"session_id": session_id})
            pending = await client.ask("approval.pending", {"session_id": session_id})
            live = await client.ask("session.active_list", {"current_session_id": session_id})
            rows = (await client.ask("session.list"))["sessions"]
            await client.ask("session.interrupt", {"session_id": session_id})
            heard = [frame for frame in client.frames if b'"seq":' in frame[:120]]

    assert (answer["running"], answer["status"]) == (True, "waiting")
    assert answer["inflight"]["user"] == prompt
    assert answer["queued"] == {"user": "later"}
    assert answer["pending_approval"]["request_id"] == asked.id
    assert pending["approvals"] == [answer["pending_approval"]]
    assert answer["turn_started_at"] >= answer["started_at"]
    assert [(row["id"], row["current"], row["status"]) for row in live["sessions"]] == [
        (session_id, True, "waiting")
    ]
    assert rows[0]["status"] == "needs_input"  # R075: from the log alone
    assert b'"seq":%d,' % (answer["latest_seq"] + 1) in heard[0]


async def test_a_title_is_read_and_changed(tmp_path: Path) -> None:
    """R066: it is an event of the session; the list and every reader have it."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session_id}
        before = await client.ask("session.title", where)
        changed = await client.ask("session.title", {**where, "title": " Renamed ✏️ "})
        heard = await client.events(until=lambda event: event["type"] == "session.title")
        with pytest.raises(RpcError) as empty:
            await client.ask("session.title", {**where, "title": " "})
        recent = await client.ask("session.most_recent")

    assert before == {"title": "", "session_key": session_id}
    assert changed == {"title": "Renamed ✏️", "session_key": session_id, "pending": False}
    assert heard[-1]["payload"] == {"session_id": session_id, "title": "Renamed ✏️"}
    assert empty.value.code == 4002
    assert (recent["session_id"], recent["title"]) == (session_id, "Renamed ✏️")


async def test_usage_status_and_counts(tmp_path: Path) -> None:
    """P-21: computed from the log, in Hermes's members."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = await one_turn(client)
        usage = await client.ask("session.usage", {"session_id": session_id})
        status = await client.ask("session.status", {"session_id": session_id})
        stats = await client.ask("session.events.stats")
        lines = await stage.lines(session_id)

    assert usage["total"] >= usage["input"] + usage["output"] > 0
    assert f"Session ID: {session_id}" in status["output"]
    assert "Agent Running: No" in status["output"]
    assert (stats["sessions"], stats["events"]) == (1, len(lines))
    assert stats["bytes"] > 0


async def test_nothing_is_recent_in_an_empty_log() -> None:
    """P-14's kin: null says so."""
    async with bare() as stage, stage.near() as client:
        assert await client.ask("session.most_recent") == {"session_id": None}
        assert (await client.ask("session.active_list"))["sessions"] == []


# -- corrections -----------------------------------------------------------------------------------


async def test_a_redirect_stops_the_turn_and_comes_next(tmp_path: Path) -> None:
    """R066: ACP takes no words into a turn: it is stopped, and the words go before what waits."""
    capture, prompt = ASKING
    async with staged(tmp_path, player(capture)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session_id}
        for text in (prompt, "queued before"):
            await client.ask("prompt.submit", {**where, "text": text})
        await client.hear("session/request_permission")
        answer = await client.ask("session.redirect", {**where, "text": "Do not"})
        await client.events(until=lambda event: event["type"] == "prompt.started")
        events = await stage.log(session_id)

    corrected = next(event for event in events if event["type"] == "prompt.corrected")
    started = next(event for event in events if event["type"] == "prompt.started")
    stopped = next(event for event in events if event["type"] == "prompt.finished")
    assert answer == {"status": "redirected", "text": "Do not"}
    assert corrected["payload"]["kind"] == "redirect"
    assert started["payload"]["prompt"] == corrected["payload"]["prompt"]
    assert stopped["payload"]["result"]["stopReason"] == "cancelled"
    users = [entry for entry in fold(EMPTY, events).entries if entry.kind == "user"]
    assert [(entry.text, entry.correction) for entry in users] == [
        (prompt, None),
        ("queued before", None),
        ("Do not", "redirect"),
    ]


async def test_a_steer_waits_for_the_turn(tmp_path: Path) -> None:
    """R066: the words are in the log, and reach the agent when its turn is over."""
    capture, prompt = ASKING
    async with staged(tmp_path, player(capture)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        where = {"session_id": session_id}
        await client.ask("prompt.submit", {**where, "text": prompt})
        await client.hear("session/request_permission")
        answer = await client.ask("session.steer", {**where, "text": "Also this"})
        await client.ask("session.interrupt", where)
        await client.events(until=lambda event: event["type"] == "prompt.started")

    assert answer == {"status": "queued", "text": "Also this"}


async def test_a_correction_of_nothing_is_rejected(tmp_path: Path) -> None:
    """P-24: the text comes back; nothing is recorded that nobody will work on."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        await stage.recorded(session_id, "available_commands")
        before = await stage.lines(session_id)
        where = {"session_id": session_id, "text": "words"}
        for method in ("session.steer", "session.redirect"):
            assert await client.ask(method, where) == {"status": "rejected", "text": "words"}
        assert await stage.lines(session_id) == before


# -- branches --------------------------------------------------------------------------------------


async def branched(stage: Stage, client: RawClient, **params: Any) -> tuple[Any, list[Any]]:
    answer = await client.ask("session.branch", params)
    return answer, await stage.log(answer["session_id"])


async def test_a_branch_has_the_past_of_its_parent(tmp_path: Path) -> None:
    """P-8, P-22: the same numbers, then `log.forked`; no name of the parent's; its own agent."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        parent = await one_turn(client)
        answer, events = await branched(stage, client, session_id=parent, name="Branch")
        child = answer["session_id"]
        before = await stage.log(parent)
        receipt = await client.ask("prompt.submit", {"session_id": child, "text": "and now?"})
        await client.events(until=ended(receipt["seq"]))
        after = await stage.log(parent)

    fork = next(n for n, event in enumerate(events) if event["type"] == "log.forked")
    copied = [e for e in events[:fork] if e["type"] != "session.alias"]
    assert copied == [e for e in before[:fork] if e["type"] != "session.alias"]
    assert events[fork]["payload"] == {"from": {"session_id": parent, "seq": fork}}
    assert (answer["parent"], answer["forked_at"], answer["title"]) == (parent, fork, "Branch")
    assert answer["messages"][0]["text"] == PROMPT
    aliases = [e["payload"]["id"] for e in events[:fork] if e["type"] == "session.alias"]
    assert set(aliases) == {child}  # the agent's id for the parent still means the parent
    assert before == after


async def test_a_branch_cuts_no_turn(tmp_path: Path) -> None:
    """P-40's kin: a place in mid-turn is taken back to before the turn; nothing stays open."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        parent = await one_turn(client)
        prompt = next(e["seq"] for e in await stage.log(parent) if e["type"] == "prompt.submitted")
        within = await client.ask("session.branch", {"session_id": parent, "at_seq": prompt + 3})
        rows = await client.ask("session.branch", {"session_id": parent, "count": 0})
        state = await stage.gateway.sessions.state(SessionId(within["session_id"]))
        with pytest.raises(RpcError) as beyond:
            await client.ask("session.branch", {"session_id": parent, "at_seq": 10_000})

    assert within["forked_at"] == rows["forked_at"] == prompt - 1
    assert within["messages"] == []
    assert not state.open_work
    assert (beyond.value.code, beyond.value.data["path"]) == (4002, "at_seq")


async def test_a_branch_leaves_no_queued_prompt(tmp_path: Path) -> None:
    """P-24: a prompt that waited at the fork is rejected there; in the parent it goes on."""
    capture, prompt = ASKING
    async with staged(tmp_path, player(capture)) as stage, stage.client() as client:
        parent = (await client.ask("session.create", {"cwd": "."}))["session_id"]
        first = await client.ask("prompt.submit", {"session_id": parent, "text": prompt})
        await client.ask("prompt.submit", {"session_id": parent, "text": "queued"})
        await client.hear("session/request_permission")
        await client.ask("session.interrupt", {"session_id": parent})
        heard = await client.events(until=ended(first["seq"]))
        place = {"session_id": parent, "at_seq": heard[-1]["seq"]}
        answer, events = await branched(stage, client, **place)
        state = await stage.gateway.sessions.state(SessionId(answer["session_id"]))

    assert [e["type"] for e in events].count("prompt.rejected") == 1
    assert not state.open_work


async def test_a_branch_of_an_imported_session_is_dormant() -> None:
    """P-23: nobody's agent is started for it."""
    opened = Event.of("session.opened", {"source": {"kind": "imported"}, "title": "Old"})
    async with bare(opened) as stage, stage.near() as client:
        answer, events = await branched(stage, client, session_id="s-1")
        assert (await client.ask("session.active_list"))["sessions"] == []

    assert answer["title"] == "Old (fork)"
    assert [event["type"] for event in events] == ["session.opened", "log.forked", "session.title"]


async def test_many_fold_one_session_at_once(tmp_path: Path) -> None:
    """P-21: each answer is of its own `latest_seq`, also when all ask at the same moment."""
    async with staged(tmp_path, player(CAPTURE)) as stage, stage.client() as client:
        session_id = await one_turn(client)
        head = len(await stage.lines(session_id))
        found: dict[int, int] = {}

        async def at(seq: int) -> None:
            found[seq] = (await stage.gateway.transcripts.at(SessionId(session_id), seq)).seq

        async with anyio.create_task_group() as tasks:
            for seq in range(1, head + 1):
                tasks.start_soon(at, seq)

    assert found == {seq: seq for seq in range(1, head + 1)}
