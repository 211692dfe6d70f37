"""The servers of these tests are started, faulted, healed and ended as a test says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import anyio
import nats
import pytest
from nats.js.errors import NoStreamResponseError

from tests.nats.cluster import ASKED_EVERY, READY, Cluster, Node, servers

pytestmark = pytest.mark.anyio


async def put(*nodes: Node, text: str) -> int:
    client = await nats.connect([node.url for node in nodes], connect_timeout=2)
    stream = client.jetstream(timeout=2)
    named = {"Nats-Msg-Id": text}  # what was stored although nobody heard so is not stored twice
    try:
        with anyio.fail_after(READY):
            while True:
                with suppress(NoStreamResponseError, TimeoutError):
                    return int((await stream.publish("evt.a", text.encode(), headers=named)).seq)
                await anyio.sleep(ASKED_EVERY)
    finally:
        await client.close()


async def make(cluster: Cluster, replicas: int) -> None:
    client = await nats.connect([node.url for node in cluster.nodes])
    stream = client.jetstream(timeout=5)
    try:
        with anyio.fail_after(READY):
            while (
                True
            ):  # servers that begin to work together may forget to answer; again is no other
                with suppress(NoStreamResponseError, TimeoutError):
                    await stream.add_stream(name="evt", subjects=["evt.*"], num_replicas=replicas)
                    return
    finally:
        await client.close()


async def test_one_server_keeps_its_files(tmp_path: Path) -> None:
    """A server that is killed and started again has what it had, on the same port."""
    async with servers(tmp_path) as cluster:
        (node,) = cluster.nodes
        await make(cluster, 1)
        assert await put(node, text="one") == 1
        await node.kill()
        await node.start()
        assert await put(node, text="two") == 2
        assert await cluster.leader("evt") is node


@pytest.mark.cluster
@pytest.mark.timeout(180)
async def test_three_servers_lose_their_leader(tmp_path: Path) -> None:
    """Two of three go on without the one that was killed, paused or cut off, and take it back."""
    async with servers(tmp_path, nodes=3) as cluster:
        await make(cluster, 3)
        first = await cluster.leader("evt")
        await first.kill()
        second = await cluster.leader("evt")
        assert second is not first
        assert await put(second, text="one") == 1
        await cluster.start()

        second.pause()
        third = await cluster.leader("evt")
        assert await put(third, text="two") == 2
        second.resume()
        await cluster.settled()

        leader = await cluster.leader("evt")
        others = [node for node in cluster.nodes if node is not leader]
        cluster.cut(leader)
        assert await put(*others, text="three") == 3
        cluster.heal(leader)
        await cluster.settled()
        assert await put(leader, text="four") == 4
