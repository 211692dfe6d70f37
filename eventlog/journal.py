"""`hermes-log journal`: how SQLite makes the commits of a log whole.

Above this module: `cli`. Below it: `location`, `terminal`, the SQLite adapter.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from eventlog.location import log_file
from eventlog.terminal import Location, run, say


class Kind(StrEnum):
    """What there is to choose from."""

    WAL = "wal"
    DELETE = "delete"


def journal(
    kind: Annotated[Kind, typer.Argument(show_default=False)],
    *,
    log: Location = None,
) -> None:
    """Choose how commits are made whole; a log is made where none is, and keeps it.

    `wal` is the fast one, for local disks. `delete` also works where memory cannot be shared, as on
    a network's file system.
    """
    from eventlog.sqlite import SqliteStore  # noqa: PLC0415 - only this command needs it

    async def work() -> None:
        async with SqliteStore.open(log_file(log), journal=kind.value) as store:
            say(f"{store.path} has a journal of the kind {store.incarnation.journal}")

    run(work)
