"""Others that keep events durably, each at its durable level, called as its users call it.

Above this module: `appending`, `catching_up`. Below it: their clients, and their servers, which
are started on loopback in a folder of their own and stopped again.
"""

from bench.peers.eventsourcing import eventsourcing
from bench.peers.jetstream import jetstream
from bench.peers.postgres import postgres
from bench.peers.redis import redis
from bench.peers.server import Absent, Opener, Peer

PEERS: dict[str, Opener] = {
    "Redis, appendfsync always": redis,
    "PostgreSQL 15, asyncpg": postgres,
    "JetStream, sync_interval always": jetstream,
    "eventsourcing, SQLite": eventsourcing,
}

__all__ = ["PEERS", "Absent", "Opener", "Peer"]
