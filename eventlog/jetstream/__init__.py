"""The scale-out adapter: the log as a stream on NATS servers (extra `nats`).

Above this package: `location`, which opens it when a URL asks for it. Below it: nats-py.
"""

from eventlog.jetstream.reader import JetStreamReader
from eventlog.jetstream.store import JetStreamStore

__all__ = ["JetStreamReader", "JetStreamStore"]
