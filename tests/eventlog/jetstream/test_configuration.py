"""The configuration files of docs/scale-out.md do what it says of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from eventlog import Event, LogUnavailable, SessionId, seq_of
from eventlog.jetstream import JetStreamReader, JetStreamStore
from tests.nats.cluster import Cluster, Node
from tests.nats.links import free_port

pytestmark = pytest.mark.anyio

FILES = Path(__file__).parents[3] / "docs" / "nats"
SESSION = SessionId("s")


@asynccontextmanager
async def running(folder: Path, file: str, count: int) -> AsyncGenerator[Cluster, None]:
    """Run servers with a configuration file of the documents, told by their environment."""
    nodes = [
        Node(f"n{number + 1}", folder / str(number), free_port(), free_port(), free_port())
        for number in range(count)
    ]
    peers = [f"PEER_{number}=nats://127.0.0.1:{node.route}" for number, node in enumerate(nodes, 1)]
    for node in nodes:
        node.folder.mkdir()
        (node.folder / "nats.conf").write_text((FILES / file).read_text())
        node.wrapped_in = (
            "env",
            f"NODE={node.name}",
            f"CLIENTS={node.server}",
            f"MONITOR=127.0.0.1:{node.monitor}",
            f"PEERS=127.0.0.1:{node.route}",
            f"STORE={node.store}",
            "PASSWORD=hush",
            *peers,
        )
    cluster = Cluster(nodes)
    try:
        await cluster.start()
        yield cluster
    finally:
        for node in nodes:
            await node.kill()


async def test_one_server(tmp_path: Path) -> None:
    """It syncs always, and keeps a log whose URL says that one copy is enough."""
    async with running(tmp_path, "single.conf", 1) as cluster:
        async with JetStreamStore.open(f"{cluster.url}/log?replicas=1") as log:
            await log.append(SESSION, [Event.of("x")])
        told = await cluster.nodes[0].ask("/jsz?config=true")
        assert told
        assert told["config"]["sync_always"] is True
        await cluster.nodes[0].kill()
        await cluster.nodes[0].start()
        async with JetStreamReader.open(f"{cluster.url}/log?replicas=1") as reader:
            assert (await reader.read(SESSION)).head == 1


@pytest.mark.cluster
async def test_three_servers(tmp_path: Path) -> None:
    """They sync always, know their user, keep three copies, and serve with one of them gone."""
    async with running(tmp_path, "node.conf", 3) as cluster:
        for node in cluster.nodes:
            told = await node.ask("/jsz?config=true")
            assert told
            assert told["config"]["sync_always"] is True
        with pytest.raises(LogUnavailable, match="do not accept this user"):
            async with JetStreamStore.open(f"{cluster.url}/log"):
                pass
        url = f"nats://hermes:hush@{','.join(cluster.servers)}/log"
        async with JetStreamStore.open(url) as log:
            await log.append(SESSION, [Event.of("x")])
            await (await cluster.leader("log")).kill()
            await log.append(SESSION, [Event.of("y")])
            assert [seq_of(text) for text in (await log.read(SESSION)).lines] == [1, 2]
