"""`hermes-log`: look at the log itself.

Above this module: a person, a script. Below it: the log's readers, `cassette`, `exits`.

Data goes to stdout, everything else to stderr; what is written never depends on the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, BinaryIO, Final

import typer

from eventlog import codec, exits
from eventlog.address import LogAddress
from eventlog.event import START, SessionId, parse, valid_session_id
from eventlog.journal import journal
from eventlog.location import driver, log_location, open_reader
from eventlog.page import Page
from eventlog.printing import figures, listed, one_line, printable
from eventlog.store import LogReader, SessionRow
from eventlog.terminal import (
    PROGRAM,
    Json,
    Location,
    Session,
    Sessions,
    complete,
    find,
    one,
    put,
    reading,
    run,
    say,
)
from eventlog.upkeep import commands

app: Final = typer.Typer(
    name=PROGRAM,
    help="Look at the log, and look after it: list, show, export, verify, back up, prune.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExamples:\n  hermes-log ls\n  hermes-log show latest\n  hermes-log verify",
)


def main() -> None:
    """Run the program."""
    app()


@app.command(
    short_help="List the sessions.",
    epilog="\b\nExamples:\n  hermes-log ls\n  hermes-log ls --json | jq '.[0].id'",
)
def ls(
    *,
    log: Location = None,
    as_json: Json = False,
) -> None:
    """List the sessions, the one of the newest event first: id, events, last change, title."""

    async def work() -> None:
        async with open_reader(log) as reader:
            rows = await reader.sessions()
        if as_json:
            put(codec.dumps([_row(row) for row in rows]))
        else:
            put("\n".join(listed(rows)).encode(), end=b"\n" if rows else b"")

    run(work)


@app.command(
    short_help="Print a session, one event a line.",
    epilog="\b\nExamples:\n  hermes-log show latest\n  hermes-log show 4f2a | grep error",
)
def show(session: Session, *, log: Location = None) -> None:
    """Print a session, one event a line: number, time (UTC), type, payload.

    Control characters are escaped, large strings are named. `export` gives the events as they are.
    """

    async def work() -> None:
        async with reading(log, session) as (reader, key), aclosing(_pages(reader, key)) as pages:
            async for page in pages:
                for text in page.lines:
                    put(one_line(parse(text), text).encode())

    run(work)


@app.command(
    short_help="Write sessions as a cassette.",
    epilog="\b\nExamples:\n  hermes-log export latest -o session.jsonl\n"
    "  hermes-log export 4f2a | gzip > session.jsonl.gz\n  hermes-log export --all -o all.jsonl",
)
def export(
    session: Sessions = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Every session of the log.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")
    ] = None,
    log: Location = None,
) -> None:
    """Write sessions as a cassette: a line that says what it is, then the log's own lines.

    Large strings and what pruning left are in it; `hermes-gateway import` brings all of it back.
    """
    if every == bool(session):
        raise typer.BadParameter("give sessions, or --all")

    async def work() -> None:
        for name in session or ():
            valid_session_id(name)  # before any file is touched
        async with open_reader(log) as reader:
            keys = [await one(reader, name) for name in session or ()]
            if every:
                keys = [row.id for row in reversed(await reader.sessions(every=True))]
            if output is None:
                await _write(reader, keys, sys.stdout.buffer)
                return
            try:
                with _made(output) as file:
                    await _write(reader, keys, file)
            except OSError as error:
                say(f"{output}: {error.strerror}; give another file with -o")
                raise SystemExit(exits.USAGE) from error

    run(work)


@app.command(
    short_help="Look for what is damaged.",
    epilog="\b\nExamples:\n  hermes-log verify\n  hermes-log verify latest && echo whole",
)
def verify(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", help="Only this one.", autocompletion=complete, show_default=False
        ),
    ] = None,
    *,
    log: Location = None,
) -> None:
    """Read everything and compare checksums and numbers; exit 1 if anything is damaged.

    `salvage` makes a log of what is intact.
    """
    from eventlog.sqlite.inspection import inspect

    async def work() -> int:
        found = 0
        if session is not None:
            valid_session_id(session)
        choose = None if session is None else partial(one, name=session)
        where = log_location(log)
        if isinstance(where, LogAddress):
            looking = driven(where).inspect(where, choose)
        else:
            looking = inspect(where, choose, session)
        async with aclosing(looking) as damages:
            async for damage in damages:
                found += 1
                put(printable(str(damage)).encode())
        say("everything is as it was written" if not found else f"{found} damages")
        return found

    find(work)


@app.command(
    short_help="Say how much there is.",
    epilog="\b\nExamples:\n  hermes-log stats\n  hermes-log stats --json | jq .events",
)
def stats(*, log: Location = None, as_json: Json = False) -> None:
    """Count sessions, events, large strings and bytes; no event is read."""

    async def work() -> None:
        where = log_location(log)
        if isinstance(where, LogAddress):
            found = await driven(where).figures(where)
        else:
            from eventlog.sqlite import SqliteReader

            async with SqliteReader.open(where) as reader:
                found = await reader.figures()
        if as_json:
            put(codec.dumps(found))
        else:
            for text in figures(found):
                put(text.encode())

    run(work)


@app.command(
    short_help="Look at what may endanger the log.",
    epilog="\b\nExamples:\n  hermes-log doctor\n  hermes-log doctor --json",
)
def doctor(*, log: Location = None, as_json: Json = False) -> None:
    """Look at SQLite, the file system, permissions, the lock, durability and room.

    Of a log on servers, at these and its stream. Exit 1 if something should be changed. No event
    is read; `verify` does that.
    """

    async def work() -> bool:
        where = log_location(log)
        if isinstance(where, LogAddress):
            findings = await driven(where).examine(where)
        else:
            from eventlog.sqlite.doctor import examine

            findings = await examine(where)
        if as_json:
            put(codec.dumps([finding.as_json() for finding in findings]))
        else:
            for finding in findings:
                put(str(finding).encode())
        return any(finding.warns for finding in findings)

    find(work)


async def _pages(reader: LogReader, key: SessionId) -> AsyncGenerator[Page, None]:
    """Yield the session as far as it goes now."""
    cursor = START
    while (page := await reader.read(key, after=cursor, by_reference=True)).body:
        yield page
        cursor = page.next


async def _write(reader: LogReader, keys: list[SessionId], file: BinaryIO) -> None:
    from eventlog.cassette import export_cassette

    for key in keys:
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


def driven(where: LogAddress) -> ModuleType:
    """Return what looks at logs on servers, if its driver is installed."""
    with driver(where):
        from eventlog.jetstream import inspection
    return inspection


def _made(output: Path) -> BinaryIO:
    """Open a file to write; it is the owner's alone, if it was not there (S-13)."""
    return os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


app.add_typer(commands)
app.command(
    short_help="Choose the kind of journal.",
    epilog="\b\nExamples:\n  hermes-log journal delete --log /mnt/share/hermes",
)(journal)
