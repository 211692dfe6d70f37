"""`hermes-gateway wrap`: the command line (cli.md).

Above this module: `gateway.cli`. Below it: this package.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import anyio
import typer

from eventlog import LogAddress, exits, log_location
from gateway.errors import CannotStart
from gateway.options import (
    PROGRAM,
    AllowHost,
    AllowOrigin,
    ListenOption,
    LogOption,
    StdioOption,
    UpstreamOption,
    address,
    fail,
    home_of_log,
    log_to_stderr,
    run_to_end,
    tell,
)

if TYPE_CHECKING:
    from gateway.transports import Address, Exit

CANNOT_RUN: Final = 127
"""What a shell says when there is no such command."""

app = typer.Typer(
    help="Stand between a client and its agent or gateway, and record.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
        fail(f"--history {history}: write off, fill or prefer", exits.USAGE)
    where = _file(log)
    wrapping = Wrapping(command, where, Mode(history), name)
    editor = Ends(*take_standard())
    try:
        end = anyio.run(wrap_acp, wrapping, editor, _tell_of_this)
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors
    except CannotStart as error:
        fail(str(error), CANNOT_RUN)
    _end_like(end)


@app.command(
    epilog="Examples: hermes-gateway wrap hermes -- python -m tui_gateway.entry"
    "  |  hermes-gateway wrap hermes --listen 127.0.0.1:8765 --upstream ws://127.0.0.1:9119/api/ws"
)
def hermes(
    command: Annotated[
        list[str] | None, typer.Argument(help="The gateway, behind --, if it speaks on stdio.")
    ] = None,
    log: LogOption = None,
    upstream: UpstreamOption = None,
    listen: ListenOption = None,
    stdio: StdioOption = False,
    name: Annotated[
        str, typer.Option(help="What to call this gateway; its session ids are its own.")
    ] = "gateway",
    allow_origin: AllowOrigin = None,
    allow_host: AllowHost = None,
) -> None:
    """Stand in front of a Hermes gateway, record it, and answer catching up from the log.

    With --listen the gateway's command is started again when it ends, and clients go on. The log
    has one writer: while this runs, no other gateway can use it.
    """
    from gateway.auth import load_token
    from gateway.wrap.hermes import Serving, dial_command, dial_socket, wrap_hermes

    if bool(command) == bool(upstream):
        fail("give either a COMMAND behind -- or --upstream URL", exits.USAGE)
    log_to_stderr()
    where = _file(log)
    _, home = home_of_log(log)
    host, port = address(listen) if listen else ("127.0.0.1", None)
    serving = Serving(
        dial=dial_socket(upstream) if upstream else dial_command(command or []),
        log=where,
        token=load_token(home),
        name=name,
        host=host,
        port=port,
        stdio=stdio or port is None,
        allowed_origins=allow_origin or (),
        allowed_hosts=allow_host or (),
    )

    def ready(found: Address | None) -> None:
        if found:
            tell(f"listening on {found.url} (token: {home / 'token'} or HERMES_GATEWAY_TOKEN)")

    if end := run_to_end(wrap_hermes, serving, ready):
        _end_like(end)


def _file(log: str | None) -> Path:
    """Return where the log is, which has to be a file.

    On servers a session is another's as soon as its lease is lost, and whoever lost it has to end
    the agent: an editor's is not ours to end.
    """
    with exits.ending(PROGRAM):
        found = log_location(log)
    if isinstance(found, LogAddress):
        told = f"wrap records into a file, not into {found}: give --log FOLDER,"
        fail(f"{told} and bring it there with hermes-log copy FOLDER URL", exits.USAGE)
    return found


def _tell_of_this(text: str) -> None:
    tell(f"{PROGRAM}: {text}")


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
