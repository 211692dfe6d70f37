"""Ids of sessions for a shell that completes them.

Above this module: `arguments`. Below it: the log's list of sessions.
"""

from __future__ import annotations

from functools import partial

import anyio

from eventlog import EventLogError, open_reader


def sessions_that_begin(beginning: str, log: str | None) -> list[str]:
    """Return the sessions of the log whose ids begin so; none if the log cannot be read.

    A shell that completes a word has no place for a complaint.
    """
    try:
        return anyio.run(partial(_named, beginning, log))
    except (EventLogError, OSError):
        return []


async def _named(beginning: str, log: str | None) -> list[str]:
    async with open_reader(log) as reader:
        ids = ["latest", *(row.id for row in await reader.sessions())]
    return [id_ for id_ in ids if id_.startswith(beginning)]
