"""What the servers of the tests are told: the files of docs/nats, with free ports.

Above this module: `cluster`. Below it: the files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

FILES: Final = Path(__file__).parents[2] / "docs" / "nats"

ACCOUNTS: Final = re.compile(r"^# Who may use it.*", re.DOTALL | re.MULTILINE)
"""The last part of a file; here on loopback anyone may."""

CLUSTER: Final = """\
cluster {
  # One connection a pair: those of a pool come and go while all servers start at the same time.
  pool_size: -1
  no_advertise: true
"""

TIED: Final = """\
  # Only for these tests: no way around the links that they cut.
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
    """Return a server's configuration; *routes* are the ports of its peers, itself among them.

    With *tied* it finds no other way to them.
    """
    text = (FILES / ("node.conf" if routes else "single.conf")).read_text("utf-8")
    text = ACCOUNTS.sub("", text).replace("sync_interval: always", f"sync_interval: {sync}")
    text = text.replace("cluster {\n", CLUSTER + (TIED if tied else ""))
    text = text if "$NODE" in text else f"server_name: $NODE\n{text}"
    told = {
        "NODE": place.name,
        "CLIENTS": f"127.0.0.1:{place.client}",
        "MONITOR": f"127.0.0.1:{place.monitor}",
        "PEERS": f"127.0.0.1:{place.route}",
        "STORE": str(place.store),
        **{f"PEER_{number}": f"nats://127.0.0.1:{port}" for number, port in enumerate(routes, 1)},
    }
    return re.sub(r"\$([A-Z_0-9]+)", lambda found: f'"{told[found[1]]}"', text)
