"""Opening a session does not depend on its length, and what is kept for it changes no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import (
    Checkpoint,
    Event,
    Log,
    LogUnavailable,
    MemoryStore,
    Seq,
    SessionId,
    SqliteStore,
    read_capture,
)
from gateway.checkpoints import TurnEnds
from gateway.errors import RpcError
from gateway.overviews import Overviews
from gateway.transcripts import EVERY, Transcripts
from replay import EMPTY, FOLD_VERSION, KIND, Transcript, digest, fold, opening, state_of
from tests.gateway.stage import bare

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
CAPTURES = sorted((Path(__file__).parents[1] / "captures").glob("*/*.jsonl"))


async def whole(log: Log) -> Transcript:
    """The fold from the start, of all that the log holds."""
    page = await log.read(SESSION, limit=1_000_000)
    return fold(EMPTY, page.envelopes())


def answers(count: int) -> list[Event]:
    """Turns of Hermes, each with some words."""
    turn = [Event.of("message.start", {"input": "go"})]
    turn += [Event.of("message.delta", {"text": f"word {n} "}) for n in range(8)]
    turn += [Event.of("message.complete", {"text": "done", "status": "complete"})]
    return turn * count


@given(place=st.integers(0, 100), capture=st.sampled_from(CAPTURES))
@settings(max_examples=40, deadline=None)
async def test_going_on_from_a_kept_state_is_folding_from_the_start(
    place: int, capture: Path
) -> None:
    """S-14: wherever a real session was cut and its state kept, the transcript is the same."""
    for recorded in read_capture(capture.read_bytes())[:1]:  # noqa: ASYNC240 - a small file
        log = MemoryStore()
        await log.append(SESSION, recorded.events)
        expected = await whole(log)
        cut = max(1, len(recorded.events) * place // 100)
        first = fold(EMPTY, (await log.read(SESSION, limit=cut)).envelopes())
        await log.keep(SESSION, KIND, state_of(first))

        assert (await opening(log, SESSION)).seq == cut
        assert digest(await Transcripts(log).at(SESSION)) == digest(expected)
        earlier = await Transcripts(log).at(SESSION, cut // 2)
        assert earlier.seq == cut // 2
        await log.forget()
        assert digest(await Transcripts(log).at(SESSION)) == digest(expected)


async def test_a_state_is_kept_at_ends_of_turns(tmp_path: Path) -> None:
    """S-14: when enough has come since the last one; a short session needs none."""
    async with SqliteStore.open(tmp_path) as log:
        transcripts = Transcripts(log)
        await log.append(SESSION, answers(2))
        await transcripts.keep(SESSION)
        assert await log.checkpoint(SESSION, KIND, FOLD_VERSION) is None
        await log.append(SESSION, answers(EVERY // 10))
        await transcripts.keep(SESSION)
        kept = await log.checkpoint(SESSION, KIND, FOLD_VERSION)
        assert kept is not None
        assert kept.seq == (await log.read(SESSION, limit=0)).head
    async with SqliteStore.open(tmp_path) as log:
        assert await Transcripts(log).at(SESSION) == await again(log)


async def again(log: Log) -> Transcript:
    """The transcript without anything kept."""
    await log.forget()
    return await Transcripts(log).at(SESSION)


async def test_a_state_that_cannot_be_read_is_passed_over() -> None:
    """S-14: one of another shape, or of another place than it says, is as good as none."""
    log = MemoryStore()
    await log.append(SESSION, answers(2))
    expected = await again(log)
    for body in (b'{"nonsense":1}', state_of(EMPTY).body, b'{"fold_version":99}'):
        await log.keep(SESSION, KIND, Checkpoint(Seq(5), FOLD_VERSION, body))
        assert await Transcripts(log).at(SESSION) == expected


async def test_a_kept_state_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """S-14: what stands before it is not read again."""
    log = MemoryStore()
    await log.append(SESSION, answers(60))
    await Transcripts(log).keep(SESSION)
    read: list[int] = []
    plain = log.read

    async def watched(session_id: SessionId, *, after: int = 0, **how: Any) -> Any:
        read.append(after)
        return await plain(session_id, after=after, **how)

    monkeypatch.setattr(log, "read", watched)
    await Transcripts(log).at(SESSION)
    assert min(read) == 600


class Kept(MemoryStore):
    """Says when something was kept; the first time it fails."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = anyio.Event()
        self.failed = False

    async def keep(self, session_id: SessionId, kind: str, state: Checkpoint) -> None:
        if not self.failed:
            self.failed = True
            raise LogUnavailable("log", "the disk is full")
        await super().keep(session_id, kind, state)
        self.kept.set()


async def test_ends_of_turns_are_worked_off_one_by_one() -> None:
    """S-14: nobody waits for a state to be kept, and one that cannot be stops no other."""
    log = Kept()
    transcripts = Transcripts(log)
    turns = TurnEnds(transcripts, Overviews(log, transcripts))
    for session in (SessionId("s-0"), SESSION):
        await log.append(session, answers(60))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turns.run)
        for session in (SessionId("s-0"), SESSION, SESSION, SessionId("unknown")):
            turns.note(session)
        with anyio.fail_after(10):
            await log.kept.wait()
        tasks.cancel_scope.cancel()
    assert await log.checkpoint(SESSION, KIND, FOLD_VERSION) is not None


async def pruned(log: Log, seq: int) -> None:
    """Prune a session, as a command does: what it was at the floor stays."""
    reach = await log.prunable(SESSION, to=seq)
    await log.prune(SESSION, state_of(await Transcripts(log).at(SESSION, reach.seq)))


async def test_a_pruned_session_has_the_transcript_it_had(tmp_path: Path) -> None:
    """S-10, R002: over its base the fold gives what the whole log gave, digest and all."""
    async with SqliteStore.open(tmp_path) as log:
        for _ in range(6):
            await log.append(SESSION, answers(5))
        before = await again(log)
        await pruned(log, 170)
        assert (await log.read(SESSION, limit=0)).floor == 150
        after = await again(log)
        assert (after, digest(after)) == (before, digest(before))
        await pruned(log, 300)
        assert await again(log) == before


async def test_a_base_of_an_earlier_fold_is_read() -> None:
    """S-10: a base is data: a later version of the fold goes on from it."""
    log = MemoryStore()
    await log.append(SESSION, answers(2))
    base = state_of(await Transcripts(log).at(SESSION, 10))
    old = base.body.replace(b'"fold_version":%d' % FOLD_VERSION, b'"fold_version":1')
    await log.prune(SESSION, Checkpoint(base.seq, 1, old))
    assert len((await again(log)).turns) == 2


async def test_a_reader_that_pruning_overtook_starts_from_a_snapshot() -> None:
    """R002, P-16: truncated, floor and head; the transcript is there, and only what can be had."""
    async with bare(*answers(10)) as stage, stage.near(acp_updates=True) as client:
        log = stage.gateway.log
        digest_before = digest(await again(log))
        await pruned(log, 60)
        asked = {"session_id": SESSION, "last_seen": 10}
        page = await client.ask("session.events.since", asked)
        assert (page["truncated"], page["snapshot_required"], page["events"]) == (True, True, [])
        assert page["latest_seq"] == 100
        answer = await client.ask("session.transcript", {"session_id": SESSION})
        assert (answer["seq"], answer["digest"]) == (100, digest_before)
        page = await client.ask("session.events.since", {**asked, "last_seen": 60})
        assert (page["truncated"], page["count"]) == (False, 40)
        with pytest.raises(RpcError) as error:
            await client.ask("session.transcript", {"session_id": SESSION, "at": 59})
        assert error.value.data == {"path": "at", "floor": 60, "head": 100}
        at_floor = await client.ask("session.transcript", {"session_id": SESSION, "at": 60})
        assert at_floor["seq"] == 60
