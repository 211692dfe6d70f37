"""Where the fold of a session of the log begins: a kept state, what pruning left, or nothing.

Above this module: the gateway's transcripts, `source`. Below it: `dump`, `kept`, the log's checkpoints.

A checkpoint is a cache keyed by the fold's version: with all of them deleted every answer is the
same, only later (S-14). A base is not: what it holds is nowhere else, so any later fold reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from eventlog import Checkpoint, Checkpoints, LogReader, Seq, SessionId, Standing, codec
from replay.dump import dump, load_base
from replay.errors import ReplayError
from replay.fold import Fold
from replay.kept import Ending, read_end, read_whole, written
from replay.names import NAMES, names_at
from replay.transcript import FOLD_VERSION, Transcript

KIND: Final = "transcript"
"""What checkpoints of this fold are called in the log."""


async def opening_end(log: Checkpoints, session_id: SessionId, *, turns: int) -> Ending | None:
    """Return the last *turns* of the newest state that was kept, if one was."""
    kept = await log.checkpoint(session_id, KIND, FOLD_VERSION, at=None)
    if kept is None or (found := _kept(kept, partial(read_end, turns=turns))) is None:
        return None
    return Ending(replace(found.transcript, session=session_id), found.older)


async def opening(log: Checkpoints, session_id: SessionId, *, at: int | None = None) -> Transcript:
    """Return what the fold of a session goes on from, to come to *at* or to the head.

    It is the empty transcript where nothing was kept, and never beyond *at* but for the base of
    a session that was pruned as far.
    """
    kept = await log.checkpoint(session_id, KIND, FOLD_VERSION, at=at)
    if kept and (whole := _kept(kept, read_whole)):
        found = whole.transcript
    else:
        base = await log.base(session_id)
        found = (base and transcript_at(base)) or Transcript()
    return replace(found, session=session_id)


class Bases:
    """Makes what pruning leaves (`hermes_log.fold`)."""

    async def standing(self, log: LogReader, session_id: SessionId, seq: int) -> Standing:
        """Return a session's base at *seq*, and whether it works or waits at its head."""
        folding = Fold(await opening(log, session_id, at=seq))
        await _advance(folding, log, session_id, seq)
        names = await names_at(log, session_id, seq)
        base = state_of(folding.transcript(), names=names)
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
    try:
        found = load_base(codec.loads(base.body))
    except ReplayError:
        return None  # of a shape that only the program that kept it knew
    return found if found.seq == base.seq else None


def state_of(transcript: Transcript, *, names: Mapping[str, str] | None = None) -> Checkpoint:
    """Return *transcript* as a base: what cassettes carry and any later fold reads.

    *names* are the session's ids elsewhere, by scope, which the fold does not keep.
    """
    kept = {NAMES: dict(names)} if names else {}
    body = codec.dumps({**dump(transcript), **kept})
    return Checkpoint(Seq(transcript.seq), FOLD_VERSION, body)


def checkpoint_of(transcript: Transcript) -> Checkpoint:
    """Return *transcript* as a checkpoint: a cache for this version of the fold."""
    return Checkpoint(Seq(transcript.seq), FOLD_VERSION, written(transcript))


def _kept(state: Checkpoint, how: Callable[[bytes], Ending]) -> Ending | None:
    try:
        found = how(state.body)
    except ReplayError:
        return None
    return found if found.transcript.seq == state.seq else None
