"""Recording that events are lost, where a session with such a gap is copied.

Above this module: `store`. Below it: `publishing`, `stored`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from eventlog.batch import Sealer
from eventlog.checksum import Checksum
from eventlog.errors import Fenced, WrongExpectedVersion
from eventlog.event import Event, Span
from eventlog.jetstream.parts import Parts
from eventlog.jetstream.publishing import Conflict, Outgoing, Publisher
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import ID, Stored, headers


class Gaps:
    """Records what is lost; *holds* says whether this process may write a session."""

    def __init__(
        self,
        parts: Parts,
        publisher: Publisher,
        *,
        checksum: Checksum,
        writer: str,
        holds: Callable[[Session], bool],
    ) -> None:
        self._looks = parts.looks
        self._subjects = parts.subjects
        self._epoch = parts.found.epoch
        self._publisher = publisher
        self._checksum = checksum
        self._writer = writer
        self._holds = holds

    async def record(self, session: Session, gap: Event, lost: Span, at: int) -> None:
        """Let *gap* stand in the place of the events *lost*, which have to be the next ones."""
        while True:
            await self._looks.fresh(session)
            if not self._holds(session):
                raise Fenced(session.key, session.claim.owner)
            if session.head != lost.first - 1:
                raise WrongExpectedVersion(session.key, lost.first - 1, session.head)
            try:
                return await self._publish(session, gap, lost, at)
            except Conflict:
                continue  # it may be a fence: then nothing of what was believed is wrong

    async def _publish(self, session: Session, gap: Event, lost: Span, at: int) -> None:
        batch = Sealer(session.key, self._checksum).seal_gap(lost.first, lost.last, at, gap)
        row = session.row
        if not session.is_there and not row.created:
            row = replace(row, created=at)
        said = headers(batch, row.header(), epoch=self._epoch, writer=self._writer)
        said[ID] = f"{session.key}:{batch.first}"
        message = Outgoing(self._subjects.events(session.key), batch.body, said)
        place = await self._publisher.publish(session, [message.follows(session.end_at)])
        if session.end_at <= place:  # else others have gone on from there, and were seen first
            session.end, session.row = Stored(place, batch, self._writer, place, row.header()), row
            session.tail = None
            session.wake()
