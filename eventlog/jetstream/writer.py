"""Appends of a session, one batch under way at a time; what comes meanwhile is the next batch.

Above this module: `store`. Below it: `publishing`, `contents`, `session`.

Sessions are written beside each other. Numbers are given when a batch is formed; the head, the
answers and the wake-ups follow when the servers have acknowledged it.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from anyio.abc import TaskGroup

from eventlog.batch import MAX_BYTES, MAX_EVENTS, Batch, Sealer
from eventlog.blobs import LONGEST, Blob, cut_all, hash_of
from eventlog.checksum import Checksum
from eventlog.condition import Condition
from eventlog.errors import EventLogError, Fenced, LogUnavailable, WrongExpectedVersion
from eventlog.event import GATEWAY, Event, Span
from eventlog.jetstream.contents import NONE, Contents, Ref
from eventlog.jetstream.draft import Draft, Pending, errs
from eventlog.jetstream.lanes import Lanes
from eventlog.jetstream.link import Link
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import Pieces
from eventlog.jetstream.publishing import Conflict, Outgoing, Publisher
from eventlog.jetstream.room import Room
from eventlog.jetstream.row import Row
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import ID, ROLLUP, Stored, headers
from eventlog.jetstream.subjects import Subjects
from eventlog.listing import LISTED, listing

_AROUND = 80
"""About as many bytes has a line beside the payload."""


class Writer:
    """Writes the sessions of a log. *clock* gives nanoseconds; *name* is this process's own."""

    def __init__(
        self,
        link: Link,
        looks: Looks,
        tasks: TaskGroup,
        *,
        contents: Contents,
        epoch: str,
        checksum: Checksum,
        name: str,
        clock: Callable[[], int],
        holds: Callable[[Session], bool],
        relies: Callable[[Session], bool],
        lose: Callable[[Session], None],
    ) -> None:
        self._link = link
        self._looks = looks
        self._contents = contents
        self._pieces = Pieces(link, looks)
        self._publisher = Publisher(link, looks)
        self._subjects = Subjects(link.stream)
        self._epoch = epoch
        self._checksum = checksum
        self._name = name
        self._clock = clock
        self._loop = get_running_loop()
        self._room = Room()
        self._lanes = Lanes(tasks, self._write)
        self.condition = Condition()
        self.closed = False
        self._holds = holds
        self._relies = relies
        self._lose = lose

    async def submit(
        self,
        session: Session,
        events: Sequence[Event],
        *,
        expected: int | None,
        at: Sequence[int] | None,
    ) -> Span:
        """Return, once they are durable, where *events* came to stand."""
        self.check()
        size, listed = 0, False
        for event in events:
            size += len(event.payload) + len(event.rest) + _AROUND
            listed = listed or event.type in LISTED
        stored, blobs = events, list[tuple[int, Blob]]()
        if size > LONGEST:
            stored, blobs = await cut_all(list(events))
        if not self._room.fits(size):
            await self._room.enter(size)
        try:
            if session.as_of < 0:
                await self._looks.fresh(session)
            self.check()
            outcome: Future[Span] = self._loop.create_future()
            found = listing(stored) if listed else None
            session.queue.append(Pending(stored, expected, at, blobs, found, size, outcome))
            self._lanes.wake(session)
            return await outcome
        finally:
            self._room.leave(size)

    def check(self) -> None:
        """Raise LogUnavailable if nothing can be written any more."""
        if self.closed:
            raise self._link.unavailable("it is closed", lasting=True)

    async def close(self) -> None:
        """Take nothing more in, and wait until what was taken in is stored, or is not."""
        self.closed = True
        await self._lanes.close()

    async def _write(self, session: Session) -> None:
        """Write one batch, or what has to be one piece with it."""
        sure = MAX_EVENTS if self._relies(session) else len(session.queue)
        if session.as_of < 0 or (errs(session.queue, session.head) and not self._relies(session)):
            try:
                with self._link.in_time():
                    await self._looks.fresh(session)
            except LogUnavailable as error:
                self._unavailable(self._all_of(session), error)
                return
        if not self._holds(session):
            self._fail(self._all_of(session), self._fenced(session))
            return
        draft = self._form(session, sure)
        if not draft.lines:
            self._answer(draft)
            return
        try:
            await self._store(session, draft)
        except Conflict:
            self._conflict(session, draft)
        except LogUnavailable as error:
            session.forget()  # it may come yet; who stands behind has waited as long
            self._unavailable([one for one, _ in draft.accepted] + self._all_of(session), error)
        else:
            self.condition.turn(None)
            self._answer(draft)

    def _form(self, session: Session, sure: int) -> Draft:
        """Take from the queue what fits into a batch.

        Of what expects another head only the first *sure* are told: the others have come after
        the session was looked at, and it may have grown before they did.
        """
        draft = Draft(session.head, session.end_at)
        now = self._clock() // 1_000
        while session.queue:
            pending = session.queue[0]
            if pending.outcome.done():
                session.queue.popleft()
                sure -= 1
                continue
            count = len(draft.lines) + len(pending.events)
            if draft.lines and (count > MAX_EVENTS or draft.size + pending.size > MAX_BYTES):
                break
            if pending.expected is None or pending.expected == draft.last:
                session.queue.popleft()
                draft.take(pending, now)
            elif draft.lines or sure <= 0:
                break  # nobody is told of a head that may never be, or is not any more
            else:
                session.queue.popleft()
                error = WrongExpectedVersion(session.key, pending.expected, draft.last)
                pending.outcome.set_exception(error)
            sure -= 1
        return draft

    async def _store(self, session: Session, draft: Draft) -> None:
        batches = list(
            Sealer(session.key, self._checksum).seal(draft.start + 1, draft.times, draft.lines)
        )
        row = await self._row(session, draft)
        beside = self._aliases(session, draft)
        if draft.blobs:
            beside += await self._blobs(session, draft)
        same = session.end if row is session.row else None
        header = same.row if same else row.header()
        messages = self._messages(session, batches, header, draft.follows)
        at = await self._publisher.publish(session, [*beside, *messages])
        if session.end_at > at:
            return  # it took so long to know that others have written more, which was seen
        last = batches[-1]._replace(body=b"")
        end = Stored(at, last, self._name, at, header, is_whole=False)
        old, session.row = session.row, row
        for number, batch in enumerate(batches):
            session.note(batch.first, at - len(batches) + 1 + number)
        session.extend(end, draft.start + 1, draft.lines)
        if old.apart not in {"", row.apart}:
            await self._pieces.purge(self._subjects.row(session.key, old.apart))

    def _messages(
        self, session: Session, batches: Sequence[Batch], row: str, follows: int
    ) -> list[Outgoing]:
        subject = self._subjects.events(session.key)
        found = []
        for batch in batches:
            said = headers(batch, row, epoch=self._epoch, writer=self._name)
            said[ID] = f"{session.key}:{batch.first}"
            found.append(Outgoing(subject, batch.body, said))
        found[0].follows(follows)
        return found

    async def _row(self, session: Session, draft: Draft) -> Row:
        """Return the session's row as it will be; what of it is stored apart is stored."""
        row = session.row
        if not session.is_there and not row.created:
            row = replace(row, created=draft.times[0])
        title, opened = row.title, row.opened
        for found in draft.changes:
            title = title if found.title is None else found.title or None
            opened = opened or found.opened or {}
        if (title, opened) == (row.title, row.opened):
            return row
        row = row.named(title, opened)
        if row.apart:
            await self._pieces.store(self._subjects.row(session.key, row.apart), row.details())
        return row

    def _aliases(self, session: Session, draft: Draft) -> list[Outgoing]:
        names = dict.fromkeys(name for found in draft.changes for _, name in found.aliases)
        return [
            Outgoing(self._subjects.alias(name, session.key), name.encode(), {ROLLUP: "sub"})
            for name in names
        ]

    async def _blobs(self, session: Session, draft: Draft) -> list[Outgoing]:
        """Store large strings that are not there yet; return what says that they are."""
        last = {blob.ref: (seq, blob) for seq, blob in draft.blobs}
        hashes = {ref: (hash_of(ref) or b"").hex() for ref in last}
        known = await self._contents.refs(session.key, [*hashes.values()], session.as_of)
        found = []
        for ref, (seq, blob) in last.items():
            hash_ = hashes[ref]
            old = known.get(hash_, NONE)
            count = old.pieces
            if not old.last:
                name = partial(self._subjects.blob, session.key, hash_)
                count = await self._pieces.put(name, blob.body)
            subject = self._subjects.ref(session.key, hash_)
            body = Ref(len(blob.body), count, seq).body()
            found.append(Outgoing(subject, body, {ROLLUP: "sub"}).follows(old.at))
        return found

    def _conflict(self, session: Session, draft: Draft) -> None:
        """Something else was stored: tell whoever believed otherwise, or try again behind it."""
        taken = [one for one, _ in draft.accepted]
        ours = session.end is None or session.end.writer == self._name
        beside = session.end_at == draft.follows
        pruned = (
            session.end is not None
            and session.end.is_fence
            and session.head == draft.start
            and session.claim.process in {"", self._name}
        )
        if beside or ours or pruned or session.key == GATEWAY:
            # nothing of what was believed is wrong, or many write it
            session.queue.extendleft(reversed(taken))
            return
        self._lose(session)
        for pending in [*taken, *self._all_of(session)]:
            if pending.outcome.done():
                continue
            if pending.expected in {None, session.head}:
                pending.outcome.set_exception(self._fenced(session))
            elif pending in taken:
                error = WrongExpectedVersion(session.key, pending.expected, session.head)
                pending.outcome.set_exception(error)
            else:  # it may have come after the look, and is not told of what was so before
                session.queue.append(pending)

    def _all_of(self, session: Session) -> list[Pending]:
        taken = [*session.queue]
        session.queue.clear()
        return taken

    def _fenced(self, session: Session) -> Fenced:
        return Fenced(session.key, session.claim.owner)

    def _unavailable(self, waiting: Sequence[Pending], error: LogUnavailable) -> None:
        self.condition.turn(error.reason)
        self._fail(waiting, error)

    def _fail(self, waiting: Sequence[Pending], error: EventLogError) -> None:
        for pending in waiting:
            if not pending.outcome.done():
                pending.outcome.set_exception(error)

    def _answer(self, draft: Draft) -> None:
        for pending, span in draft.accepted:
            if not pending.outcome.done():
                pending.outcome.set_result(span)
