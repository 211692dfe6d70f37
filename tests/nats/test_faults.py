"""Servers fail in every way while many clients write and read: nothing acknowledged is lost.

Each test lets clients work over three connections, one to each server, breaks something, waits
until the work goes on without it, mends it, waits again, and then compares all that the clients
were told with what the log holds: no gap, nothing twice, no reorder, and per session an order
that agrees with the clock. A call that ends neither well nor badly within its deadline fails it.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from eventlog import Log, open_log
from tests.nats.cluster import Cluster, Node, prepared
from tests.nats.work import Work, working

pytestmark = [pytest.mark.anyio, pytest.mark.cluster, pytest.mark.timeout(240)]

DEADLINE = 5
"""Seconds that the log gives what it asks of the servers."""

MARGIN = 6
"""Seconds beyond it in which what a client does has to have ended: two calls, and a bit."""

STREAM = "hermes"

SIZE = 64 << 20
"""Bytes of a small disk."""


def on_a_small_disk(folder: str) -> tuple[str, ...]:
    """Return what runs a command, in its own process, that sees a small empty disk at *folder*."""
    mount = f'mount -t tmpfs -o size={SIZE} tmpfs {folder} && exec "$0" "$@"'
    return ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount)


def may_mount() -> bool:
    command = (*on_a_small_disk("/mnt"), "true")
    return not subprocess.run(command, check=False, capture_output=True).returncode


@dataclass
class Trial:
    """Servers, and clients at work on them."""

    cluster: Cluster
    work: Work

    async def goes_on(self) -> None:
        await self.work.more(40)


@asynccontextmanager
async def trial(folder: Path, *, seed: int = 0, small: bool = False) -> AsyncGenerator[Trial, None]:
    """Let clients work, and check at the end what came of it.

    With *small* disks each server's files are on one of its own, in memory.
    """
    async with prepared(folder, nodes=3) as cluster:
        for node in cluster.nodes if small else ():
            node.store.mkdir()
            node.wrapped_in = on_a_small_disk(str(node.store))
        await cluster.start()
        async with AsyncExitStack() as opened:
            logs: list[Log] = []
            for node in cluster.nodes:  # each begins at another server, and knows them all
                first = [node.server, *(one for one in cluster.servers if one != node.server)]
                url = f"nats://{','.join(first)}/{STREAM}?deadline={DEADLINE}&lease=4"
                logs.append(await opened.enter_async_context(open_log(url)))
            async with working(logs, deadline=DEADLINE + MARGIN, seed=seed) as work:
                await work.more(60)
                yield Trial(cluster, work)
        print(  # noqa: T201 - seen with -s
            f"{work.acknowledged} appends acknowledged, {work.errors} calls failed"
            f" {dict(work.reasons)}, the longest took {work.longest:.1f} s"
        )
        await cluster.start()
        async with open_log(f"{cluster.url}/{STREAM}") as log:
            await work.check(log)


async def test_the_leader_is_killed(tmp_path: Path) -> None:
    """S-8: SIGKILL of the server that leads the log: the others go on, and it comes back."""
    async with trial(tmp_path) as it:
        leader = await it.cluster.leader(STREAM)
        await leader.kill()
        await it.goes_on()
        await leader.start()
        await it.goes_on()


async def test_the_leader_is_paused(tmp_path: Path) -> None:
    """A leader that stops and wakes up as if nothing had been has nothing of its own to say."""
    async with trial(tmp_path) as it:
        leader = await it.cluster.leader(STREAM)
        leader.pause()
        await it.goes_on()
        leader.resume()
        await it.cluster.settled()
        await it.goes_on()


async def test_the_leader_is_cut_off(tmp_path: Path) -> None:
    """A leader that reaches no other acknowledges nothing; who asks it is told so in time."""
    async with trial(tmp_path) as it:
        leader = await it.cluster.leader(STREAM)
        it.cluster.cut(leader)
        await it.goes_on()
        it.cluster.heal(leader)
        await it.cluster.settled()
        await it.goes_on()


async def test_all_servers_are_killed_at_once(tmp_path: Path) -> None:
    """S-8: all die in the middle of writes, and have all that was acknowledged when they return."""
    async with trial(tmp_path) as it:
        for node in it.cluster.nodes:
            await node.kill()
        await it.work.failed(6)
        await it.cluster.start()
        await it.goes_on()


async def test_two_of_three_are_gone(tmp_path: Path) -> None:
    """One server alone serves no writes: each is an error in time, and later all goes on."""
    async with trial(tmp_path) as it:
        first, second, _ = it.cluster.nodes
        await first.kill()
        await second.kill()
        await it.work.failed(12)
        await it.cluster.start()
        await it.goes_on()


@pytest.mark.skipif(not may_mount(), reason="no right to mount a disk of its own")
async def test_the_disk_of_the_leader_is_full(tmp_path: Path) -> None:
    """S-9: the server that leads has no room: the others go on, and it comes back on a new disk."""
    async with trial(tmp_path, small=True) as it:
        leader = await it.cluster.leader(STREAM)
        fill(leader)
        await it.goes_on()
        assert "no space left on device" in leader.log
        await leader.kill()
        leader.wrapped_in = ()  # the larger disk is empty
        await leader.start()
        await it.cluster.settled()
        await it.goes_on()


def fill(node: Node) -> None:
    """Write to a server's disk until it is full."""
    assert node.process
    place = Path(f"/proc/{node.process.pid}/root{node.store}")
    with suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


@pytest.mark.parametrize("role", ["leader", "follower"])
async def test_the_files_of_one_server_are_damaged(tmp_path: Path, role: str) -> None:
    """S-6: bytes flip in what one server has stored: nobody is told anything wrong, and nothing
    that the others have is lost.
    """
    async with trial(tmp_path) as it:
        await it.work.more(60)
        node = await (it.cluster.leader if role == "leader" else it.cluster.follower)(STREAM)
        await node.kill()
        assert damage(node) > 0
        await it.goes_on()
        await node.start()
        await it.goes_on()
        for other in it.cluster.nodes:  # the others' turn to be away: can it be relied on?
            if other is not node:
                await it.cluster.settled()
                await other.kill()
                await it.goes_on()
                await other.start()


def damage(node: Node) -> int:
    """Flip a bit every few hundred bytes in the blocks of messages of the log; return how many."""
    count = 0
    for block in node.store.glob(f"jetstream/$G/streams/{STREAM}/msgs/*.blk"):
        content = bytearray(block.read_bytes())
        for place in range(100, len(content), 997):
            content[place] ^= 0x10
            count += 1
        block.write_bytes(content)
    return count
