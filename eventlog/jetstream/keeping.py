"""States of folds that are kept beside a session: checkpoints, which are a cache, and its base.

Above this module: `reader`, `store`, `pruning`. Below it: `pieces`.

A list says which states of a kind there are; each is stored in pieces. The list changes only
where it was believed to be, so of two who keep at once one keeps nothing, which costs nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from eventlog import codec
from eventlog.checksum import Checksum
from eventlog.event import Seq
from eventlog.jetstream.link import Link, Message, Refused, Silent, answered
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import Name, Pieces
from eventlog.jetstream.row import Left
from eventlog.jetstream.session import Session
from eventlog.jetstream.stored import EXPECTED, ROLLUP
from eventlog.jetstream.subjects import Subjects
from eventlog.packing import packed, unpacked
from eventlog.store import KEPT, Checkpoint

BASE: Final = "base"
"""Stands for the kind where a base's checksum is made."""


class _Listed(NamedTuple):
    """The list of kept states of a kind, and where it is stored."""

    states: list[Left]
    at: int

    @classmethod
    def of(cls, messages: list[Message]) -> _Listed:
        """Read it, if it is there."""
        for message in messages:
            return cls([Left(*one) for one in codec.loads(message.body)], message.seq)
        return cls([], 0)


class Keeping:
    """Kept states."""

    def __init__(self, link: Link, looks: Looks, pieces: Pieces, checksum: Checksum) -> None:
        self._link = link
        self._looks = looks
        self._pieces = pieces
        self._checksum = checksum
        self._subjects = Subjects(link.stream)

    async def base(self, session: Session) -> Checkpoint | None:
        """Return what pruning left of a session that was seen just now."""
        left = session.row.base
        if left is None:
            return None
        name = self._subjects.base
        body = await self._pieces.get(
            lambda number: name(session.key, left.seq, number), left.pieces, session.end_at
        )
        return self._opened(session.key, BASE, left, body)

    async def put_base(self, key: str, base: Checkpoint) -> Left:
        """Store a base; it counts when a row says so."""
        body = packed(base.body)
        name = self._subjects.base
        count = await self._pieces.put(lambda number: name(key, base.seq, number), body)
        return Left(base.seq, base.version, self._sum(key, BASE, base, body), count)

    async def checkpoint(
        self, session: Session, kind: str, version: int, at: int | None
    ) -> Checkpoint | None:
        """Return the last intact state, at or before *at* and beyond the floor."""
        listed = await self._list(session, kind)
        for one in sorted(listed.states, reverse=True):
            if (
                one.version != version
                or one.seq <= session.floor
                or (at is not None and one.seq > at)
            ):
                continue
            body = await self._pieces.get(self._name(session.key, kind, one), one.pieces, listed.at)
            if (found := self._opened(session.key, kind, one, body)) is not None:
                return found
        return None

    async def keep(self, session: Session, kind: str, state: Checkpoint) -> None:
        """Keep a state, and of the older ones of its kind the last."""
        listed = await self._list(session, kind)
        body = packed(state.body)
        made = Left(state.seq, state.version, self._sum(session.key, kind, state, body), 0)
        count = await self._pieces.put(self._name(session.key, kind, made), body)
        made = made._replace(pieces=count)
        same = [
            one for one in listed.states if one.version == state.version and one.seq != state.seq
        ]
        kept = sorted([*same, made])[-KEPT:]
        if not await self._relist(session, kind, kept, listed.at):
            return
        for one in listed.states:
            if one not in kept and one.seq != state.seq:
                await self._drop(session.key, kind, one)

    async def cut(self, session: Session, floor: int) -> None:
        """Remove the states of a session up to *floor*."""
        wanted = self._subjects.kept(session.key, "*")
        for subject in await self._pieces.subjects(wanted):
            kind = subject.split(".")[4].replace("%", ".")
            listed = await self._list(session, kind)
            kept = [one for one in listed.states if one.seq > floor]
            await self._relist(session, kind, kept, listed.at)
            for one in listed.states:
                if one not in kept:
                    await self._drop(session.key, kind, one)

    async def forget(self) -> None:
        """Remove every checkpoint."""
        await self._pieces.purge(self._subjects.every("kept"))

    async def _list(self, session: Session, kind: str) -> _Listed:
        subject = self._subjects.kept(session.key, kind)
        found = await self._looks.latest([subject], session.as_of)
        return _Listed.of(found.messages)

    async def _relist(self, session: Session, kind: str, kept: list[Left], at: int) -> bool:
        """Store the list anew, if it is still the one at *at*; whether it was."""
        said = {ROLLUP: "sub", EXPECTED: str(at)}
        subject = self._subjects.kept(session.key, kind)
        body = codec.dumps([list(one) for one in kept])
        try:
            answered((await self._link.ask(subject, body, headers=said)).data)
        except (Silent, Refused):
            return False
        return True

    async def _drop(self, key: str, kind: str, one: Left) -> None:
        await self._pieces.purge(self._subjects.kept(key, kind, one.version, one.seq, ">"))

    def _name(self, key: str, kind: str, one: Left) -> Name:
        return lambda number: self._subjects.kept(key, kind, one.version, one.seq, number)

    def _sum(self, key: str, kind: str, state: Checkpoint, body: bytes) -> int:
        place = f"{key}\n{kind}\n{state.version}\n{state.seq}\n"
        return self._checksum.of(place.encode(), body)

    def _opened(self, key: str, kind: str, one: Left, body: bytes | None) -> Checkpoint | None:
        """Return a state if it is as it was written: else it is as good as none."""
        state = Checkpoint(Seq(one.seq), one.version, b"")
        if body is None or self._sum(key, kind, state, body) != one.crc:
            return None
        text = unpacked(body)
        return None if text is None else Checkpoint(state.seq, state.version, text)
