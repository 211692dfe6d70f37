"""A transcript in pages: whatever fits on one, together they are the transcript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eventlog import MemoryStore, codec, import_file
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
