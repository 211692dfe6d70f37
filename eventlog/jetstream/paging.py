"""The batches of a session, fetched from where they are in the stream.

Above this module: `reader`. Below it: `link`, `session`.

Our own numbers say nothing about the stream's. Where some batches are is remembered; where one
is that nobody has read is found by halving: the first batch of the session at or after any place
in the stream is one question.
"""

from __future__ import annotations

from typing import Final

import anyio

from eventlog.batch import Run, Sealer, gap
from eventlog.event import SessionId
from eventlog.jetstream import timing
from eventlog.jetstream.link import Link, Silent
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import Stored, stored
from eventlog.jetstream.subjects import Subjects

_AT_ONCE: Final = 256
"""Batches that are asked for together."""

_ROOM: Final = 1 << 20
"""Bytes that are asked for together."""

_NEAR: Final = 16
"""Places in the stream between two that are known: looking at all of them is as quick."""

_HELD: Final = 8
"""Batches that are kept because a page ended in them; a batch may be four pages."""

_AGAIN: Final = 0.02


class Fetcher:
    """Fetches batches."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._subjects = Subjects(link.stream)
        self._held: dict[SessionId, Stored] = {}

    async def runs(
        self, session: Session, sealer: Sealer, after: int, room: int, most: int
    ) -> list[Run]:
        """Return what follows *after*, about *room* bytes of it or *most* events, up to the end.

        Raises:
            LogUnavailable: no server gives them within the deadline.

        """
        end = session.end
        if end is None or end.last <= after:
            return []
        if end.is_whole and end.first <= after + 1:
            return list(sealer.runs([(end.batch, end.last + 1)], after))
        found = await self._messages(session, end, sealer, after, room=room, most=most)
        following = [*(one.first for one in found[1:]), None]
        if found[-1].at == end.at:
            following[-1] = end.last + 1
        pairs = [
            (one.batch, after_)
            for one, after_ in zip(found, following, strict=True)
            if not one.is_fence
        ]
        if not pairs:
            return [gap(after + 1, end.last, end.batch.ts, "missing")]
        return list(sealer.runs(pairs, after))

    async def _messages(
        self, session: Session, end: Stored, sealer: Sealer, after: int, *, room: int, most: int
    ) -> list[Stored]:
        """Return messages from the one that holds the number after *after*, or before it."""
        held = self._held.pop(session.key, None)
        if held and held.first <= after + 1 <= held.last and held.at != end.at:
            return [self._hold(session, held, after, room)]
        until = timing.until(self._link.address.deadline)
        # what a session begins with is its first message, wherever in the stream that is
        at = 1 if after <= session.floor else await self._locate(session, end, after + 1, until)
        taken: list[Stored] = []
        size = 0
        while True:
            some = await self._from(
                session, at, end, room=min(room, _ROOM), most=min(most, _AT_ONCE), until=until
            )
            taken += some
            last = some[-1]
            size += sum(len(one.batch.body) for one in some if one.last > after)
            enough = last.last > after and (size >= room or last.last >= after + most)
            # what a damaged one says of itself cannot be believed: what follows it has to be seen
            if last.at == end.at:
                return taken
            if enough and not last.is_fence and sealer.intact(last.batch):
                self._hold(session, last, after, room)
                return taken
            at = last.at + 1

    def _hold(self, session: Session, batch: Stored, after: int, room: int) -> Stored:
        """Keep a batch of which more than this page is to be read: the next one goes on in it."""
        if len(batch.batch.body) > room and batch.last > after + 1:
            self._held[session.key] = batch
            if len(self._held) > _HELD:
                self._held.pop(next(iter(self._held)))
        return batch

    async def _from(
        self, session: Session, at: int, end: Stored, *, room: int, most: int, until: float
    ) -> list[Stored]:
        """Return some messages of a session from *at* on, the one at *end* at the latest."""
        reason = "every server that answers lags behind"
        subject = self._subjects.events(session.key)
        while anyio.current_time() < until:
            wanted = {"seq": at, "next_by_subj": subject, "batch": most, "max_bytes": room}
            try:
                found = await self._link.collect(wanted)
            except Silent as silent:
                reason = str(silent)
            else:
                some = [one for one in map(stored, found.messages) if one and one.at <= end.at]
                if some:
                    for one in some[:: max(1, len(some) // 8)]:
                        session.note(one.first, one.at)
                    session.note(some[-1].first, some[-1].at)
                    return some
            await self._link.useless()
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable(f"{session.key} cannot be read at present: {reason}")

    async def _locate(self, session: Session, end: Stored, due: int, until: float) -> int:
        """Return where the last batch is that begins at *due* or before, or a place before it."""
        low_first, low = max(
            ((first, at) for first, at in session.places.items() if first <= due), default=(0, 1)
        )
        high_first, high = min(
            ((first, at) for first, at in session.places.items() if first > due),
            default=(end.first, end.at),
        )
        if high_first <= due:
            return high
        halve = False
        while low_first != due and high - low > _NEAR and high_first - low_first > 1:
            share = 0.5 if halve else (due - low_first) / max(1, high_first - low_first) * 0.9
            guess = low + max(1, int((high - low) * share))
            halve = not halve
            (found, *_) = await self._from(session, guess, end, room=1, most=1, until=until)
            if found.first <= due:
                low_first, low = found.first, found.at
            else:
                high_first, high = found.first, guess
        return low
