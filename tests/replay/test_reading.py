"""Sessions of the log read page by page: memory, kept states, pruned beginnings."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from eventlog import Event, SessionId, open_log
from replay import Transcript, opening, state_of
from replay.part import Part
from replay.points import point_of
from replay.reading import take_log
from replay.selection import Selection
from tests.replay.conftest import conversation

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-long")


async def test_memory_is_the_transcripts_not_the_logs(tmp_path: Path) -> None:
    """R158 (part): of 24 MB of events that nobody sees, a few pages are in memory at a time."""
    spinner = Event.of("thinking.delta", {"text": "x" * 8000})
    async with open_log(tmp_path) as log:
        await log.append(SESSION, conversation("long"))
        for _ in range(6):
            await log.append(SESSION, [spinner] * 500)
    tracemalloc.start()
    try:
        taken = await take_log(SESSION, Part(), log=str(tmp_path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert taken.transcript.ephemeral["thinking.delta"] == 3000
    assert len(taken.transcript.turns) == 2
    assert peak < 12_000_000


async def test_seconds_count_from_the_first_event_of_the_log(tmp_path: Path) -> None:
    """R169: `--until +N` of a session of the log stops N seconds after its beginning."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, conversation("long"))
    whole = (await take_log(SESSION, Part(), log=str(tmp_path))).transcript
    later = Part(until=point_of("+3600"))

    assert (await take_log(SESSION, later, log=str(tmp_path))).transcript == whole
    assert whole.entries


async def test_a_kept_state_changes_nothing_but_the_time(tmp_path: Path) -> None:
    """S-14: from a checkpoint the same comes out as from the first event, at every point."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, conversation("long"))
        points = [None, "3", "6", "turn:1", "turn:2", "+0"]
        parts = [Part(until=None if text is None else point_of(text)) for text in points]
        parts += [Part(wanted=Selection(last=1)), Part(lines=True), Part(counted=True)]
        before = [await take_log(SESSION, part, log=str(tmp_path)) for part in parts]
        for text in ("4", "8"):
            kept = (
                await take_log(SESSION, Part(until=point_of(text)), log=str(tmp_path))
            ).transcript
            await log.keep(SESSION, "transcript", state_of(kept))
        assert (await opening(log, SESSION)).seq == 8
        after = [await take_log(SESSION, part, log=str(tmp_path)) for part in parts]

    assert after == before


async def test_a_pruned_session_begins_with_what_was_left_of_it(tmp_path: Path) -> None:
    """The base that pruning leaves is folded on: nothing of the conversation is gone."""
    async with open_log(tmp_path) as log:
        await log.append(SESSION, conversation("long"))
        whole = (await take_log(SESSION, Part(), log=str(tmp_path))).transcript
        prunable = await log.prunable(SESSION)
        kept = await take_log(SESSION, Part(until=point_of(str(prunable.seq))), log=str(tmp_path))
        await log.prune(SESSION, state_of(kept.transcript))
        after = (await take_log(SESSION, Part(), log=str(tmp_path))).transcript

    assert isinstance(after, Transcript)
    assert after == whole
