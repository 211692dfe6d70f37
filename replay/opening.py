"""Where the fold of a session of the log begins: a kept state, what pruning left, or nothing.

Above this module: the gateway's transcripts, `source`. Below it: `dump`, the log's checkpoints.

A checkpoint is a cache keyed by the fold's version: with all of them deleted every answer is the
same, only later (S-14). A base is not: what it holds is nowhere else, so any later fold reads it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from eventlog import Checkpoint, Checkpoints, LogReader, Seq, SessionId, Standing, codec
from replay.dump import dump, load, load_base
from replay.errors import ReplayError
from replay.fold import Fold
from replay.transcript import FOLD_VERSION, Transcript

KIND: Final = "transcript"
"""What checkpoints of this fold are called in the log."""


async def opening(log: Checkpoints, session_id: SessionId, *, at: int | None = None) -> Transcript:
    """Return what the fold of a session goes on from, to come to *at* or to the head.

    It is the empty transcript where nothing was kept, and never beyond *at* but for the base of
    a session that was pruned as far.
    """
    kept = await log.checkpoint(session_id, KIND, FOLD_VERSION, at=at)
    found = kept and _read(kept, load)
    if not found and (base := await log.base(session_id)):
        found = transcript_at(base)
    return replace(found or Transcript(), session=session_id)


class Bases:
    """Makes what pruning leaves (`hermes_log.fold`)."""

    async def standing(self, log: LogReader, session_id: SessionId, seq: int) -> Standing:
        """Return a session's base at *seq*, and whether it works or waits at its head."""
        folding = Fold(await opening(log, session_id, at=seq))
        await _advance(folding, log, session_id, seq)
        base = state_of(folding.transcript())
        await _advance(folding, log, session_id, None)
        return Standing(base, open=folding.transcript().status in {"running", "waiting"})


bases: Final = Bases()
"""The one that is registered."""


async def _advance(folding: Fold, log: LogReader, session_id: SessionId, to: int | None) -> None:
    while to is None or folding.seq < to:
        limit = 1024 if to is None else min(1024, to - folding.seq)
        page = await log.read(session_id, after=folding.seq, limit=limit, limit_bytes=1 << 20)
        for envelope in page.envelopes():
            folding.apply(envelope)
        if not page.body:
            return


def transcript_at(base: Checkpoint) -> Transcript | None:
    """Return the transcript that a base holds, whatever version of the fold made it."""
    return _read(base, load_base)


def state_of(transcript: Transcript) -> Checkpoint:
    """Return *transcript* as the log keeps it: as a checkpoint, or as a base."""
    return Checkpoint(Seq(transcript.seq), FOLD_VERSION, codec.dumps(dump(transcript)))


def _read(state: Checkpoint, how: Any) -> Transcript | None:
    try:
        found: Transcript = how(codec.loads(state.body))
    except ReplayError:
        return None  # of a shape that only the program that kept it knew
    return found if found.seq == state.seq else None
