"""A process whose server is of no use any more goes to another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from eventlog import Event, SessionId
from eventlog.jetstream import JetStreamStore
from tests.nats.cluster import Cluster, Node, servers

pytestmark = [pytest.mark.anyio, pytest.mark.cluster]

SESSION = SessionId("s")


def cut(cluster: Cluster, node: Node) -> None:
    cluster.cut(node)


def pause(_: Cluster, node: Node) -> None:
    node.pause()


@pytest.mark.parametrize("broken", [cut, pause])
async def test_another_server_is_found(
    tmp_path: Path, broken: Callable[[Cluster, Node], None]
) -> None:
    """Cut off from the others, or stopped with its connections open: both are left in time."""
    async with (
        servers(tmp_path, nodes=3) as cluster,
        JetStreamStore.open(f"{cluster.url}/log?deadline=30") as log,
    ):
        await log.append(SESSION, [Event.of("x")])
        url = log._link._client.connected_url
        assert url
        (node,) = (one for one in cluster.nodes if one.client == url.port)
        broken(cluster, node)
        with anyio.fail_after(30):
            assert await log.append(SESSION, [Event.of("y")]) == (2, 2)
            assert (await log.read(SESSION)).head == 2
        now = log._link._client.connected_url
        assert now
        assert now.port != url.port
