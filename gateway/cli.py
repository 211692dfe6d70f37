"""`hermes-gateway`: serve, attach, wrap, import, play, contracts, demo (cli.md).

Above this module: people, at a terminal. Below it: everything else in this package. What is heavy
is imported by the command that needs it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventlog import SessionId, exits, log_home, log_location, valid_session_id
from gateway.options import (
    PROGRAM,
    AllowFs,
    AllowHost,
    AllowOrigin,
    AllowTerminal,
    ListenOption,
    LogOption,
    ShareAgent,
    StartTimeout,
    StdioOption,
    StopTimeout,
    address,
    fail,
    home_of_log,
    log_to_stderr,
    run_to_end,
    tell,
)
from gateway.wrap.cli import app as wrap

if TYPE_CHECKING:
    from gateway.agent_spec import AgentSpec
    from gateway.transports import Address
    from gateway.workspace import Offers

app = typer.Typer(
    help="Host AI agents, record them, and serve clients that reconnect.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(wrap, name="wrap")

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
    listen: ListenOption = None,
    stdio: StdioOption = False,
    allow_origin: AllowOrigin = None,
    allow_host: AllowHost = None,
    share_agent: ShareAgent = None,
    start_timeout: StartTimeout = None,
    stop_timeout: StopTimeout = None,
    allow_fs: AllowFs = None,
    allow_terminal: AllowTerminal = False,
) -> None:
    """Host agents, record them, and serve clients on a WebSocket, on stdio, or both."""
    from gateway.announcement import announced
    from gateway.auth import load_token
    from gateway.serve import Settings
    from gateway.serve import serve as run
    from gateway.workspace import Offers

    log_to_stderr()
    offers = Offers(allow_fs, terminal=allow_terminal)
    agents = _agents(agent, share_agent, offers, start_timeout, stop_timeout)
    folder, home = home_of_log(log)
    host, port = address(listen) if listen or not stdio else ("127.0.0.1", None)
    settings = Settings(
        log=folder,
        agents=agents,
        token=load_token(home),
        host=host,
        port=port,
        stdio=stdio,
        allowed_origins=allow_origin or (),
        allowed_hosts=allow_host or (),
    )

    def ready(address: Address | None) -> None:
        if address:
            running.enter_context(announced(home, address.near))
            tell(f"listening on {address.url} (token: {home / 'token'} or HERMES_GATEWAY_TOKEN)")
        if not settings.agents:
            tell("no agent: give --agent NAME=COMMAND to host one")

    with ExitStack() as running:
        run_to_end(run, settings, ready)


def _agents(
    given: list[str] | None,
    shared: list[str] | None,
    offers: Offers,
    start: float | None,
    stop: float | None,
) -> dict[str, AgentSpec]:
    from gateway.agent_spec import OPENING, STOPPING, specs_of

    try:
        return specs_of(
            given or (),
            shared=shared or (),
            offers=offers,
            opening=start or OPENING,
            stopping=stop or STOPPING,
        )
    except ValueError as error:
        fail(str(error), exits.USAGE)


@app.command(
    epilog="Examples: hermes-gateway attach  |  hermes-gateway attach s-4f2a --url ws://host:8765/api/ws"
    "  |  hermes-gateway attach --agent claude"
)
def attach(
    session: Annotated[
        str | None,
        typer.Argument(help="Id, alias or beginning of an id, or `latest`. Else the newest live."),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(
            help="Where the gateway is; again for others on its log. Else the one that serves the log."
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Begin a new session with this agent.")
    ] = None,
    log: LogOption = None,
) -> None:
    """Follow a session live, send prompts, answer questions; survives the gateway's restarts."""
    from gateway.attach import attach as run

    if session is not None and agent is not None:
        fail("a session has its agent: give SESSION or --agent", exits.USAGE)
    with exits.ending(PROGRAM):
        where = log_location(log)
    run_to_end(run, session, agent, url or (), log_home(where))


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
    refused = run_to_end(import_files, files, where, target, typer.echo, tell)
    raise typer.Exit(exits.DAMAGED if refused else exits.OK)


@app.command(
    epilog="Examples: hermes-gateway serve --agent a='hermes-gateway play session.jsonl --as acp'"
    "  |  hermes-gateway wrap hermes -- hermes-gateway play hermes.jsonl --as gateway"
)
def play(
    file: Annotated[Path, typer.Argument(help="A capture of an ACP agent or a Hermes gateway.")],
    as_: Annotated[str, typer.Option("--as", help="What to be: acp or gateway.")] = "acp",
    speed: Annotated[
        float | None,
        typer.Option(help="1 plays as fast as it was recorded; else at once. Only acp."),
    ] = None,
    gap_ms: Annotated[
        float, typer.Option(help="Milliseconds to wait before each update. Only acp.")
    ] = 0,
) -> None:
    """Behave as a recorded agent or gateway, on stdio."""
    from gateway.gateway_player import play_gateway
    from gateway.player import play_acp
    from gateway.transports import stdio

    if as_ not in {"acp", "gateway"}:
        fail(f"--as {as_}: acp and gateway can be played", exits.USAGE)

    async def run() -> None:
        async with stdio() as line:
            if as_ == "gateway":
                await play_gateway(_bytes(file), line)
            else:
                await play_acp(_bytes(file), line, speed=speed, gap=gap_ms / 1000)

    run_to_end(run)


@app.command(epilog="Example: hermes-gateway contracts typescript > gateway.d.ts")
def contracts(
    form: Annotated[str, typer.Argument(metavar="openrpc|typescript", help="In which form.")],
) -> None:
    """Print the wire's shapes: every method, question and notification."""
    from gateway.contracts.openrpc import text
    from gateway.contracts.typescript import declarations

    if form not in ("openrpc", "typescript"):
        fail(f"contracts {form}: openrpc or typescript", exits.USAGE)
    typer.echo(text() if form == "openrpc" else declarations(), nl=False)


@app.command(epilog="Example: hermes-gateway demo")
def demo() -> None:
    """Record an agent, lose the client, kill the gateway, and prove that nothing is lost."""
    from gateway.demo import demo as run

    run_to_end(run, typer.echo)


def main() -> None:
    """Run the command line."""
    app()


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        fail(f"{file}: {error.strerror}", exits.NOT_FOUND)
