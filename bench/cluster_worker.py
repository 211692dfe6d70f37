"""A process that writes sessions of its own into a log on servers, when it is told to.

Above this module: `jetstream`. Below it: the log.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio

from eventlog import Event, Log, SessionId, open_log

BURST = 64
EVENT = Event.of("message.delta", {"text": "x" * 240})


async def bursts(log: Log, sessions: Sequence[SessionId], rounds: int, size: int = BURST) -> None:
    """Let every session write *rounds* bursts, each when its last one is durable."""

    async def session(name: SessionId) -> None:
        for _ in range(rounds):
            await log.append(name, [EVENT] * size)

    async with anyio.create_task_group() as tasks:
        for name in sessions:
            tasks.start_soon(session, name)


async def main(where: str, rounds: int, names: list[SessionId]) -> None:
    """Hold the sessions, say so, wait for a line, write, say so."""
    async with open_log(where) as log:
        for name in names:
            await log.leases.acquire(name)
        print("ready", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)
        await bursts(log, names, rounds)
        print("done", flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]), [SessionId(name) for name in sys.argv[3:]])
