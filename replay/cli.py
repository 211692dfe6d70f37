"""`hermes-replay`: a recorded session as text, a page, JSON, a cast, or the log's lines (cli.md).

Above this module: people, at a terminal or in a pipe. Below it: `program`, which does the work.
The bytes that go to a pipe depend on the arguments and the log alone (R127).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_EXAMPLES = """\b
Examples:
  hermes-replay                              the session that was recorded last
  hermes-replay s-7f3c                       one that begins so; an alias will do
  hermes-replay run.jsonl --until turn:2     a cassette or a capture, two turns of it
  hermes-replay -o session.html              one file to read in a browser, redacted
  hermes-replay -f markdown | less
  hermes-replay latest -f json -o state.json
  hermes-replay latest -f jsonl | jq .type
  hermes-replay - --profile snapshot < run.jsonl

\b
Exit codes: 0 done, 2 usage or invalid id, 3 no such session, 4 damaged,
5 log unavailable, 130 interrupted.
"""


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
    SNAPSHOT = "snapshot"


app = typer.Typer(
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "terminal_width": 80,
        "max_content_width": 80,
    },
)


SessionName = Annotated[
    str | None,
    typer.Argument(
        metavar="SESSION",
        help="An id, the beginning of one, an alias, a file, or `-`.",
        show_default="latest",
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
Until = Annotated[
    str | None, typer.Option(metavar="SEQ|turn:N", help="Stop behind this event or turn.")
]
Shown = Annotated[
    ProfileName, typer.Option(help="snapshot leaves out whatever differs between equal runs.")
]
Digest = Annotated[
    bool, typer.Option("--digest", help="Print the SHA-256 of the transcript instead.")
]
Width = Annotated[int, typer.Option(min=0, metavar="N", help="Cells of a line; 0 wraps nothing.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Draw our signs in ASCII.")]
Numbers = Annotated[bool, typer.Option("--seq", help="Show sequence numbers.")]
Log = Annotated[str | None, typer.Option(help="Folder of the log, or a .db file. Else HERMES_LOG.")]
Pick = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="One of a file's sessions.")
]


@app.command(epilog=_EXAMPLES)
def replay(
    session: SessionName = None,
    format_: FormatName = None,
    output: Output = None,
    force: Force = False,
    redact: Redact = None,
    until: Until = None,
    profile: Shown = ProfileName.DEFAULT,
    digest: Digest = False,
    width: Width = 80,
    ascii_: Ascii = False,
    seq: Numbers = False,
    log: Log = None,
    pick: Pick = None,
) -> None:
    """Show a recorded session: what was asked, said, done and decided."""
    from replay.program import Request, run

    named = session if session is not None else pick
    request = Request(
        name="latest" if named is None else named,
        pick=pick if session is not None else None,
        log=log,
        format=format_ and format_.value,
        output=output,
        force=force,
        redact=redact,
        until=until,
        profile=profile.value,
        digest=digest,
        width=width,
        ascii=ascii_,
        seq=seq,
    )
    raise typer.Exit(run(request))


def main() -> None:
    """Run the program."""
    app(prog_name="hermes-replay")


if __name__ == "__main__":
    main()
