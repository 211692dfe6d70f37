"""How far the log has come with each session of an upstream Hermes gateway: a fold of the log.

Above this module: `upstream`. Below it: the log.

Each event that came from upstream says so itself: `"origin":"<epoch8>.<runtime id>:<seq>"`
(protocol §8). So after any break, our own restart included, the log alone tells where to ask on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from eventlog import Envelope, LogReader, SessionId, SessionRow
from replay import names_in

RECENT: Final = 256
"""Sessions that may still be going on upstream: those written last."""

_TAILS: Final = (64, 4096)
"""Events at a session's end in which its standing is looked for: the few that mostly do, or more."""

_NAMES: Final = 16
"""Events at its beginning among which its names stand."""

_ORIGIN: Final = re.compile(r"([0-9a-f]{1,8})\.(.+):([0-9]+)\Z")


@dataclass(slots=True)
class Standing:
    """A session, and the last that is known of it upstream."""

    session_id: SessionId
    epoch8: str = ""
    runtime: str = ""
    highest: int = 0
    """The last number of *runtime* that is in the log."""
    attached: bool = False
    """Whether the process *epoch8* had it, as far as is known."""
    stored: str | None = None

    def apply(self, envelope: Envelope, scope: str) -> None:
        """Take the next event; *scope* is that of this gateway's stored ids."""
        match envelope:
            case {"type": "agent.exited" | "session.closed"}:
                self.attached = False
            case {"type": "session.alias", "payload": {"scope": str(of), "id": str(id_)}}:
                self._name(of, id_, scope)
            case {"origin": str(origin)} if found := _ORIGIN.match(origin):
                self._came(found[1], found[2], int(found[3]))

    def _name(self, of: str, id_: str, scope: str) -> None:
        if of == scope:
            self.stored = id_
        elif of.startswith(f"{scope}/"):
            self._came(of.removeprefix(f"{scope}/"), id_, 0)

    def _came(self, epoch8: str, runtime: str, seq: int) -> None:
        if (epoch8, runtime) != (self.epoch8, self.runtime):
            self.epoch8, self.runtime, self.highest = epoch8, runtime, 0
        self.highest = max(self.highest, seq)
        self.attached = True


async def standings(log: LogReader, scope: str) -> list[Standing]:
    """Return where the log stands with this gateway's sessions, the newest first."""
    rows = await log.sessions(limit=RECENT)
    return [await _standing(log, row, scope) for row in rows if _is_of(row, scope)]


async def _standing(log: LogReader, row: SessionRow, scope: str) -> Standing:
    standing = Standing(row.id)
    if base := await log.base(row.id) if row.floor else None:
        standing.stored = names_in(base).get(scope)
    for envelope in (await log.read(row.id, after=row.floor, limit=_NAMES)).envelopes():
        standing.apply(envelope, scope)
    for tail in _TAILS:
        last = Standing(row.id, stored=standing.stored)
        await _follow(log, last, max(row.floor, row.head - tail), scope)
        if last.epoch8:
            return last
    return standing


async def _follow(log: LogReader, standing: Standing, after: int, scope: str) -> None:
    page = await log.read(standing.session_id, after=after, limit_bytes=1 << 20)
    while page.body:
        for envelope in page.envelopes():
            standing.apply(envelope, scope)
        page = await log.read(standing.session_id, after=page.next, limit_bytes=1 << 20)


def source_of(scope: str) -> dict[str, Any]:
    """Return `session.opened`'s `source` for the sessions of a gateway."""
    return {"kind": "wrapped", "name": scope.removeprefix("hermes:")}


def _is_of(row: SessionRow, scope: str) -> bool:
    opened = row.opened
    return opened.get("protocol") == "hermes" and opened.get("source") == source_of(scope)
