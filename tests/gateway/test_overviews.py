"""What a list shows of sessions, whoever recorded them and whether they are live or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eventlog import Event, SessionId, SqliteStore, import_file
from gateway.overviews import BUDGET, KIND, LONG, VERSION, Overviews
from gateway.transcripts import Transcripts
from replay import state_of
from tests.gateway.stage import bare, staged

pytestmark = pytest.mark.anyio

RECORDED = {
    file.name: file.read_bytes() for file in Path(__file__).parents[1].glob("captures/*/*.jsonl")
}
OPENED = Event.of("session.opened", {"source": {"kind": "imported"}, "protocol": 1})


def said(text: str) -> Event:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return Event.of("acp.session_update", {"update": update})


def asked(text: str) -> Event:
    return Event.of("prompt.submitted", {"content": [{"type": "text", "text": text}]})


async def listed(client: Any, **how: int) -> dict[str, Any]:
    rows = (await client.ask("session.list", how))["sessions"]
    return {row["id"]: row for row in rows}


async def test_every_session_has_its_count_and_its_last_words(tmp_path: Path) -> None:
    """Recorded sessions of nine agents and of Hermes, none of them live: the list says what opening
    each one says (R075)."""
    async with SqliteStore.open(tmp_path) as log:
        for name, content in RECORDED.items():
            await import_file(log, name, content)
    async with staged(tmp_path) as stage, stage.client(acp_updates=False) as client:
        rows = await listed(client, limit=1_000)
        assert len(rows) > 40
        for id_, row in rows.items():
            snapshot = await client.ask("session.resume", {"session_id": id_})
            texts = [item["text"] for item in snapshot["messages"] if item.get("text")]
            assert row["message_count"] == snapshot["message_count"]
            assert (
                row["preview"] == " ".join(texts[-1].split())[:200] if texts else not row["preview"]
            )


async def test_a_list_after_a_restart_reads_no_long_session(tmp_path: Path) -> None:
    """S-14: what was shown is kept in the log; a list goes on from there, also behind what was
    pruned since."""
    session_id = SessionId("s-long")
    events = [
        OPENED,
        *[event for n in range(LONG) for event in (asked(f"{n}"), said(f"answer {n}"))],
    ]
    async with SqliteStore.open(tmp_path) as log:
        await log.append(session_id, events)
    async with staged(tmp_path) as stage, stage.client() as client:
        row = (await listed(client))[session_id]
        assert (row["message_count"], row["preview"]) == (2 * LONG, f"answer {LONG - 1}")
    async with SqliteStore.open(tmp_path) as log:
        kept = await log.checkpoint(session_id, KIND, VERSION)
        assert kept
        assert kept.seq == len(events)
        await log.append(session_id, [asked("more"), said("of it")])
        base = state_of(await Transcripts(log).at(session_id, 101))
        reach = await log.prunable(session_id, to=101)
        if reach.events:
            await log.prune(session_id, base)
        read: list[int] = []
        page = log.read

        async def counted(*asked_for: Any, **how: Any) -> Any:
            found = await page(*asked_for, **how)
            read.append(len(found.lines))
            return found

        log.read = counted  # type: ignore[method-assign]
        (found,) = (
            await Overviews(log, Transcripts(log)).of_list(list(await log.sessions()))
        ).values()
        assert (found.messages, found.preview) == (2 * LONG + 2, "of it")
        assert sum(read) == 2


async def test_a_list_waits_for_no_long_sessions() -> None:
    """Those that take too long to read for the first time have no count yet; the next list has
    more of them, until all are known."""
    async with bare() as stage, stage.near() as client:
        for number in range(3):
            id_ = SessionId(f"s-{number}")
            await stage.gateway.log.append(id_, [OPENED, *[said("x")] * BUDGET])
        await stage.gateway.log.append(SessionId("s-short"), [OPENED, asked("hi")])
        known = []
        for _ in range(4):
            rows = await listed(client)
            known.append({id_ for id_, row in rows.items() if "message_count" in row})
    assert [len(ids) for ids in known] == [1, 2, 3, 4]


async def test_a_deleted_session_leaves_nothing_behind() -> None:
    """What comes under its id later is counted from its beginning (P-20a)."""
    async with bare(OPENED, asked("one"), asked("two")) as stage, stage.near() as client:
        assert (await listed(client))["s-1"]["message_count"] == 2
        await client.ask("session.delete", {"session_id": "s-1"})
        await stage.gateway.log.append(SessionId("s-1"), [OPENED, asked("three")])
        assert (await listed(client))["s-1"]["message_count"] == 1
