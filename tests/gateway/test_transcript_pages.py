"""A transcript in pages: whatever fits on one, together they are the transcript."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eventlog import Event, MemoryStore, codec, import_file
from gateway import transcript_pages
from gateway.transcript_pages import assembled, page_of
from gateway.transcripts import Transcripts
from replay import Transcript, dump

pytestmark = pytest.mark.anyio


async def transcript_of(captures: Path) -> Transcript:
    log = MemoryStore()
    file = captures / "acp" / "claude049-tools.jsonl"
    await import_file(log, file.name, file.read_bytes())
    (row, *_) = await log.sessions()
    return await Transcripts(log).at(row.id)


@pytest.mark.parametrize("pieces", [True, False])
@pytest.mark.parametrize("limit", [64, 300, 2_000, 1 << 20])
async def test_pages_of_any_size_are_the_transcript(
    captures: Path, limit: int, *, pieces: bool
) -> None:
    """P-3, P-26: put together they are what was cut, and with pieces none is over its limit, be it
    the head or an entry that is too long.
    """
    transcript = await transcript_of(captures)
    sizes: list[int] = []
    count = 0

    async def ask(params: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        count += 1
        page = page_of(
            transcript,
            after=params.get("after"),
            offset=params.get("offset", 0),
            limit=limit,
            pieces=pieces,
        )
        sizes.append(len(codec.dumps(page)))
        return {**page, "seq": transcript.seq}

    whole, seq = await assembled(ask)
    assert whole == codec.loads(codec.dumps(dump(transcript)))
    assert seq == transcript.seq
    if pieces:
        assert max(sizes) < limit + 400
    assert (count == 1) == (limit == 1 << 20)


async def test_a_page_costs_what_a_page_costs(captures: Path, monkeypatch: Any) -> None:
    """P-26, R162: of a session ten times as long a page makes no more entries and no more turns, and
    what is cut is made once, however many pieces it has.
    """
    made: list[Transcript] = []

    def noted(some: Transcript) -> dict[str, Any]:
        made.append(some)
        return dump(some)

    monkeypatch.setattr(transcript_pages, "dump", noted)
    short = await transcript_of(captures)
    long = replace(short, entries=short.entries * 10, turns=short.turns * 10)
    for whole in (short, long):
        made.clear()
        page_of(whole, after=short.entries[0].id, offset=0, limit=4096, pieces=True)
        assert [len(one.turns) for one in made] == [0]
        assert sum(len(one.entries) for one in made) <= 256

    made.clear()
    offset, cut, pieces = 0, transcript_pages.Cut(), 0
    while True:
        page = page_of(long, after=None, offset=offset, limit=300, pieces=True, cut=cut)
        offset, pieces = page["piece"]["next"], pieces + 1
        if not page["piece"]["has_more"]:
            break
    assert pieces > 10
    assert len(made) == 1


async def test_pages_of_a_session_that_goes_on(captures: Path) -> None:
    """P-26: who reads page by page at one number gets the same transcript, and nothing is folded
    again for it, however far the session has gone meanwhile.
    """
    log = MemoryStore()
    file = captures / "acp" / "claude049-tools.jsonl"
    await import_file(log, file.name, file.read_bytes())
    (row, *_) = await log.sessions()
    transcripts = Transcripts(log)
    first = await transcripts.paged(row.id, None)
    await log.append(row.id, [Event.of("notice", {"message": "more"})])
    newer = await transcripts.paged(row.id, None)

    assert (await transcripts.paged(row.id, first.seq)) is first
    assert newer.seq == first.seq + 1
    transcripts.forget(row.id)
    assert (await transcripts.paged(row.id, first.seq)) is not first
