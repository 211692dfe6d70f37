"""`hermes-gateway wrap`: the command line (cli.md).

Above this module: `gateway.cli`. Below it: this package.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import anyio
import typer

from eventlog import exits, log_location
from gateway.errors import CannotStart

if TYPE_CHECKING:
    from gateway.transports import Exit

PROGRAM: Final = "hermes-gateway"

CANNOT_RUN: Final = 127
"""What a shell says when there is no such command."""

app = typer.Typer(
    help="Stand between a client and its agent or gateway, and record.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LogOption = Annotated[
    str | None, typer.Option("--log", help="Folder of the log, or a .db file. Else HERMES_LOG.")
]


@app.command(
    epilog="Examples: hermes-gateway wrap acp -- npx @agentclientprotocol/claude-agent-acp"
    "  |  hermes-gateway wrap acp --history prefer -- gemini --acp"
)
def acp(
    command: Annotated[list[str], typer.Argument(help="The agent, behind --.")],
    log: LogOption = None,
    history: Annotated[
        str,
        typer.Option(
            metavar="off|fill|prefer",
            help="fill: list and load sessions from the log if the agent cannot."
            " prefer: load from the log even if it can. off: change no frame at all.",
        ),
    ] = "fill",
    name: Annotated[
        str | None, typer.Option(help="What to call the agent, if not by its own name.")
    ] = None,
) -> None:
    """Stand between an editor (on stdio) and its ACP agent, unnoticed, and record everything.

    Frames pass byte for byte. If another process writes the log (a gateway, another editor), this
    one records into a log of its own beside it, which the next wrap takes in. If there is no log
    to write to at all, everything passes unrecorded, and that is said on stderr.
    """
    from gateway.wrap.acp import Wrapping, wrap_acp
    from gateway.wrap.relay import Ends
    from gateway.wrap.stand_in import Mode
    from gateway.wrap.streams import take_standard

    if history not in set(Mode):
        _fail(f"--history {history}: write off, fill or prefer", exits.USAGE)
    with exits.ending(PROGRAM):
        where = log_location(log)
    wrapping = Wrapping(command, where, Mode(history), name)
    editor = Ends(*take_standard())
    try:
        end = anyio.run(wrap_acp, wrapping, editor, _tell)
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors
    except CannotStart as error:
        _fail(str(error), CANNOT_RUN)
    _end_like(end)


def _end_like(end: Exit) -> None:
    """End this process as the agent has ended."""
    if end.signal:
        number = signal.Signals[end.signal]
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)
    raise typer.Exit(end.code or 0)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _tell(text: str) -> None:
    typer.echo(f"{PROGRAM}: {text}", err=True)


def _fail(text: str, code: int) -> NoReturn:
    _tell(text)
    raise typer.Exit(code)
