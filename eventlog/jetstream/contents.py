"""Large strings, which are stored once a session (P-34).

Above this module: `reader`, `writer`. Below it: `pieces`.

A session's strings are its own, so that removing it removes them, and nobody has to know who
else may refer to the same. That a session refers to one is a message of its own: size, pieces,
and the last event that does.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from eventlog import codec
from eventlog.blobs import Piece, checked, hash_of
from eventlog.event import SessionId
from eventlog.jetstream.link import Message
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import SIZE, Pieces
from eventlog.jetstream.subjects import Subjects


class Ref(NamedTuple):
    """That a session refers to a large string; *last* is 0 once it does not any more."""

    size: int
    pieces: int
    last: int
    at: int = 0
    """The stream's number of the message that says so."""

    def body(self) -> bytes:
        """Return it as it is stored."""
        return codec.dumps([self.size, self.pieces, self.last])

    @classmethod
    def of(cls, message: Message) -> Ref:
        """Read it."""
        size, pieces, last = codec.loads(message.body)
        return cls(size, pieces, last, message.seq)


NONE: Final = Ref(0, 0, 0)


class Contents:
    """Reads large strings."""

    def __init__(self, looks: Looks, pieces: Pieces, subjects: Subjects) -> None:
        self._looks = looks
        self._pieces = pieces
        self._subjects = subjects

    async def refs(self, key: SessionId, hashes: list[str], due: int) -> dict[str, Ref]:
        """Return how a session refers to large strings, as of *due* or later."""
        names = {self._subjects.ref(key, one): one for one in hashes}
        found: dict[str, Ref] = {}
        subjects = list(names)
        for start in range(0, len(subjects), 256):
            some = await self._looks.latest(subjects[start : start + 256], due)
            found |= {names[one.subject]: Ref.of(one) for one in some.messages}
        return found

    async def whole(self, key: SessionId, ref: str, due: int) -> bytes | None:
        """Return what *ref* means in a session; None if it is not there, or damaged."""
        hash_ = hash_of(ref)
        if hash_ is None:
            return None
        known = (await self.refs(key, [hash_.hex()], due)).get(hash_.hex(), NONE)
        body = await self._part(key, hash_.hex(), known, 0, known.size) if known.last else None
        return None if body is None else checked(body, ref)

    async def piece(
        self, key: SessionId, ref: str, offset: int, length: int | None
    ) -> Piece | None:
        """Return a part of what a session that is there refers to by *ref*."""
        hash_ = hash_of(ref)
        session = self._looks.session(key)
        if hash_ is None:
            return None
        await self._looks.fresh(session)
        known = (await self.refs(key, [hash_.hex()], session.as_of)).get(hash_.hex(), NONE)
        if known.last <= session.floor:
            return None
        start = min(offset, known.size)
        end = known.size if length is None else min(known.size, start + length)
        body = await self._part(key, hash_.hex(), known, start, end)
        if body is None or (start == 0 and end == known.size and checked(body, ref) is None):
            return None
        return Piece(known.size, body)

    async def _part(
        self, key: SessionId, hash_: str, known: Ref, start: int, end: int
    ) -> bytes | None:
        first, count = start // SIZE, -(-end // SIZE)
        if end <= start:
            return b""
        body = await self._pieces.get(
            lambda number: self._subjects.blob(key, hash_, number), count, known.at, first=first
        )
        return None if body is None else body[start - first * SIZE : end - first * SIZE]
