"""Looking at a session: its end, its row, who may write it, as they are now.

Above this module: `reader`, `writer`, `leases`. Below it: `barrier`, `session`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import anyio

from eventlog.errors import LogUnavailable
from eventlog.event import SessionId, valid_session_id
from eventlog.jetstream.barrier import Barrier
from eventlog.jetstream.codes import NO_MESSAGE
from eventlog.jetstream.link import Collected, Link, Message, Refused, Silent
from eventlog.jetstream.row import Row
from eventlog.jetstream.session import Looking, Session, Unreadable
from eventlog.jetstream.subjects import Subjects
from eventlog.jetstream.timing import until

_AGAIN: Final = 0.02
"""Seconds until a server that lags behind is asked again, or another one."""


class Looks:
    """The sessions in use."""

    def __init__(self, link: Link, barrier: Barrier, *, copies: int) -> None:
        self._link = link
        self._copies = copies
        self._barrier = barrier
        self._subjects = Subjects(link.stream)
        self._sessions: dict[SessionId, Session] = {}

    def session(self, key: SessionId) -> Session:
        """Return what is known of a session, perhaps nothing.

        Raises:
            InvalidSessionId: nothing was looked up.

        """
        found = self._sessions.get(key)
        if found is None:
            found = self._sessions[valid_session_id(key)] = Session(key)
        return found

    def wake_all(self) -> None:
        """Wake everyone who waits: something may have been missed."""
        for session in self._sessions.values():
            session.wake()

    def known(self) -> list[Session]:
        """Return the sessions in use."""
        return list(self._sessions.values())

    async def fresh(self, session: Session) -> Session:
        """See a session as it is now, or later: all that was acknowledged before the call.

        Raises:
            LogUnavailable: it cannot be seen within the deadline.

        """
        due = await self._barrier.current()
        while session.as_of < due:
            if session.as_of >= self._barrier.quiet.since:
                session.as_of = self._barrier.quiet.until
            elif (other := session.looking) is None:
                await self._lead(session, due)
            else:  # one look serves all who want as much, and fails them together
                await other.ended.wait()
                if other.error is not None:
                    raise other.error
        return session

    async def _lead(self, session: Session, due: int) -> None:
        mine = session.looking = Looking()
        try:
            await self._look(session, due)
        except LogUnavailable as error:
            mine.error = error
            raise
        finally:
            session.looking = None
            mine.ended.set()

    async def _look(self, session: Session, due: int) -> None:
        found = await self._seen(session, due)
        parts = {
            self._subjects.events(session.key): "evt",
            self._subjects.lease(session.key): "lease",
        }
        try:
            session.see(found.messages, found.as_of, parts)
        except Unreadable as problem:
            raise self._link.unavailable(f"{session.key} cannot be read: {problem}") from None
        row = session.row
        if row.apart and not (row.title or row.opened):
            whole = await self.with_details({session.key: row}, session.end_at)
            if session.row is row:
                session.row = whole[session.key]

    async def _seen(self, session: Session, due: int) -> Collected:
        """Return a session's last messages, from a server that has lost none of them.

        Any server may answer, also one whose disk has lost some: it is held to what is known, and
        to what its leader has. A session's last message is never removed.
        """
        events, lease = self._subjects.events(session.key), self._subjects.lease(session.key)
        end = until(self._link.address.deadline)
        reason = "a server that answers has lost what it had: look at its disk"
        while anyio.current_time() < end:
            found = await self.latest([events, lease], due)
            at = max((one.seq for one in found.messages if one.subject == events), default=0)
            try:
                if at >= session.end_at and await self._ends(events, at, found.as_of):
                    return found
            except (Silent, Refused) as error:
                reason = str(error)
            await self._link.useless()
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable(f"{session.key} cannot be read at present: {reason}")

    async def _ends(self, subject: str, at: int, as_of: int) -> bool:
        """Whether the leader has nothing more of *subject* after *at*, when it ended at *as_of*."""
        if self._copies == 1:
            return True
        wanted = {"seq": at + 1, "next_by_subj": subject}
        try:
            found = await self._link.api(f"STREAM.MSG.GET.{self._link.stream}", wanted)
        except Refused as refused:
            if refused.code == NO_MESSAGE:
                return True
            raise
        return int(found["message"]["seq"]) > as_of

    async def with_details(self, rows: Mapping[SessionId, Row], due: int) -> dict[SessionId, Row]:
        """Return rows with what is stored apart, as of *due*.

        Raises:
            LogUnavailable: it cannot be had within the deadline.

        """
        names = {self._subjects.row(key, row.apart): key for key, row in rows.items() if row.apart}
        found = (await self.latest(list(names), due)).messages if names else []
        keys = {names[one.subject]: one.body for one in found}
        return {
            key: row.with_details(keys[key]) if key in keys else row for key, row in rows.items()
        }

    async def now(self) -> int:
        """Return where the stream ends."""
        return await self._barrier.current()

    async def latest(self, subjects: list[str], due: int) -> Collected:
        """Return the last message of each subject, from a server that has come as far as *due*.

        Raises:
            LogUnavailable: none has, within the deadline.

        """
        end = until(self._link.address.deadline)
        reason = "every server that answers lags behind"
        while anyio.current_time() < end:
            try:
                # the one that is always there lets an answer say how far its sender has come
                found = await self._link.collect({"multi_last": [*subjects, self._subjects.meta]})
            except Silent as silent:
                reason = str(silent)
            else:
                if found.as_of >= due:
                    messages = [one for one in found.messages if one.subject != self._subjects.meta]
                    return Collected(messages, found.as_of)
            await self._link.useless()
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable(f"it cannot be read at present: {reason}")

    async def following(self, subject: str, at: int) -> Message:
        """Return the first message of *subject* after *at*; there has to be one.

        Raises:
            LogUnavailable: no server has it, within the deadline.

        """
        end = until(self._link.address.deadline)
        wanted = {"seq": at + 1, "next_by_subj": subject, "batch": 1}
        while anyio.current_time() < end:
            with suppress(Silent):
                for message in (await self._link.collect(wanted)).messages:
                    return message
            await anyio.sleep(_AGAIN)
        raise self._link.unavailable("it cannot be read at present: what was stored is gone")
