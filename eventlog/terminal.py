"""What the commands of `hermes-log` share: how they name, open, print, and end.

Above this module: `cli`, `upkeep`. Below it: `exits`, `location`, `naming`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Final, TypeVar

import anyio
import typer

from eventlog import exits
from eventlog.errors import EventLogError
from eventlog.event import SessionId, valid_session_id
from eventlog.location import open_log, open_reader
from eventlog.naming import sessions_named
from eventlog.store import Catalogue, Log, LogReader

T = TypeVar("T")

PROGRAM: Final = "hermes-log"


def complete(beginning: str) -> list[str]:
    """Return the ids that begin so, for a shell."""

    async def ids() -> list[str]:
        async with open_reader() as log:
            return [row.id for row in await log.sessions()]

    try:
        return [key for key in anyio.run(ids) if key.startswith(beginning)]
    except EventLogError:
        return []  # a shell completes nothing rather than show an error


Location = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="WHERE",
        help="Folder of the log, a .db file, or nats://… Else HERMES_LOG, else yours.",
    ),
]
Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="An id, the beginning of one, an alias, or `latest`.",
        autocompletion=complete,
    ),
]
Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SESSION…]", help="Only these.", autocompletion=complete, show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def run(function: Callable[[], Awaitable[T]]) -> T:
    """Run what a command does, and end the program as every command ends."""
    gc.freeze()  # what has been imported stays: no collection has to walk it
    with exits.ending(PROGRAM):
        return anyio.run(function)


def find(function: Callable[[], Awaitable[object]]) -> None:
    """Run a command that looks for something, and end with 1 if it returns any (cli.md)."""
    if run(function):
        raise SystemExit(exits.FOUND)


def put(text: bytes, end: bytes = b"\n") -> None:
    """Print a line of data, or several."""
    sys.stdout.buffer.write(text + end)


def say(text: str) -> None:
    """Tell something that is no data."""
    sys.stderr.write(f"{PROGRAM}: {text}\n")


async def one(log: Catalogue, name: str) -> SessionId:
    """Return the one session that *name* means, or end the program."""
    found = await sessions_named(log, name)
    if not found:
        say(f"there is no session {name}; `{PROGRAM} ls` lists them")
        raise SystemExit(exits.NOT_FOUND)
    if len(found) > 1:
        say(f"{name} may be any of: {', '.join(found)}")
        raise SystemExit(exits.USAGE)
    return found[0]


@asynccontextmanager
async def reading(
    location: str | None, name: str
) -> AsyncGenerator[tuple[LogReader, SessionId], None]:
    """Open the log, and the session that *name* means in it."""
    valid_session_id(name)  # before any file is touched
    async with open_reader(location) as reader:
        yield reader, await one(reader, name)


@asynccontextmanager
async def writing(location: str | None, *names: str) -> AsyncGenerator[Log, None]:
    """Open a log that is there, to change it; *names* are checked before any file is touched."""
    for name in names:
        valid_session_id(name)
    async with open_reader(location):
        pass  # whoever changes nothing must not make a log
    async with open_log(location) as log:
        yield log
