"""Which session a person means: an id, the beginning of one, an alias, or `latest` (cli.md).

Above this module: the command lines. Below it: the catalogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eventlog.event import GATEWAY, SessionId, valid_session_id
from eventlog.store import Catalogue

LATEST: Final = "latest"
"""Names the session of the newest batch."""


async def sessions_named(catalogue: Catalogue, name: str) -> Sequence[SessionId]:
    """Return the sessions that *name* may mean: one if it is clear, none if there is none.

    An id means its session alone; after that come aliases, `latest`, and beginnings of ids.

    Raises:
        InvalidSessionId: it has not the form of an id; nothing was looked up (R141).

    """
    key = valid_session_id(name)
    if key == GATEWAY:
        return [key]
    if known := await catalogue.resolve(key):
        return known[:1] if known[0] == key else known
    if name == LATEST:
        return [row.id for row in await catalogue.sessions(limit=1)]
    return [row.id for row in await catalogue.sessions() if row.id.startswith(name)]
