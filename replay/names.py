"""By which ids agents know a session: what a base keeps beside the fold (P-38, S-10).

Above this module: `opening`, which makes bases; the gateway, which resumes what was pruned. Below
it: the log.

They are told in events of the session, which pruning removes, and they are not part of what a
person sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog import Checkpoint, LogReader, SessionId, codec, parse

NAMES: Final = "names"
"""The member of a base that holds them: by scope, the one told last at the end."""

_ALIAS: Final = b'"type":"session.alias"'
_FORKED: Final = b'"type":"log.forked"'


def names_in(base: Checkpoint) -> dict[str, str]:
    """Return what a base says of a session's ids, by scope; the last one is the last."""
    match codec.loads(base.body):
        case {"names": dict(names)}:
            return {str(scope): str(id_) for scope, id_ in names.items()}
    return {}


async def names_at(log: LogReader, session_id: SessionId, seq: int) -> dict[str, str]:
    """Return by which ids a session was known at *seq*, by scope; the last one is the last."""
    base = await log.base(session_id)
    names = names_in(base) if base else {}
    cursor = base.seq if base else 0
    while cursor < seq:
        page = await log.read(
            session_id,
            after=cursor,
            limit=min(4096, seq - cursor),
            limit_bytes=1 << 20,
            by_reference=True,
        )
        if not page.body:
            break
        for text in page.lines:
            if _ALIAS in text[:80] or _FORKED in text[:80]:
                names = _named(names, parse(text))
        cursor = page.next
    return names


def _named(names: dict[str, str], envelope: Mapping[str, Any]) -> dict[str, str]:
    match envelope:
        case {"type": "log.forked"}:
            return {}  # agents know the other session by them
        case {"payload": {"scope": str(scope), "id": str(id_)}}:
            return {**{key: name for key, name in names.items() if key != scope}, scope: id_}
    return names
