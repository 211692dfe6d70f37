"""What was pruned is shown all the same: from the log, from an import, from a file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from eventlog import (
    Checkpoint,
    Event,
    Seq,
    SessionId,
    SqliteStore,
    export_cassette,
    import_cassette,
    read_capture,
)
from eventlog.folding import folding
from replay import EMPTY, FOLD_VERSION, KIND, digest, fold, opening, read_recordings, state_of
from replay.opening import bases
from replay.part import Part, take

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")
CAPTURE = Path(__file__).parents[1] / "captures" / "acp" / "claude049-modes.jsonl"


async def recorded(log: SqliteStore) -> int:
    """Record a real session in small batches; return its head."""
    (one, *_) = read_capture(CAPTURE.read_bytes())
    for start in range(0, len(one.events), 5):
        await log.append(SESSION, one.events[start : start + 5])
    return len(one.events)


def test_the_fold_is_found_by_its_name() -> None:
    """`hermes-log prune` knows no fold; this package says where one is."""
    assert folding() is bases


async def test_pruned_anywhere_a_session_reads_as_it_did(tmp_path: Path) -> None:
    """S-10, P-26: the same digest from the log, from its cassette, and from the cassette's import."""
    async with SqliteStore.open(tmp_path / "log") as log:
        head = await recorded(log)
        before = digest(fold(EMPTY, (await log.read(SESSION, limit=head)).envelopes()))
        for to in (head // 3, head // 2, head):
            reach = await log.prunable(SESSION, to=to)
            standing = await bases.standing(log, SESSION, reach.seq)
            assert (standing.base.seq, standing.open) == (reach.seq, False)
            await log.prune(SESSION, standing.base)
            file = b"".join([piece async for piece in export_cassette(log, SESSION)])
            (recording,) = read_recordings(file, "file").sessions
            taken = take(recording.id, recording.lines, Part(), begin=recording.begin)
            assert digest(taken.transcript) == before
            assert taken.transcript.session == SESSION
            async with SqliteStore.open(tmp_path / f"import-{to}") as other:
                (one,) = await import_cassette(other, BytesIO(file))
                begin = await opening(other, one.session_id)
                page = await other.read(one.session_id, after=begin.seq, limit=head)
                assert digest(fold(begin, page.envelopes())) == before


async def test_what_waits_is_told(tmp_path: Path) -> None:
    """S-10: a session that waits for an answer, or works, is open: it is not pruned."""
    question = {"id": "srq-1", "method": "clarify", "params": {"question": "?"}}
    async with SqliteStore.open(tmp_path) as log:
        await log.append(SESSION, [Event.of("message.start", {"input": "go"})])
        assert (await bases.standing(log, SESSION, 1)).open
        await log.append(
            SESSION, [Event.of("message.complete", {"text": "", "status": "complete"})]
        )
        assert not (await bases.standing(log, SESSION, 1)).open
        await log.append(SESSION, [Event.of("request.opened", question)])
        assert (await bases.standing(log, SESSION, 1)).open


async def test_a_kept_state_is_only_for_places_behind_it(tmp_path: Path) -> None:
    """S-14: to see an earlier place the fold begins before it, with the base at the earliest."""
    async with SqliteStore.open(tmp_path) as log:
        head = await recorded(log)
        page = await log.read(SESSION, limit=head)
        for seq in (10, 20):
            state = state_of(fold(EMPTY, page.envelopes()[:seq]))
            await log.keep(SESSION, KIND, state)
        assert [(await opening(log, SESSION, at=at)).seq for at in (5, 10, 19, 20, None)] == [
            *(0, 10, 10, 20, 20)
        ]
        await log.prune(SESSION, state_of(fold(EMPTY, page.envelopes()[:15])))
        assert [(await opening(log, SESSION, at=at)).seq for at in (5, 19, 20)] == [15, 15, 20]
        other = Checkpoint(Seq(25), FOLD_VERSION + 1, state_of(EMPTY).body)
        await log.keep(SESSION, KIND, other)
        assert (await opening(log, SESSION)).seq == 15  # another version has taken its place
