"""What the servers of the tests are told: the files of docs/scale-out.md, with free ports.

Above this module: `cluster`. Below it: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

SERVER: Final = """\
server_name: {name}
listen: "127.0.0.1:{client}"
http: "127.0.0.1:{monitor}"
jetstream {{
  store_dir: "{store}"
  sync_interval: {sync}
}}
"""

CLUSTER: Final = """\
cluster {{
  name: log
  listen: "127.0.0.1:{route}"
  routes: [{routes}]
  no_advertise: true
{tied}}}
"""

TIED: Final = """\
  # Only for these tests: one connection a pair, and no way around the links that they cut.
  pool_size: -1
  cluster_advertise: "127.0.0.1:9"
"""


class Place(Protocol):
    """Where a server is."""

    name: str
    client: int
    monitor: int
    route: int

    @property
    def store(self) -> Path:
        """The folder of its files."""
        ...


def configuration(place: Place, *, sync: str, routes: Sequence[int], tied: bool) -> str:
    """Return a server's configuration; *routes* are the ports at which it reaches the others.

    With *tied* it finds no other way to them.
    """
    text = SERVER.format(
        name=place.name, client=place.client, monitor=place.monitor, store=place.store, sync=sync
    )
    if not routes:
        return text
    listed = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    return text + CLUSTER.format(route=place.route, routes=listed, tied=TIED if tied else "")
