"""`hermes-log`: look at the log itself.

Above this module: a person, a script. Below it: the log's readers, `cassette`, `exits`.

Data goes to stdout, everything else to stderr; what is written never depends on the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Final, TypeVar

import anyio
import typer

from eventlog import codec, exits
from eventlog.cassette import export_cassette
from eventlog.errors import EventLogError
from eventlog.event import START, SessionId, parse, valid_session_id
from eventlog.location import log_location, open_reader
from eventlog.naming import sessions_named
from eventlog.printing import listed, one_line
from eventlog.sqlite import SqliteReader
from eventlog.store import LogReader, Page, SessionRow

T = TypeVar("T")

_PROGRAM: Final = "hermes-log"

app: Final = typer.Typer(
    name=_PROGRAM,
    help="Look at the log: list, show, export and verify sessions.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="\b\nExamples:\n  hermes-log ls\n  hermes-log show latest\n  hermes-log verify",
)


def main() -> None:
    """Run the program."""
    app()


def _complete(beginning: str) -> list[str]:
    async def ids() -> list[str]:
        async with open_reader() as log:
            return [row.id for row in await log.sessions()]

    try:
        return [key for key in anyio.run(ids) if key.startswith(beginning)]
    except EventLogError:
        return []  # a shell completes nothing rather than show an error


Location = Annotated[
    str | None,
    typer.Option("--log", help="The log's folder or database; else HERMES_LOG, else yours."),
]
Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="An id, the beginning of one, an alias, or `latest`.",
        autocompletion=_complete,
    ),
]


@app.command(
    short_help="List the sessions.",
    epilog="\b\nExamples:\n  hermes-log ls\n  hermes-log ls --json | jq '.[0].id'",
)
def ls(
    *,
    log: Location = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """List the sessions, the one of the newest event first: id, events, last change, title."""

    async def run() -> None:
        async with open_reader(log) as reader:
            rows = await reader.sessions()
        if as_json:
            _print(codec.dumps([_row(row) for row in rows]))
        else:
            for text in listed(rows):
                _print(text.encode())

    _run(run)


@app.command(
    short_help="Print a session, one event a line.",
    epilog="\b\nExamples:\n  hermes-log show latest\n  hermes-log show 4f2a | grep error",
)
def show(session: Session, *, log: Location = None) -> None:
    """Print a session, one event a line: number, time (UTC), type, payload.

    Control characters are escaped. `export` gives the events as they are.
    """

    async def run() -> None:
        async with _opened(log, session) as (reader, key), aclosing(_pages(reader, key)) as pages:
            async for page in pages:
                for text in page.lines:
                    _print(one_line(parse(text), text).encode())

    _run(run)


@app.command(
    short_help="Write a session as a cassette.",
    epilog="\b\nExamples:\n  hermes-log export latest -o session.jsonl\n"
    "  hermes-log export 4f2a | gzip > session.jsonl.gz",
)
def export(
    session: Session,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")
    ] = None,
    log: Location = None,
) -> None:
    """Write a session as a cassette: a line that says what it is, then the log's own lines."""

    async def run() -> None:
        async with _opened(log, session) as (reader, key):
            if output is None:
                await _write(reader, key, sys.stdout.buffer)
                return
            try:
                with output.open("wb") as file:
                    await _write(reader, key, file)
            except OSError as error:
                _say(f"{output}: {error.strerror}; give another file with -o")
                raise SystemExit(exits.USAGE) from error

    _run(run)


@app.command(
    short_help="Look for what is damaged.",
    epilog="\b\nExamples:\n  hermes-log verify\n  hermes-log verify latest && echo whole",
)
def verify(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", help="Only this one.", autocompletion=_complete, show_default=False
        ),
    ] = None,
    *,
    log: Location = None,
) -> None:
    """Read everything and compare checksums and numbers; exit 1 if anything is damaged."""

    async def run() -> int:
        found = 0
        if session is not None:
            valid_session_id(session)
        async with SqliteReader.open(log_location(log)) as reader:
            only = None if session is None else await _one(reader, session)
            async with aclosing(reader.verify(only)) as damages:
                async for damage in damages:
                    found += 1
                    _print(str(damage).encode())
        _say("everything is as it was written" if not found else f"{found} damages")
        return found

    if _run(run):
        raise SystemExit(exits.FOUND)


async def _one(log: LogReader, name: str) -> SessionId:
    """Return the one session that *name* means, or end the program."""
    found = await sessions_named(log, name)
    if not found:
        _say(f"there is no session {name}; `{_PROGRAM} ls` lists them")
        raise SystemExit(exits.NOT_FOUND)
    if len(found) > 1:
        _say(f"{name} may be any of: {', '.join(found)}")
        raise SystemExit(exits.USAGE)
    return found[0]


@asynccontextmanager
async def _opened(
    location: str | None, name: str
) -> AsyncGenerator[tuple[LogReader, SessionId], None]:
    valid_session_id(name)  # before any file is touched
    async with open_reader(location) as reader:
        yield reader, await _one(reader, name)


async def _pages(reader: LogReader, key: SessionId) -> AsyncGenerator[Page, None]:
    """Yield the session as far as it goes now."""
    cursor = START
    while (page := await reader.read(key, after=cursor)).body:
        yield page
        cursor = page.next


async def _write(reader: LogReader, key: SessionId, file: BinaryIO) -> None:
    async with aclosing(export_cassette(reader, key)) as pieces:
        async for piece in pieces:
            file.write(piece)


def _row(row: SessionRow) -> dict[str, object]:
    return {
        "id": row.id,
        "events": row.head - row.floor,
        "floor": row.floor,
        "head": row.head,
        "created": row.created,
        "updated": row.updated,
        "title": row.title,
        "opened": row.opened,
    }


def _run(run: Callable[[], Awaitable[T]]) -> T:
    with exits.ending(_PROGRAM):
        return anyio.run(run)


def _print(text: bytes) -> None:
    sys.stdout.buffer.write(text + b"\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{_PROGRAM}: {text}\n")
