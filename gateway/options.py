"""What the commands of `hermes-gateway` share: options, and how they begin and end.

Above this module: the command lines. Below it: `eventlog.exits`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TypeVar

import anyio
import typer

from eventlog import LogAddress, exits, log_home, log_location
from gateway.errors import GatewayError

PROGRAM: Final = "hermes-gateway"
Result = TypeVar("Result")


def _seconds(name: str, told: str) -> Any:
    return typer.Option(name, metavar="SECONDS", min=0.1, help=told)


LogOption = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="WHERE",
        help="Folder of the log, a .db file, or nats://… Else HERMES_LOG.",
    ),
]

UpstreamOption = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help="The gateway's WebSocket, instead of a command. Its token is in the URL (?token=…)"
        " or in HERMES_UPSTREAM_TOKEN.",
    ),
]
ListenOption = Annotated[
    str | None,
    typer.Option("--listen", metavar="HOST:PORT", help="Where the WebSocket is; port 0: any."),
]
StdioOption = Annotated[bool, typer.Option("--stdio", help="Serve one client on stdio, too.")]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="ORIGIN", help="A page's origin that may connect."),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A name by which this host may be called."),
]
ShareAgent = Annotated[
    list[str] | None,
    typer.Option(
        "--share-agent",
        metavar="NAME",
        help="One process of this agent serves all of its sessions, instead of one each.",
    ),
]
StartTimeout = Annotated[
    float | None,
    _seconds(
        "--start-timeout",
        "How long an agent may take for each step until a session is ready; else 120.",
    ),
]
StopTimeout = Annotated[
    float | None,
    _seconds(
        "--stop-timeout",
        "How long an agent may take to end a turn that was interrupted; else 30.",
    ),
]
AllowFs = Annotated[
    Path | None,
    typer.Option(
        "--allow-fs",
        metavar="FOLDER",
        exists=True,
        file_okay=False,
        help="Offer agents to read text files below FOLDER, and to write those below a session's"
        " own folder, if that is in FOLDER.",
    ),
]
AllowTerminal = Annotated[
    bool, typer.Option("--allow-terminal", help="Offer agents to run commands.")
]


def home_of_log(option: str | None) -> tuple[Path | LogAddress, Path]:
    """Return where the log is, and the folder beside it that keeps the token, made if need be."""
    with exits.ending(PROGRAM):
        where = log_location(option)
    home = log_home(where)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return where, home


def run_to_end(run: Callable[..., Awaitable[Result]], *arguments: object) -> Result:
    """Run a coroutine function, and say in one line what went wrong."""
    try:
        with exits.ending(PROGRAM):
            try:
                return anyio.run(run, *arguments)
            except BaseExceptionGroup as errors:
                raise _first(errors) from errors
    except (GatewayError, OSError, TimeoutError) as error:
        fail(str(error) or "it took too long", exits.FOUND)


def address(listen: str | None) -> tuple[str, int]:
    """Return the host and the port of `HOST:PORT`; the default is 127.0.0.1:8765."""
    host, colon, port = (listen or "127.0.0.1:8765").rpartition(":")
    if not (colon and port.isdigit() and int(port) < 65536):
        fail(f"--listen {listen!r}: write HOST:PORT, as in 127.0.0.1:8765", exits.USAGE)
    return host.strip("[]") or "127.0.0.1", int(port)


def log_to_stderr() -> None:
    """Let this program's own log go to stderr."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )


def tell(text: str) -> None:
    """Say something to the person at the terminal, on stderr."""
    typer.echo(text, err=True)


def fail(text: str, code: int) -> NoReturn:
    """End with a message and an exit code."""
    tell(f"{PROGRAM}: {text}")
    raise typer.Exit(code)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
