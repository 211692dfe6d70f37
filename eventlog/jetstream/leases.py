"""Who may write which session of a log that several processes write.

Above this module: `store`, through the port `eventlog.lease`. Below it: `publishing`, `scanning`.

A session's claim is a message in the log's stream: which process has it. It is stored together
with a fence behind the session's last event, all or none, each only where it was believed to be:
what an earlier owner sends later is refused by the servers, however long it was paused.

That a process lives is one entry in a key-value bucket, for all its sessions; it is renewed, and
gone when that ends. The process itself counts from before it asked, and less, so it knows first.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from eventlog.errors import Fenced
from eventlog.event import SessionId
from eventlog.jetstream.fences import fence, fence_at
from eventlog.jetstream.link import Link, Refused, Silent, answered
from eventlog.jetstream.look import Looks
from eventlog.jetstream.publishing import WRONG_SEQUENCE, Conflict, Outgoing, Publisher
from eventlog.jetstream.scanning import Scanner
from eventlog.jetstream.session import FREE, Claim, Session
from eventlog.jetstream.settings import IN_USE
from eventlog.jetstream.stored import EXPECTED, ROLLUP
from eventlog.jetstream.subjects import Subjects, session_of
from eventlog.lease import Lease

_SAFE: Final = 0.8
"""The part of a lease's duration in which its owner relies on it; the rest is for the clocks."""

_AGAIN: Final = 0.1
"""Seconds until what failed is tried again."""

_OFTEN: Final = 4
"""Renewals in a lease's duration."""


def clock() -> float:
    """Return seconds that also count while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


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
        self._replicas = replicas
        self._bucket = f"KV_{link.stream}"
        self._duration = link.address.lease
        self._until = 0.0
        self._turned = anyio.Event()
        self._starting = anyio.Lock()
        self._renewing = False
        self._renewed = anyio.Lock()
        self._tasks = tasks

    @property
    def owner(self) -> str:
        """What this process is called where others ask who holds a session."""
        return self._owner

    @property
    def duration(self) -> float:
        """Seconds until a session is free whose owner was cut off or died."""
        return self._duration

    async def acquire(self, session_id: SessionId) -> Lease:
        """Return the right to write a session, which this process holds from now on."""
        session = self._looks.session(session_id)
        await self._begin()
        while not self._holds(session):
            await self._looks.fresh(session)
            claim = session.claim
            if claim.process not in {"", self._process} and await self._lives(claim.process):
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
        said = {ROLLUP: "sub", EXPECTED: str(session.claim_at)}
        try:
            answer = await self._link.ask(
                self._subjects.lease(session_id), FREE.body(), headers=said
            )
            session.claim_at = int(answered(answer.data)["seq"])
            session.claim = FREE
        except (Silent, Refused) as error:
            if not (isinstance(error, Refused) and error.code in WRONG_SEQUENCE):
                raise self._link.unavailable(
                    f"{session_id} was not given back ({error}); it is free in"
                    f" {self.duration:g} seconds"
                ) from None

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
            with anyio.move_on_after(max(0.0, self._until - clock())):
                await self._turned.wait()

    async def find(self, session_id: SessionId) -> Lease | None:
        """Return the lease under which a session is written at present."""
        session = await self._looks.fresh(self._looks.session(session_id))
        claim = session.claim
        if claim.process == self._process:
            lives = self._holds(session)
        else:
            lives = bool(claim.process) and await self._lives(claim.process)
        return Lease(session_id, claim.owner, session.claim_at) if lives else None

    async def orphans(self) -> Sequence[SessionId]:
        """Return the sessions whose owner has died, or was cut off."""
        lives: dict[str, bool] = {"": True, self._process: True}
        found = []
        wanted = [self._subjects.every("lease")]
        for message in await self._scanner.last(wanted, headers_only=False):
            process = Claim.of(message.body).process
            if process not in lives:
                lives[process] = await self._lives(process)
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
        if session.held and clock() >= self._until:
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
        if clock() >= self._until:
            await self._insist(self._beat)
        try:
            at = await self._publisher.publish(session, messages)
        except Conflict:
            return
        if session.end_at > at:
            return  # it took so long to know that others have written since
        session.end = fence_at(session, at, session.row, self._process)
        session.claim, session.claim_at = claim, at - 1
        session.held, session.was_held = True, False

    async def _begin(self) -> None:
        """Say that this process lives, and go on saying so."""
        async with self._starting:
            if not self._renewing:
                await self._insist(self._make_bucket)
                await self._insist(self._beat)
                self._renewing = True
                self._tasks.start_soon(self._go_on)
            elif clock() >= self._until:
                await self._insist(self._beat)

    async def _go_on(self) -> None:
        pause = self.duration / _OFTEN
        while True:
            await anyio.sleep(pause)
            try:
                async with self._renewed:
                    await self._beat()
            except (Silent, Refused):
                pause = self.duration / _OFTEN / 8  # the clock decides what that means
            else:
                pause = self.duration / _OFTEN

    async def _insist(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Ask until it is done: servers, or a bucket that is new, may have no leader yet."""
        end = clock() + self._link.address.deadline
        while True:
            try:
                return await ask()
            except (Silent, Refused) as error:
                if clock() > end:
                    raise self._link.unavailable(f"no lease can be had: {error}") from None
            await anyio.sleep(_AGAIN)

    async def _beat(self) -> None:
        begun = clock()
        within = self.duration / _OFTEN
        key = f"$KV.{self._link.stream}.{self._process}"
        answer = await self._link.ask(key, self._owner.encode(), within=within)
        answered(answer.data)
        if begun >= self._until:
            self._holds_nothing()  # it was too late: others may have taken what was held
        self._until = begun + self.duration * _SAFE

    def _holds_nothing(self) -> None:
        for session in self._looks.known():
            self.lose(session)

    async def _make_bucket(self) -> None:
        """Make the bucket, or take the duration that is agreed on in it."""
        try:
            await self._link.api(f"STREAM.CREATE.{self._bucket}", self._bucket_config())
        except Refused as refused:
            if refused.code != IN_USE:
                raise
        found = await self._link.api(f"STREAM.INFO.{self._bucket}")
        self._duration = int(found["config"]["max_age"]) / 1e9

    async def _lives(self, process: str) -> bool:
        """Whether another process says that it lives; who leads the bucket knows."""
        wanted = {"last_by_subj": f"$KV.{self._link.stream}.{process}"}
        try:
            await self._link.api(f"STREAM.MSG.GET.{self._bucket}", wanted)
        except Refused as refused:
            if refused.status == 404:
                return False
            raise self._link.unavailable(f"no lease can be looked at: {refused}") from None
        except Silent as silent:
            raise self._link.unavailable(f"no lease can be looked at: {silent}") from None
        return True

    def _bucket_config(self) -> dict[str, Any]:
        return {
            "name": self._bucket,
            "description": "Which processes that write the log live.",
            "subjects": [f"$KV.{self._link.stream}.>"],
            "max_msgs_per_subject": 1,
            "max_age": int(self.duration * 1e9),
            "duplicate_window": int(min(self.duration, 120) * 1e9),
            "storage": self._link.address.storage,
            "num_replicas": self._replicas,
            "discard": "new",
            "allow_rollup_hdrs": True,
            "allow_direct": False,
        }

    def _turn(self) -> None:
        self._turned.set()
        self._turned = anyio.Event()
