"""What sessions a log holds: from the last message of each; no event is read.

Above this module: `reader`, `store`. Below it: `scanning`, `look`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from eventlog import codec
from eventlog.errors import InvalidSessionId
from eventlog.event import GATEWAY, Seq, SessionId, is_session
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import Pieces
from eventlog.jetstream.row import Row
from eventlog.jetstream.scanning import Scanner
from eventlog.jetstream.session import Claim, Session
from eventlog.jetstream.stored import Stored, stored
from eventlog.jetstream.subjects import Subjects, session_of
from eventlog.store import SessionRow

_AT_ONCE: Final = 512


class Sessions:
    """The list of sessions."""

    def __init__(self, looks: Looks, scanner: Scanner, pieces: Pieces, subjects: Subjects) -> None:
        self._looks = looks
        self._scanner = scanner
        self._pieces = pieces
        self._subjects = subjects

    async def newest(self, limit: int | None, *, every: bool) -> Sequence[SessionRow]:
        """Return the sessions, the one of the newest batch first; with *every*, also what is none."""
        ends = await self._ends()
        found = {key: Row.of(end.row) for key, end in ends.items() if every or is_session(key)}
        keys = [key for key, row in found.items() if ends[key].last > row.floor or row.base]
        keys.sort(key=lambda key: -ends[key].order)
        rows: list[SessionRow] = []
        for start in range(0, len(keys[:limit]), _AT_ONCE):
            some = keys[:limit][start : start + _AT_ONCE]
            due = max(ends[key].at for key in some)
            whole = await self._looks.with_details({key: found[key] for key in some}, due)
            rows += [_row(key, ends[key], whole[key]) for key in some]
        return rows

    async def one(self, session: Session) -> SessionRow | None:
        """Return the row of a session that was seen just now."""
        if session.end is None or not session.is_there:
            return None
        return _row(session.key, session.end, session.row)

    async def resolve(self, name: str) -> Sequence[SessionId]:
        """Return the session *name*, and those it is an alias of, the first called so first."""
        own: list[SessionId] = []
        with suppress(InvalidSessionId):
            session = await self._looks.fresh(self._looks.session(SessionId(name)))
            own = [session.key] if session.is_there else []
        subjects = await self._pieces.subjects(self._subjects.alias(name, None))
        due = await self._looks.now()
        found = (await self._looks.latest(subjects, due)).messages if subjects else []
        named = [one for one in found if one.body == name.encode("utf-8", "surrogatepass")]
        named.sort(key=lambda one: one.seq)
        keys = [SessionId(one.subject.split(".")[3].replace("%", ".")) for one in named]
        return [*own, *(key for key in keys if key != name)]

    async def unsettled(self) -> Sequence[SessionId]:
        """Return the sessions with batches beyond what was settled, never `@gateway`."""
        due = await self._looks.now()
        found = (await self._looks.latest([self._subjects.settled], due)).messages
        to, left = codec.loads(found[0].body) if found else (0, [])
        ends = await self._ends()
        late = {key for key, end in ends.items() if end.order > to and end.last}
        return sorted(key for key in {*late, *left} if key != GATEWAY and key in ends)

    async def settle(self, process: str) -> None:
        """Note that nothing is open in what is stored now but in what other processes have."""
        due = await self._looks.now()
        claims = await self._scanner.last([self._subjects.every("lease")], headers_only=False)
        left = [
            session_of(one.subject)
            for one in claims
            if Claim.of(one.body).process not in {"", process}
        ]
        await self._pieces.store(self._subjects.settled, codec.dumps([due, left]))

    async def _ends(self) -> dict[SessionId, Stored]:
        messages = await self._scanner.last([self._subjects.every("evt")])
        found = ((session_of(one.subject), stored(one)) for one in messages)
        return {key: end for key, end in found if end is not None and end.last}


def _row(key: SessionId, end: Stored, row: Row) -> SessionRow:
    return SessionRow(
        id=key,
        created=row.created,
        updated=end.batch.ts,
        floor=Seq(row.floor),
        head=Seq(max(end.last, row.floor)),
        title=row.title,
        opened=row.opened,
    )
