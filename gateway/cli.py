"""`hermes-gateway`: serve, import, play, demo (cli.md).

Above this module: people, at a terminal. Below it: everything else in this package. What is heavy
is imported by the command that needs it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from shlex import split
from typing import TYPE_CHECKING, Annotated, Final, NoReturn, TypeVar

import anyio
import typer

from eventlog import SessionId, exits, log_location, valid_session_id
from gateway.errors import GatewayError
from gateway.live import AgentSpec
from gateway.wrap.cli import app as wrap

if TYPE_CHECKING:
    from gateway.transports import Address

PROGRAM: Final = "hermes-gateway"
Result = TypeVar("Result")

app = typer.Typer(
    help="Host AI agents, record them, and serve clients that reconnect.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(wrap, name="wrap")

LogOption = Annotated[
    str | None, typer.Option("--log", help="Folder of the log, or a .db file. Else HERMES_LOG.")
]
ServeAgents = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="NAME=COMMAND", help="An agent that speaks ACP on stdio."),
]


@app.command(
    epilog="Examples: hermes-gateway serve --agent claude='npx @agentclientprotocol/claude-agent-acp'"
    "  |  hermes-gateway serve --stdio --agent a='my-agent --acp'"
)
def serve(
    agent: ServeAgents = None,
    log: LogOption = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where the WebSocket is. Port 0 takes a free one."),
    ] = None,
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve one client on stdio, too.")] = False,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A page's origin that may connect.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name by which this host may be called.")
    ] = None,
) -> None:
    """Host agents, record them, and serve clients on a WebSocket, on stdio, or both."""
    from gateway.auth import load_token
    from gateway.serve import Settings
    from gateway.serve import serve as run

    _log_to_stderr()
    with exits.ending(PROGRAM):
        folder = log_location(log)
    home = folder.parent if folder.suffix == ".db" else folder
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    host, port = _address(listen) if listen or not stdio else ("127.0.0.1", None)
    settings = Settings(
        log=folder,
        agents=dict(_agent(text) for text in agent or []),
        token=load_token(home),
        host=host,
        port=port,
        stdio=stdio,
        allowed_origins=allow_origin or (),
        allowed_hosts=allow_host or (),
    )

    def ready(address: Address | None) -> None:
        if address:
            _tell(f"listening on {address.url} (token: {home / 'token'} or HERMES_GATEWAY_TOKEN)")
        if not settings.agents:
            _tell("no agent: give --agent NAME=COMMAND to host one")

    _run(run, settings, ready)


@app.command(
    "import",
    epilog="Examples: hermes-gateway import capture.jsonl  |  hermes-gateway import *.jsonl",
)
def import_(
    files: Annotated[list[Path], typer.Argument(help="Captures or cassettes.")],
    log: LogOption = None,
    into: Annotated[
        str | None, typer.Option(help="Append to this session instead of making new ones.")
    ] = None,
) -> None:
    """Turn captures and cassettes into sessions, and print their ids. Twice changes nothing."""
    from gateway.importing import import_files

    with exits.ending(PROGRAM):
        target: SessionId | None = valid_session_id(into) if into is not None else None
        where = log_location(log)
    refused = _run(import_files, files, where, target, typer.echo, _tell)
    raise typer.Exit(exits.DAMAGED if refused else exits.OK)


@app.command(
    epilog="Example: hermes-gateway serve --agent a='hermes-gateway play session.jsonl --as acp'"
)
def play(
    file: Annotated[Path, typer.Argument(help="A capture of an ACP agent.")],
    as_: Annotated[str, typer.Option("--as", help="What to be: acp.")] = "acp",
    speed: Annotated[
        float | None, typer.Option(help="1 plays as fast as it was recorded; else at once.")
    ] = None,
    gap_ms: Annotated[float, typer.Option(help="Milliseconds to wait before each update.")] = 0,
) -> None:
    """Behave as a recorded agent, on stdio."""
    from gateway.player import play_acp
    from gateway.transports import stdio

    if as_ != "acp":
        _fail(f"--as {as_}: only acp can be played", exits.USAGE)

    async def run() -> None:
        async with stdio() as line:
            await play_acp(_bytes(file), line, speed=speed, gap=gap_ms / 1000)

    _run(run)


@app.command(epilog="Example: hermes-gateway demo")
def demo() -> None:
    """Record an agent, lose the client, kill the gateway, and prove that nothing is lost."""
    from gateway.demo import demo as run

    _run(run, typer.echo)


def main() -> None:
    """Run the command line."""
    app()


def _run(run: Callable[..., Awaitable[Result]], *arguments: object) -> Result:
    """Run a coroutine function, and say in one line what went wrong."""
    try:
        with exits.ending(PROGRAM):
            try:
                return anyio.run(run, *arguments)
            except BaseExceptionGroup as errors:
                raise _first(errors) from errors
    except (GatewayError, OSError, TimeoutError) as error:
        _fail(str(error) or "it took too long", exits.FOUND)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _agent(text: str) -> tuple[str, AgentSpec]:
    name, equals, command = text.partition("=")
    argv = tuple(split(command))
    if not (name and equals and argv):
        _fail(f"--agent {text!r}: write NAME=COMMAND, as in claude='npx claude-agent'", exits.USAGE)
    return name, AgentSpec(name, argv)


def _address(listen: str | None) -> tuple[str, int]:
    host, colon, port = (listen or "127.0.0.1:8765").rpartition(":")
    if not (colon and port.isdigit() and int(port) < 65536):
        _fail(f"--listen {listen!r}: write HOST:PORT, as in 127.0.0.1:8765", exits.USAGE)
    return host.strip("[]") or "127.0.0.1", int(port)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        _fail(f"{file}: {error.strerror}", exits.NOT_FOUND)


def _log_to_stderr() -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )


def _tell(text: str) -> None:
    typer.echo(text, err=True)


def _fail(text: str, code: int) -> NoReturn:
    _tell(f"{PROGRAM}: {text}")
    raise typer.Exit(code)
