"""Looking at everything a log on servers holds, to find what is damaged or missing (S-6).

Above this module: `reader`. Below it: `paging`, `keeping`, `parts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from eventlog.batch import RECORDED, Sealer
from eventlog.blobs import MARK, referred
from eventlog.checksum import Checksum
from eventlog.event import SessionId, seq_of
from eventlog.jetstream.keeping import Keeping
from eventlog.jetstream.paging import Fetcher
from eventlog.jetstream.parts import Parts
from eventlog.jetstream.session import Session

_ROOM: Final = 1 << 20
_MOST: Final = 2**40


class Verification:
    """Reads a session and compares."""

    def __init__(
        self, parts: Parts, fetcher: Fetcher, keeping: Keeping, checksum: Checksum
    ) -> None:
        self._looks = parts.looks
        self._contents = parts.contents
        self._fetcher = fetcher
        self._keeping = keeping
        self._checksum = checksum

    async def damages(self, key: SessionId) -> AsyncGenerator[str, None]:
        """Yield every damage of a session, in words."""
        session = await self._looks.fresh(self._looks.session(key))
        floor = session.floor
        if session.row.base and await self._keeping.base(session) is None:
            yield _damage(key, 1, floor, "pruned, and their base is damaged")
        used: dict[str, int] = {}
        async for damage in self._of_events(session, floor, used):
            yield damage
        async for damage in self._of_blobs(session, used):
            yield damage

    async def _of_events(
        self, session: Session, floor: int, used: dict[str, int]
    ) -> AsyncGenerator[str, None]:
        """Look at every batch; *used* becomes what they refer to, and which event does so last."""
        sealer = Sealer(session.key, self._checksum)
        cursor, head = floor, session.head
        while cursor < head:
            runs = await self._fetcher.runs(session, sealer, cursor, _ROOM, _MOST)
            if not runs:
                yield _damage(session.key, cursor + 1, head, "missing")
                return
            for run in runs:
                if run.lost and run.reason != RECORDED:
                    yield _damage(session.key, run.first, run.last, run.reason)
                elif MARK in run.text:
                    _note(run.text, used)
                cursor = max(cursor, run.last)

    async def _of_blobs(self, session: Session, used: dict[str, int]) -> AsyncGenerator[str, None]:
        waiting = dict(used)
        seen: set[str] = set()
        while waiting:
            ref, seq = waiting.popitem()
            seen.add(ref)
            body = await self._contents.whole(session.key, ref, session.end_at)
            if body is None:
                yield _damage(session.key, seq, seq, f"incomplete: {ref} is damaged or missing")
            else:
                waiting |= {inner: seq for inner in referred(body) if inner not in seen}


def _damage(key: str, first: int, last: int, reason: str) -> str:
    return f"{key}: events {first} to {last} are {reason}"


def _note(text: bytes, used: dict[str, int]) -> None:
    for line in text.split(b"\n"):
        for ref in referred(line):
            used[ref] = seq_of(line)
