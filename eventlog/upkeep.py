"""The commands of `hermes-log` that change a log, or make another: backup, prune, delete, fork.

Above this module: `cli`. Below it: `terminal`, the log.

While a gateway runs the log is its alone: what writes is refused, and says who has it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from os import urandom
from pathlib import Path
from time import time_ns
from typing import Annotated, Final

import typer

from eventlog import codec, exits
from eventlog.errors import HistoryTruncated
from eventlog.event import SessionId, valid_session_id
from eventlog.folding import Standing, folding
from eventlog.location import log_file, open_log, open_reader
from eventlog.printing import printable
from eventlog.sqlite import database_file
from eventlog.store import LogReader, Prunable
from eventlog.terminal import Json, Location, Session, Sessions, find, one, put, run, say, writing

commands: Final = typer.Typer(rich_markup_mode=None)

_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])\Z")
_MINUTES: Final = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}
_MINUTE: Final = 60_000_000  # µs

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")]


@commands.command(
    short_help="Write the whole log to a file.",
    epilog="\b\nExamples:\n  hermes-log backup /mnt/backup/hermes.db",
)
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="It must not be there yet.")],
    *,
    log: Location = None,
) -> None:
    """Write the whole log to a file, also while a gateway writes it.

    The file is a log itself; whoever opens it to write begins a new epoch.
    """
    from eventlog.sqlite import duplicate

    async def work() -> None:
        say(f"written to {await duplicate(log_file(log), file)}")

    run(work)


@commands.command(
    short_help="Make a log of a backup.",
    epilog="\b\nExamples:\n  hermes-log restore /mnt/backup/hermes.db --log ~/restored",
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, or any log.")],
    *,
    log: Location = None,
) -> None:
    """Make a log of a backup where none is, and verify it; exit 1 if anything is damaged."""
    from eventlog.sqlite import SqliteReader, duplicate

    async def work() -> int:
        made = await duplicate(file, database_file(log_file(log)))
        async with SqliteReader.open(made) as reader:
            found = [damage async for damage in reader.verify()]
        return _told(found, f"restored to {made}", f"with {len(found)} damages")

    find(work)


def _told(found: Sequence[object], done: str, but: str) -> int:
    """Print what is damaged, and say what was done; return how many there are."""
    for damage in found:
        put(printable(str(damage)).encode())
    say(f"{done}, {but}" if found else done)
    return len(found)


@commands.command(
    short_help="Make a log of what a damaged one still holds.",
    epilog="\b\nExamples:\n  hermes-log salvage ~/damaged ~/whole",
)
def salvage(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A damaged log.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="Where none is yet.")],
) -> None:
    """Make a new log of everything that is intact in a damaged one, which is left as it is.

    Ids and numbers stay; in the place of what is lost stands one event that says so. Exit 1 if
    anything is lost.
    """
    from eventlog.sqlite.salvage import salvage as salvaged

    async def work() -> int:
        found = await salvaged(source, target)
        return _told(found, f"salvaged to {target}", f"without {len(found)} things")

    find(work)


@commands.command(
    short_help="Copy all sessions into another log.",
    epilog="\b\nExamples:\n  hermes-log copy ~/old ~/new",
)
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A log.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another; made if need be.")],
) -> None:
    """Copy all sessions with their ids and numbers into another log, which keeps what it has.

    Copying again copies what has come since. Exit 1 if a session could not be copied.
    """
    from eventlog.copying import copy_log

    async def work() -> bool:
        failed = False
        async with open_reader(source) as reader, open_log(target) as log:
            async for one_ in copy_log(reader, log):
                failed |= bool(one_.problem)
                if one_.problem:
                    say(f"{one_.session_id} was not copied: {one_.problem}")
                else:
                    put(f"{one_.session_id}  {one_.added} events".encode())
        return failed

    find(work)


@commands.command(
    short_help="Remove old events.",
    epilog="\b\nExamples:\n  hermes-log prune --older-than 30d --dry-run\n"
    "  hermes-log prune --older-than 30d\n  hermes-log prune 4f2a --to 1000",
)
def prune(
    session: Sessions = None,
    *,
    older_than: Annotated[
        str | None, typer.Option(metavar="AGE", help="Like 90m, 12h, 30d, 8w.")
    ] = None,
    to: Annotated[int | None, typer.Option(metavar="SEQ", min=1, help="Up to this event.")] = None,
    dry_run: DryRun = False,
    log: Location = None,
    as_json: Json = False,
) -> None:
    """Remove old events, and keep in their place what the session looked like there.

    A session that is being worked on, or waits for an answer, is left as it is. Numbers stay.
    """
    if (older_than is None) == (to is None):
        raise typer.BadParameter("give either --older-than or --to")
    if to is not None and not session:
        raise typer.BadParameter("--to is about one session: name it")
    before = None if older_than is None else time_ns() // 1_000 - _age(older_than)

    async def work() -> None:
        for name in session or ():
            valid_session_id(name)
        async with open_reader(log) as reader:
            keys = [await one(reader, name) for name in session or ()]
            keys = keys or [row.id for row in await reader.sessions(every=True)]
            plan = await _plan(reader, keys, to, before)
        if plan and not dry_run:
            async with writing(log) as store:
                for key, _, standing in plan:
                    await store.prune(key, standing.base)
        _tell(plan, as_json=as_json)

    run(work)


@commands.command(
    short_help="Delete sessions.",
    epilog="\b\nExamples:\n  hermes-log delete 4f2a\n  hermes-log delete 4f2a --dry-run",
)
def delete(
    session: Annotated[list[str], typer.Argument(metavar="SESSION…", show_default=False)],
    *,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    log: Location = None,
) -> None:
    """Delete everything of sessions. Their ids stay reserved, so that no number is used twice."""

    async def find() -> list[SessionId]:
        for name in session:
            valid_session_id(name)
        async with open_reader(log) as reader:
            return [await one(reader, name) for name in session]

    async def work() -> None:
        async with writing(log) as store:
            for key in found:
                await store.delete(key)

    found = list(dict.fromkeys(run(find)))
    if not (dry_run or yes) and sys.stdin.isatty():
        typer.confirm(f"Delete {', '.join(found)}?", abort=True, err=True)
    if not dry_run:
        run(work)
    for key in found:
        put(key.encode())


@commands.command(
    short_help="Make a new session of the past of another.",
    epilog="\b\nExamples:\n  hermes-log fork latest --at 120",
)
def fork(
    session: Session,
    *,
    at: Annotated[
        int | None, typer.Option(metavar="SEQ", min=1, help="The last event; else all of them.")
    ] = None,
    log: Location = None,
) -> None:
    """Copy a session up to an event into a new one, and print its id.

    What was open there is ended in the copy, which says where it comes from.
    """
    from eventlog.forking import fork as fork_session

    async def work() -> None:
        child = SessionId(f"s-{urandom(6).hex()}")
        async with writing(log, session) as store:
            parent = await one(store, session)
            head = (await store.read(parent, limit=0)).head
            try:
                await fork_session(store, parent, child, head if at is None else at)
            except HistoryTruncated as error:
                say(f"{error}; give a place from {error.floor} to {error.head} with --at")
                raise SystemExit(exits.USAGE) from None
        put(child.encode())

    run(work)


@commands.command(
    short_help="Store idle sessions smaller.",
    epilog="\b\nExamples:\n  hermes-log compact\n  hermes-log compact --older-than 1h",
)
def compact(
    *,
    older_than: Annotated[str, typer.Option(metavar="AGE", help="Idle for so long.")] = "1d",
    log: Location = None,
) -> None:
    """Merge and compress the events of idle sessions; what is read does not change."""
    before = time_ns() // 1_000 - _age(older_than)

    async def work() -> None:
        async with writing(log) as store:
            await store.compact(before=before)

    run(work)


def _age(text: str) -> int:
    """Return an age in µs."""
    found = _AGE.match(text)
    if found is None:
        raise typer.BadParameter(f"{text} is no age: give a number and m, h, d or w")
    return int(found[1]) * _MINUTES[found[2]] * _MINUTE


async def _plan(
    reader: LogReader, keys: Sequence[SessionId], to: int | None, before: int | None
) -> list[tuple[SessionId, Prunable, Standing]]:
    """Return what there is to remove, and with it what will stay in its place."""
    plan = []
    for key in keys:
        reach = await reader.prunable(key, to=to, before=before)
        if not reach.events:
            continue
        standing = await folding().standing(reader, key, reach.seq)
        if standing.open:
            say(f"{key} is kept: it is being worked on, or waits for an answer")
        else:
            plan.append((key, reach, standing))
    return plan


def _tell(plan: Sequence[tuple[SessionId, Prunable, Standing]], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"id": key, "to": reach.seq, "events": reach.events, "bytes": reach.size}
            for key, reach, _ in plan
        ]
        put(codec.dumps(rows))
        return
    for key, reach, _ in plan:
        put(f"{key}  {reach.events} events up to {reach.seq}  {reach.size} bytes".encode())
