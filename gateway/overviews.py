"""What lists show of sessions, live or not, without folding each one each time.

Above this module: `session.list`, `session.active_list`. Below it: transcripts, `overview`.

At ends of turns, and when a session is first asked for, it is what the transcript says. In between
it is folded on by itself, which costs little. What a long session's is stays in the log as a state
that is kept (S-14), so that a list after a restart reads no long session.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Final

import anyio.to_thread

from eventlog import Checkpoint, EventLogError, Log, Malformed, Seq, SessionId, SessionRow, codec
from gateway.closing import catch_up
from gateway.hermes_view import rows_of
from gateway.overview import Overview
from gateway.transcripts import Transcripts
from replay import FOLD_VERSION, Transcript

log = logging.getLogger("gateway")

KIND: Final = "overview"
"""What kept states of this kind are called in the log."""

VERSION: Final = 1_000 * FOLD_VERSION + 1
"""It says what the transcript says, so it is made anew when that is folded in another way."""

KEPT: Final = 16_384
"""Overviews that are remembered."""

LONG: Final = 512
"""Events from which on a session's overview is kept in the log."""

BUDGET: Final = 20_000
"""Events that are folded for one list; what takes more is not in it, and is in the next one."""


class Overviews:
    """Makes and remembers them. What it remembers it could always make again."""

    def __init__(self, source: Log, transcripts: Transcripts) -> None:
        self._source = source
        self._transcripts = transcripts
        self._known: OrderedDict[SessionId, Overview] = OrderedDict()

    async def of(self, session_id: SessionId, head: int) -> Overview:
        """Return what is shown of a session at *head* or later."""
        known = await self._find(session_id)
        if known is None:
            return await self.settle(session_id)
        if known.seq < head:
            await catch_up(self._source, session_id, known)
        return known

    async def of_list(self, rows: list[SessionRow]) -> dict[SessionId, Overview]:
        """Return what is shown of sessions in a list, as far as that costs no more than it may."""
        found: dict[SessionId, Overview] = {}
        left = BUDGET
        for row in rows:
            known = await self._find(row.id)
            cost = row.head - max(row.floor, known.seq if known else 0)
            if cost <= left or left == BUDGET:
                left -= cost
                found[row.id] = await self.of(row.id, row.head)
        return found

    async def settle(self, session_id: SessionId) -> Overview:
        """Take what the transcript says, and keep it if it was long to make."""
        transcript = await self._transcripts.at(session_id)
        known = await anyio.to_thread.run_sync(_overview, transcript)
        self._remember(session_id, known)
        if transcript.seq >= LONG:
            try:
                await self._source.keep(session_id, KIND, _state(known))
            except EventLogError as error:
                log.info("%s: what a list shows was not kept: %s", session_id, error)
        return known

    def forget(self, session_id: SessionId) -> None:
        """Drop what is remembered of a session."""
        self._known.pop(session_id, None)

    async def _find(self, session_id: SessionId) -> Overview | None:
        """Return what is remembered or kept of a session."""
        if known := self._known.get(session_id):
            self._known.move_to_end(session_id)
            return known
        state = await self._source.checkpoint(session_id, KIND, VERSION)
        try:
            kept = Overview.of_json(codec.loads(state.body)) if state else None
        except (Malformed, TypeError) as error:
            log.warning("%s: what was kept for lists cannot be read: %s", session_id, error)
            kept = None
        if kept:
            self._remember(session_id, kept)
        return kept

    def _remember(self, session_id: SessionId, known: Overview) -> None:
        self._known[session_id] = known
        self._known.move_to_end(session_id)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)


def _overview(transcript: Transcript) -> Overview:
    rows = rows_of(transcript)
    return Overview(
        seq=Seq(transcript.seq),
        began=transcript.t0,
        latest=transcript.t1,
        messages=len(rows.messages),
        preview=rows.preview,
        model=transcript.info.model or "",
        title=transcript.title or "",
        speaking=bool(rows.messages) and rows.messages[-1]["role"] == "assistant",
    )


def _state(known: Overview) -> Checkpoint:
    return Checkpoint(known.seq, VERSION, codec.dumps(known.json()))
