"""Transcripts for clients that have to start over: the log folded here.

Above this module: methods, `transcript_pages`. Below it: `replay`, the log.

At ends of turns the state of a session's fold is kept in the log, so that opening a session
does not depend on its length (S-14).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import anyio
import anyio.to_thread

from eventlog import Log, SessionId
from gateway.transcript_pages import Cut
from replay import (
    FOLD_VERSION,
    KIND,
    Fold,
    Transcript,
    checkpoint_of,
    digest,
    opening,
)

FOLDS_KEPT: Final = 16
"""Sessions whose fold is kept, so that the next page or a later state costs only what is new."""

EVERY: Final = 256
"""Events after which a state is kept again, at the end of a turn."""

WEIGHT: Final = 1_024
"""Bytes of a state that have to be paid for by one more event: keeping it stays cheap."""


class Transcripts:
    """Folds sessions on demand. A fold is a cache: it can be made again from the log."""

    def __init__(self, source: Log) -> None:
        self.cut = Cut()
        """What was cut last for a client with small frames."""
        self._source = source
        self._folds: OrderedDict[SessionId, Fold] = OrderedDict()
        self._folding: dict[SessionId, anyio.Lock] = {}
        self._digests: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._read: OrderedDict[tuple[SessionId, int], Transcript] = OrderedDict()

    async def at(self, session_id: SessionId, seq: int | None = None) -> Transcript:
        """Return the transcript at *seq*, or at the head. One session is folded once at a time."""
        lock = self._folding.setdefault(session_id, anyio.Lock())
        try:
            async with lock:
                return await self._folded(session_id, seq)
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._folding.pop(session_id, None)

    async def paged(self, session_id: SessionId, seq: int | None) -> Transcript:
        """Return the same, for somebody who reads it page by page while the session goes on."""
        known = None if seq is None else self._read.get((session_id, seq))
        transcript = known or await self.at(session_id, seq)
        key = (session_id, transcript.seq)
        self._read[key] = transcript
        self._read.move_to_end(key)
        while len(self._read) > FOLDS_KEPT:
            self._read.popitem(last=False)
        return transcript

    async def digest(self, transcript: Transcript) -> str:
        """Return a transcript's digest (P-26). It is remembered: every page has it."""
        key = (transcript.session, transcript.seq)
        if key not in self._digests:
            self._digests[key] = await anyio.to_thread.run_sync(digest, transcript)
            while len(self._digests) > FOLDS_KEPT:
                self._digests.popitem(last=False)
        return self._digests[key]

    def forget(self, session_id: SessionId) -> None:
        """Drop what is kept of a session."""
        self._folds.pop(session_id, None)
        for key in [key for key in self._read if key[0] == session_id]:
            del self._read[key]

    async def keep(self, session_id: SessionId) -> None:
        """Keep a session's state in the log, if enough has come since the last time (S-14)."""
        transcript = await self.at(session_id)
        last = await self._source.checkpoint(session_id, KIND, FOLD_VERSION)
        seq, size = (last.seq, len(last.body)) if last else (0, 0)
        if transcript.seq - seq >= max(EVERY, size // WEIGHT):
            state = await anyio.to_thread.run_sync(checkpoint_of, transcript)
            await self._source.keep(session_id, KIND, state)

    async def _folded(self, session_id: SessionId, seq: int | None) -> Transcript:
        fold = self._folds.get(session_id)
        if fold is None or (seq is not None and fold.seq > seq):
            fold = await self._begin(session_id, seq)
        while True:
            limit = 256 if seq is None else max(0, min(256, seq - fold.seq))
            page = await self._source.read(session_id, after=fold.seq, limit=limit)
            if page.floor > fold.seq and (base := await self._begin(session_id)).seq > fold.seq:
                fold = base  # pruned meanwhile: what is gone stands in the base
                continue
            for envelope in page.envelopes():
                fold.apply(envelope)
            if not page.body or page.next >= (page.head if seq is None else seq):
                break
        self._keep(session_id, fold)
        return fold.transcript()

    async def _begin(self, session_id: SessionId, seq: int | None = None) -> Fold:
        return Fold(await opening(self._source, session_id, at=seq))

    def _keep(self, session_id: SessionId, fold: Fold) -> None:
        known = self._folds.get(session_id)
        if known is None or fold.seq >= known.seq:
            self._folds[session_id] = fold
        self._folds.move_to_end(session_id)
        while len(self._folds) > FOLDS_KEPT:
            self._folds.popitem(last=False)
