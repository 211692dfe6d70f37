"""Who may write which session of a log that several processes write.

Above this module: `store`, through the port `eventlog.lease`. Below it: `lives`, `publishing`.

A session's claim is a message in the log's stream: which process has it. It is stored together
with a fence behind the session's last event, all or none, each only where it was believed to be:
what an earlier owner sends later is refused by the servers, however long it was paused.

Whoever held one before may have died, and is followed then: `lives` knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
from anyio.abc import TaskGroup

from eventlog.errors import Fenced
from eventlog.event import SessionId
from eventlog.jetstream.codes import WRONG_SEQUENCE
from eventlog.jetstream.fences import fence, fence_at
from eventlog.jetstream.link import Link, Refused, Silent, answered
from eventlog.jetstream.lives import Lives, clock
from eventlog.jetstream.look import Looks
from eventlog.jetstream.publishing import Conflict, Outgoing, Publisher
from eventlog.jetstream.scanning import Scanner
from eventlog.jetstream.session import FREE, Claim, Session
from eventlog.jetstream.stored import EXPECTED, ROLLUP
from eventlog.jetstream.subjects import Subjects, session_of
from eventlog.lease import Lease

_AGAIN: Final = 0.1
"""Seconds until what failed is tried again."""


class ClusterLeases:
    """The leases of one process."""

    def __init__(
        self,
        link: Link,
        looks: Looks,
        scanner: Scanner,
        *,
        tasks: TaskGroup,
        process: str,
        owner: str,
        epoch: str,
        replicas: int,
    ) -> None:
        self._link = link
        self._looks = looks
        self._scanner = scanner
        self._publisher = Publisher(link, looks)
        self._subjects = Subjects(link.stream)
        self._process = process
        self._owner = owner
        self._epoch = epoch
        self._lives = Lives(
            link,
            tasks,
            process=process,
            owner=owner,
            replicas=replicas,
            doubted=self._holds_nothing,
        )
        self._turned = anyio.Event()

    @property
    def owner(self) -> str:
        """What this process is called where others ask who holds a session."""
        return self._owner

    @property
    def duration(self) -> float:
        """Seconds until a session is free whose owner was cut off or died."""
        return self._lives.duration

    async def acquire(self, session_id: SessionId) -> Lease:
        """Return the right to write a session, which this process holds from now on."""
        session = self._looks.session(session_id)
        with self._link.in_time():
            await self._lives.begin()
            while not self._holds(session):
                await self._looks.fresh(session)
                claim = session.claim
                others = claim.process not in {"", self._process}
                if others and await self._lives.others(claim.process):
                    raise Fenced(session_id, claim.owner)
                await self._claim(session)
        return Lease(session_id, self._owner, session.claim_at)

    async def release(self, session_id: SessionId) -> None:
        """Give the right back, so that another can have it at once."""
        session = self._looks.session(session_id)
        if not session.held:
            return
        session.held = False
        self._turn()
        with self._link.in_time():
            while True:
                try:
                    await self._free(session)
                except (Silent, Refused) as error:
                    if not (isinstance(error, Refused) and error.code in WRONG_SEQUENCE):
                        raise self._link.unavailable(
                            f"{session_id} was not given back ({error}); it is free in"
                            f" {self.duration:g} seconds"
                        ) from None
                else:
                    return
                at = session.claim_at
                if (await self._looks.fresh(session)).claim_at != at:
                    return  # another has it
                await anyio.sleep(_AGAIN)  # who says so leads no more

    async def _free(self, session: Session) -> None:
        """Store that nobody has a session, if it is still this process that does."""
        said = {ROLLUP: "sub", EXPECTED: str(session.claim_at)}
        subject = self._subjects.lease(session.key)
        answer = await self._link.ask(subject, FREE.body(), headers=said)
        session.claim_at = int(answered(answer.data)["seq"])
        session.claim = FREE

    def holds(self, session_id: SessionId) -> bool:
        """Whether this process holds a session, by the clock."""
        return self._holds(self._looks.session(session_id))

    def may_write(self, session: Session) -> bool:
        """Whether nothing is known against writing a session: it is held, or never was."""
        return self._holds(session) if session.held else not session.was_held

    def may_rely_on(self, session: Session) -> bool:
        """Whether nobody else can have written a session since it was seen."""
        return session.held and self._holds(session)

    async def lost(self, session_id: SessionId) -> None:
        """Return once this process does not hold a session (any more)."""
        session = self._looks.session(session_id)
        while self._holds(session):
            with anyio.move_on_after(max(0.0, self._lives.until - clock())):
                await self._turned.wait()

    async def find(self, session_id: SessionId) -> Lease | None:
        """Return the lease under which a session is written at present."""
        with self._link.in_time():
            session = await self._looks.fresh(self._looks.session(session_id))
            claim = session.claim
            if claim.process == self._process:
                lives = self._holds(session)
            else:
                lives = bool(claim.process) and await self._lives.others(claim.process)
        return Lease(session_id, claim.owner, session.claim_at) if lives else None

    async def orphans(self) -> Sequence[SessionId]:
        """Return the sessions whose owner has died, or was cut off."""
        lives: dict[str, bool] = {"": True, self._process: True}
        found = []
        wanted = [self._subjects.every("lease")]
        for message in await self._scanner.last(wanted, headers_only=False):
            process = Claim.of(message.body).process
            if process not in lives:
                lives[process] = await self._lives.others(process)
            if not lives[process]:
                found.append(session_of(message.subject))
        return found

    async def close(self) -> None:
        """Give everything back, as far as that can be told."""
        for session in self._looks.known():
            if session.held:
                await self.release(session.key)

    def lose(self, session: Session) -> None:
        """Note that another process writes a session that this one held."""
        if session.held:
            session.held, session.was_held = False, True
            self._turn()

    def _holds(self, session: Session) -> bool:
        if session.held and not self._lives.is_certain:
            self._holds_nothing()
        if session.held and session.claim.process != self._process:
            self.lose(session)  # another has it, or had it since
        return session.held

    async def _claim(self, session: Session) -> None:
        """Store the claim and the fence, if nothing has moved."""
        claim = Claim(self._process, self._owner)
        messages = [
            Outgoing(self._subjects.lease(session.key), claim.body(), {ROLLUP: "sub"}).follows(
                session.claim_at
            ),
            fence(self._subjects, session, session.row, epoch=self._epoch, writer=self._process),
        ]
        if not self._lives.is_certain:
            await self._lives.insist()
        try:
            at = await self._publisher.publish(session, messages)
        except Conflict:
            return
        if session.end_at > at:
            return  # it took so long to know that others have written since
        session.end = fence_at(session, at, session.row, self._process)
        session.claim, session.claim_at = claim, at - 1
        session.held, session.was_held = True, False

    def _holds_nothing(self) -> None:
        for session in self._looks.known():
            self.lose(session)

    def _turn(self) -> None:
        self._turned.set()
        self._turned = anyio.Event()
