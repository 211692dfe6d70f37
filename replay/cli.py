"""`hermes-replay`: a recorded session as text, a page, JSON, a cast, or the log's lines (cli.md).

Above this module: people, at a terminal or in a pipe. Below it: `program`, which does the work.
The bytes that go to a pipe depend on the arguments and the log alone (R127).
"""

from __future__ import annotations

import typer

from replay import arguments as given

_EXAMPLES = """\b
Examples:
  hermes-replay                              the session that was recorded last
  hermes-replay s-7f3c                       one that begins so; an alias will do
  hermes-replay run.jsonl --until turn:2     a cassette or a capture, two turns of it
  hermes-replay -o session.html              one file to read in a browser, redacted
  hermes-replay latest -f jsonl | jq .type
  hermes-replay - --profile snapshot < run.jsonl
  hermes-replay --last 1 -v                  all there is of the last turn
  hermes-replay --tool run --status failed   the commands that failed
  hermes-replay --grep 'ENOENT|EACCES'       where it says so; exit 1 if nowhere
  hermes-replay s-7f3c --diff s-91d0         what went otherwise; exit 1 if anything
  hermes-replay run.jsonl --profile snapshot --check run.txt
  hermes-replay --stats --json | jq .tools
  hermes-replay -F s-new --wait              from its first event, as it happens
  hermes-replay --step                       event by event, back and forth

\b
Exit codes: 0 done, 1 a difference, or nothing found, 2 usage or invalid id,
3 no such session, 4 damaged, 5 log unavailable, 130 interrupted.
"""

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


@app.command(epilog=_EXAMPLES)
def replay(
    session: given.SessionName = None,
    format_: given.FormatName = None,
    output: given.Output = None,
    force: given.Force = False,
    redact: given.Redact = None,
    sanitize: given.Sanitize = False,
    log: given.Log = None,
    pick: given.Pick = None,
    until: given.Until = None,
    begin: given.Begin = None,
    turn: given.TurnNumber = None,
    last: given.Last = None,
    only: given.Only = None,
    hide: given.Hide = None,
    tool: given.ToolName = None,
    status: given.Status = None,
    all_: given.All = False,
    profile: given.Shown = given.ProfileName.DEFAULT,
    verbose: given.Verbose = False,
    thoughts: given.Thoughts = given.ThoughtsShown.SHOW,
    lines: given.Lines = None,
    full: given.Full = False,
    width: given.Width = "80",
    ascii_: given.Ascii = False,
    color: given.Colors = given.ColorWanted.AUTO,
    seq: given.Numbers = False,
    time: given.Times = given.TimeShown.UTC,
    silence: given.Gaps = None,
    idle: given.Idle = 2.0,
    speed: given.Speed = 1.0,
    pager: given.Pager = True,
    digest: given.Digest = False,
    grep: given.Grep = None,
    stats: given.Numbered = False,
    check: given.Check = None,
    diff: given.Diff = None,
    json_: given.Json = False,
    follow: given.Follow = False,
    wait: given.Wait = False,
    step: given.Step = False,
) -> None:
    """Show a recorded session: what was asked, said, done and decided."""
    asked = {name.rstrip("_"): value for name, value in locals().items()}
    from replay.program import run
    from replay.request import Request

    del asked["session"]
    asked["name"] = next(one for one in (session, pick, "latest") if one is not None)
    asked["pick"] = pick if session is not None else None
    raise typer.Exit(run(Request(**asked | {"width": given.width_of(width)})))


def main() -> None:
    """Run the program."""
    app(prog_name="hermes-replay")


if __name__ == "__main__":
    main()
