"""The options of `hermes-replay`: how each is written, and what its help says (cli.md).

Above this module: `cli`. Below it: nothing of ours, so that `--help` is there at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """What is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    JSONL = "jsonl"
    CAST = "cast"


class ProfileName(StrEnum):
    """How much of a session the text shows."""

    DEFAULT = "default"
    COMPACT = "compact"
    FULL = "full"
    SNAPSHOT = "snapshot"
    TIMELINE = "timeline"


class ThoughtsShown(StrEnum):
    """What becomes of thoughts."""

    SHOW = "show"
    FOLD = "fold"
    HIDE = "hide"


class ColorWanted(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class TimeShown(StrEnum):
    """Which times."""

    UTC = "utc"
    OFFSET = "offset"
    NONE = "none"


def width_of(text: str) -> int | None:
    """Return the width that *text* means; None for `auto`."""
    if text == "auto":
        return None
    if text.isascii() and text.isdigit() and len(text) < 6:
        return int(text)
    raise typer.BadParameter("a number of cells, 0 for no limit, or auto")


def session_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the sessions of the log whose ids begin so, for the shell to complete."""
    from replay.completion import sessions_that_begin  # noqa: PLC0415 - only a shell asks

    log = ctx.params.get("log")
    return sessions_that_begin(incomplete, log if isinstance(log, str) else None)


SessionName = Annotated[
    str | None,
    typer.Argument(
        metavar="SESSION",
        help="An id, the beginning of one, an alias, a file, or `-`.",
        show_default="latest",
        autocompletion=session_names,
    ),
]
FormatName = Annotated[
    Format | None, typer.Option("--format", "-f", help="What to write.", show_default="text")
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write here; the suffix tells the format.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file that -o names.")]
Redact = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Hide keys, tokens, passwords.",
        show_default="on for markdown, html and cast",
    ),
]
Sanitize = Annotated[
    bool, typer.Option("--sanitize", help="Replace all content by marks; keep the structure.")
]
Log = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE", help="Folder of the log, a .db file, or nats://… Else HERMES_LOG."
    ),
]
Pick = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="One of a file's sessions.")
]

Until = Annotated[
    str | None,
    typer.Option(metavar="POINT", help="Stop there: SEQ, turn:N, +SECONDS, or a time in UTC."),
]
Begin = Annotated[
    str | None, typer.Option("--from", metavar="POINT", help="Leave out what was over by then.")
]
TurnNumber = Annotated[
    int | None, typer.Option("--turn", metavar="N", help="This turn alone; -1 is the last.")
]
Last = Annotated[int | None, typer.Option(metavar="N", help="The last N turns.")]
Only = Annotated[
    str | None, typer.Option(metavar="KIND,…", help="Kinds of entries: user, agent, tool, …")
]
Hide = Annotated[str | None, typer.Option(metavar="KIND,…", help="All kinds but these.")]
ToolName = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="This tool alone.")]
Status = Annotated[
    str | None, typer.Option(metavar="WORD", help="failed, open, stopped, or any one status.")
]
All = Annotated[bool, typer.Option("--all", help="Show as lines what is only counted else.")]

Shown = Annotated[ProfileName, typer.Option(help="How much is shown.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="The same as --profile full.")]
Thoughts = Annotated[ThoughtsShown, typer.Option(help="Whole, a line of each, or none.")]
Lines = Annotated[
    str | None,
    typer.Option(
        metavar="N+M",
        help="Lines of an output: first and last.",
        show_default="8+4 in text, all in markdown and html",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="All lines of every output and diff.")]
Width = Annotated[str, typer.Option(metavar="N|auto", help="Cells of a line; 0 wraps nothing.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Draw our signs in ASCII.")]
Colors = Annotated[
    ColorWanted, typer.Option("--color", help="auto: on a terminal, unless NO_COLOR is set.")
]
Numbers = Annotated[bool, typer.Option("--seq", help="Show sequence numbers.")]
Times = Annotated[TimeShown, typer.Option("--time", help="Of day, since the start, or none.")]
Gaps = Annotated[
    float | None,
    typer.Option("--gaps", min=0, metavar="SECONDS", help="Show when nothing came for so long."),
]
Idle = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="In a cast: the longest silence.")
]
Speed = Annotated[
    float, typer.Option(min=0.01, metavar="X", help="In a cast: so many times as fast.")
]
Pager = Annotated[bool, typer.Option("--pager/--no-pager", help="Page on a terminal.")]

Digest = Annotated[bool, typer.Option("--digest", help="Print the SHA-256 of the transcript.")]
Grep = Annotated[
    str | None, typer.Option(metavar="RE", help="Print what matches, with its entry's id.")
]
Numbered = Annotated[bool, typer.Option("--stats", help="Print the session in numbers.")]
Check = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Render again, and compare with this file.")
]
Diff = Annotated[str | None, typer.Option(metavar="OTHER", help="Compare with another session.")]
Json = Annotated[bool, typer.Option("--json", help="Print --grep, --stats or --diff as JSON.")]

Follow = Annotated[bool, typer.Option("--follow", "-F", help="Go on as the session does.")]
Wait = Annotated[bool, typer.Option("--wait", help="With -F: wait until there is such a session.")]
Step = Annotated[bool, typer.Option("--step", help="Go through it event by event; ? for keys.")]
