"""Removing what is old, or a whole session, and beginning one behind a base (S-10).

Above this module: `store`. Below it: `keeping`, `publishing`, `scanning`.

A fence says first where the session begins now; then what lies before is removed. Whoever reads in
between goes by that, and whoever is cut off in between is finished by the next prune. The
last message of a session always stays, or a fence in its place: it keeps the numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from eventlog.batch import LINES, Batch
from eventlog.errors import WrongExpectedVersion
from eventlog.event import START, Seq
from eventlog.jetstream.contents import Ref
from eventlog.jetstream.fences import fence, fence_at
from eventlog.jetstream.keeping import Keeping
from eventlog.jetstream.parts import Parts
from eventlog.jetstream.publishing import Conflict, Outgoing, Publisher
from eventlog.jetstream.row import Row
from eventlog.jetstream.scanning import Scanner
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import ROLLUP, Stored, headers, stored
from eventlog.jetstream.subjects import Subjects
from eventlog.store import Checkpoint, Prunable, SessionRow


class Pruning:
    """Removes from a log."""

    def __init__(
        self, parts: Parts, keeping: Keeping, publisher: Publisher, *, writer: str
    ) -> None:
        self._looks = parts.looks
        self._scanner = parts.scanner
        self._pieces = parts.pieces
        self._subjects = parts.subjects
        self._epoch = parts.found.epoch
        self._keeping = keeping
        self._publisher = publisher
        self._writer = writer

    async def prune(self, session: Session, base: Checkpoint) -> None:
        """Put *base* in the place of all that came up to it."""
        await self._looks.fresh(session)
        if base.seq <= session.floor:
            return
        batches = [one for one, _ in await sized(self._scanner, self._subjects, session)]
        if base.seq not in {one.last for one in batches}:
            raise ValueError(f"{base.seq} is not where a batch of {session.key} ends")
        old = session.row.base
        left = await self._keeping.put_base(session.key, base)
        await self._change(session, lambda row: replace(row, floor=base.seq, base=left))
        await self._remove(session, base.seq, batches)
        if old is not None:
            await self._pieces.purge(self._subjects.base(session.key, old.seq, ">"))

    async def delete(self, session: Session) -> bool:
        """Remove all but what keeps the numbers from being used again."""
        await self._looks.fresh(session)
        if not session.is_there:
            return False
        while True:
            head = session.head
            try:
                await self._publish(session, Row(floor=head))
            except Conflict:
                await self._looks.fresh(session)
                continue
            break
        for part in ("ref", "blob", "base", "kept", "row"):
            await self._pieces.purge(f"{self._subjects.under(part, session.key)}.>")
        await self._pieces.purge(self._subjects.aliases(session.key))
        await self._pieces.purge(self._subjects.events(session.key), before=session.end_at)
        session.tail = None
        session.places.clear()
        return True

    async def begin(self, session: Session, base: Checkpoint, row: SessionRow) -> None:
        """Make a session that begins behind *base*."""
        await self._looks.fresh(session)
        if session.head:
            raise WrongExpectedVersion(session.key, START, session.head)
        left = await self._keeping.put_base(session.key, base)
        made = Row(row.created, floor=base.seq, base=left).named(row.title, row.opened)
        if made.apart:
            subject = self._subjects.row(session.key, made.apart)
            await self._pieces.store(subject, made.details())
        batch = Batch(base.seq + 1, base.seq, row.updated, LINES, 0, b"")
        said = headers(batch, made.header(), epoch=self._epoch, writer=self._writer)
        events = Outgoing(self._subjects.events(session.key), b"", said)
        try:
            at = await self._publisher.publish(session, [events.follows(session.end_at)])
        except Conflict:
            # what moved it may be a claim on it: it is nobody's session yet
            await self.begin(session, base, row)
            return
        if session.end_at <= at:
            session.end, session.row = Stored(at, batch, self._writer, at, made.header()), made

    async def _change(self, session: Session, change: Callable[[Row], Row]) -> None:
        """Store a session's row, changed; again if something has moved."""
        while True:
            try:
                return await self._publish(session, change(session.row))
            except Conflict:
                await self._looks.fresh(session)

    async def _publish(self, session: Session, row: Row) -> None:
        end = fence(self._subjects, session, row, epoch=self._epoch, writer=self._writer)
        at = await self._publisher.publish(session, [end])
        if session.end_at <= at:  # else others have gone on from there, and were seen first
            session.end, session.row = fence_at(session, at, row, self._writer), row

    async def _remove(self, session: Session, to: int, batches: list[Stored]) -> None:
        """Remove batches, states and large strings up to *to*."""
        later = [one.at for one in batches if one.last > to]
        before = min([*later, session.end_at])
        await self._pieces.purge(self._subjects.events(session.key), before=before)
        await self._keeping.cut(session, to)
        await self._unrefer(session, to)
        session.tail = None
        session.places.clear()

    async def _unrefer(self, session: Session, to: int) -> None:
        """Remove large strings that no event after *to* refers to."""
        wanted = f"{self._subjects.under('ref', session.key)}.*"
        for message in await self._scanner.last([wanted], headers_only=False):
            ref = Ref.of(message)
            if not 0 < ref.last <= to:
                continue
            gone = Outgoing(message.subject, ref._replace(last=0).body(), {ROLLUP: "sub"})
            at = await self._pieces.replace(gone.follows(message.seq))
            if at is None:
                continue  # an event that came just now refers to it again
            hash_ = message.subject.rpartition(".")[2]
            # what is stored again from now on has a larger number, and stays
            await self._pieces.purge(self._subjects.blob(session.key, hash_, ">"), before=at)
            await self._pieces.purge(message.subject, before=at + 1)


async def sized(scanner: Scanner, subjects: Subjects, session: Session) -> list[tuple[Stored, int]]:
    """Return a session's batches beyond the floor, without bodies, and how long these are."""
    found = []
    for message in await scanner.all(subjects.events(session.key)):
        one = stored(message)
        if one and not one.is_fence and one.last > session.floor:
            found.append((one, int(message.headers.get("Nats-Msg-Size", 0))))
    return found


def reach(
    batches: Sequence[tuple[Stored, int]], floor: int, to: int | None, before: int | None
) -> Prunable:
    """Return how far a session can be pruned; the time of a batch is its last event's."""
    start, size = floor, 0
    for one, length in batches:
        if (to is not None and one.last > to) or (before is not None and one.batch.ts >= before):
            break
        floor, size = one.last, size + length
    return Prunable(Seq(floor), floor - start, size)
