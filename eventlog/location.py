"""Where the log is, and opening it: the same for every program (cli.md).

Above this module: the three command lines. Below it: the adapters, none of which they name.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Final

from eventlog.address import LogAddress, address, is_address
from eventlog.errors import LogUnavailable
from eventlog.store import Log, LogReader

VARIABLE: Final = "HERMES_LOG"
"""The environment variable that names the log if no option does."""


def log_location(
    option: str | Path | None = None, *, environ: Mapping[str, str] = os.environ
) -> Path | LogAddress:
    """Return where the log is: *option*, else `HERMES_LOG`, else the user's data folder.

    Raises:
        LogUnavailable: it is a URL that names no log.

    """
    named = str(option or environ.get(VARIABLE, ""))
    if is_address(named):
        return address(named)
    return Path(named) if named else _own()


def log_file(option: str | Path | None = None) -> Path:
    """Return where the log is, for what only a log in a file can do.

    Raises:
        LogUnavailable: it is on servers.

    """
    found = log_location(option)
    if isinstance(found, LogAddress):
        raise LogUnavailable(str(found), "this is for logs in files; see docs/scale-out.md")
    return found


def log_home(location: Path | LogAddress) -> Path:
    """Return the folder of what is kept beside a log; of one on servers it is the user's own."""
    if isinstance(location, LogAddress):
        return _own()
    return location.parent if location.suffix == ".db" else location


def open_log(
    location: str | Path | LogAddress | None = None, *, owner: str | None = None
) -> AbstractAsyncContextManager[Log]:
    """Open the log for reading and writing, made if it is not there; see its adapter's `open`.

    *owner* is what other processes are told of who holds a session, where there can be others.
    """
    found = location if isinstance(location, LogAddress) else log_location(location)
    if isinstance(found, Path):
        from eventlog.sqlite import SqliteStore  # noqa: PLC0415 - only who writes waits for it

        return SqliteStore.open(found)
    with driver(found):
        from eventlog.jetstream import JetStreamStore  # noqa: PLC0415 - its driver is an extra
    return JetStreamStore.open(found, owner=owner)


def open_reader(
    location: str | Path | LogAddress | None = None,
) -> AbstractAsyncContextManager[LogReader]:
    """Open the log for reading, also while others write it; see its adapter's `open`."""
    found = location if isinstance(location, LogAddress) else log_location(location)
    if isinstance(found, Path):
        from eventlog.sqlite import SqliteReader  # noqa: PLC0415 - see above

        return SqliteReader.open(found)
    with driver(found):
        from eventlog.jetstream import JetStreamReader  # noqa: PLC0415 - its driver is an extra
    return JetStreamReader.open(found)


def _own() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - most of what it imports is not used

    return user_data_path("hermes-replay", appauthor=False)


@contextmanager
def driver(where: LogAddress) -> Generator[None, None, None]:
    """Say what to install where the driver of logs on servers is not."""
    try:
        yield
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed: pip install 'hermes-replay[nats]'"
        raise LogUnavailable(str(where), reason) from error
