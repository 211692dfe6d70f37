"""PostgreSQL, a row an event, every commit synced.

Above this module: `bench.peers`. Below it: initdb and postgres as an ordinary user, asyncpg.
"""

from __future__ import annotations

import os
import subprocess
from asyncio import Future, get_running_loop
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from bench.peers.server import PAYLOAD, Absent, Peer, free_port, program, served, text

PAGE = 512
_PLACES = tuple(f"/usr/lib/postgresql/{version}/bin" for version in range(18, 12, -1))
_TABLE = """create table event(session text, seq bigint generated always as identity,
    payload bytea not null, primary key(session, seq))"""


class _Postgres:
    def __init__(self, pool: Any) -> None:
        self._pool = pool

    async def append(self, session: str) -> None:
        async with self._pool.acquire() as connection:
            await connection.execute(
                "insert into event(session, payload) values ($1, $2)", session, PAYLOAD
            )

    async def append_many(self, session: str, count: int) -> None:
        await self.append_all([session] * count)

    async def append_all(self, sessions: list[str]) -> None:
        """Append one event to each of *sessions*, in one statement and one commit."""
        async with self._pool.acquire() as connection:
            await connection.execute(
                "insert into event(session, payload) select * from unnest($1::text[], $2::bytea[])",
                sessions,
                [PAYLOAD] * len(sessions),
            )

    async def read(self, session: str) -> int:
        found, after = 0, 0
        async with self._pool.acquire() as connection:
            while page := await connection.fetch(
                "select seq, payload from event where session = $1 and seq > $2"
                " order by seq limit $3",
                session,
                after,
                PAGE,
            ):
                assert text(session, page)
                found += len(page)
                after = page[-1]["seq"]
        return found


class Grouped:
    """The same group commit as ours in front of PostgreSQL: what came while it was busy."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer
        self._waiting: list[tuple[str, Future[None]]] = []
        self._arrived = anyio.Event()

    async def append(self, session: str) -> None:
        """Append one event and return when it is durable."""
        done: Future[None] = get_running_loop().create_future()
        self._waiting.append((session, done))
        self._arrived.set()
        await done

    async def run(self) -> None:
        """Commit what waits, again and again."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            taken, self._waiting = self._waiting, []
            await self._peer.append_all([session for session, _ in taken])
            for _, done in taken:
                done.set_result(None)
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncGenerator[Peer, None]:
    """Make a cluster in *folder* and start it."""
    try:
        from asyncpg import create_pool  # noqa: PLC0415 - an optional peer
    except ImportError:
        raise Absent("asyncpg is not installed") from None
    initdb, server = program("initdb", *_PLACES), program("postgres", *_PLACES)
    user = "nobody" if os.getuid() == 0 else None  # it refuses to run as root
    cluster = folder / "cluster"
    cluster.mkdir()
    if user:
        folder.chmod(0o711)
        os.chown(cluster, *_ids(user))
    subprocess.run(
        [initdb, "-D", cluster, "-U", "bench", "-A", "trust", "--no-instructions"],
        check=True,
        stdout=subprocess.DEVNULL,
        user=user,
    )
    port = free_port()
    options = ["listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={cluster}"]
    command = [server, "-D", cluster, *(part for option in options for part in ("-c", option))]
    where = {"host": "127.0.0.1", "port": port, "user": "bench", "database": "postgres"}
    async with served([str(part) for part in command], port, user):
        await _up(where)
        async with create_pool(**where, min_size=64, max_size=64) as pool:
            await pool.execute(_TABLE)
            yield _Postgres(pool)


async def _up(where: dict[str, Any]) -> None:
    """Wait until it does not say any more that it is starting up."""
    from asyncpg import CannotConnectNowError, connect  # noqa: PLC0415

    with anyio.fail_after(20):
        while True:
            try:
                connection = await connect(**where)
            except CannotConnectNowError:
                await anyio.sleep(0.05)
            else:
                await connection.close()
                return


def _ids(user: str) -> tuple[int, int]:
    import pwd  # noqa: PLC0415 - not everywhere

    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid
