"""Where the log is, and opening it: the same for every program (cli.md).

Above this module: the three command lines. Below it: the adapters, none of which they name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

from eventlog.errors import LogUnavailable
from eventlog.sqlite import SqliteReader, SqliteStore
from eventlog.store import Log, LogReader

VARIABLE: Final = "HERMES_LOG"
"""The environment variable that names the log if no option does."""


def log_location(
    option: str | Path | None = None, *, environ: Mapping[str, str] = os.environ
) -> Path:
    """Return where the log is: *option*, else `HERMES_LOG`, else the user's data folder.

    Raises:
        LogUnavailable: it is on a server, which this version cannot open.

    """
    named = str(option or environ.get(VARIABLE, ""))
    if named.startswith("nats://"):
        raise LogUnavailable(named, "only logs in files can be opened; give a path")
    return Path(named) if named else user_data_path("hermes-replay", appauthor=False)


def open_log(location: str | Path | None = None) -> AbstractAsyncContextManager[Log]:
    """Open the log for reading and writing, made if it is not there; see `SqliteStore.open`."""
    return SqliteStore.open(log_location(location))


def open_reader(location: str | Path | None = None) -> AbstractAsyncContextManager[LogReader]:
    """Open the log for reading, also while a gateway writes it; see `SqliteReader.open`."""
    return SqliteReader.open(log_location(location))
