"""An answer is believed from a leader that hears a majority, and from nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from eventlog.jetstream.barrier import HEARD, leads

SOON, LATE = 10_000_000, int((HEARD + 1) * 1e9)


def cluster(*active: int, leader: str = "n1") -> dict[str, Any]:
    replicas = [{"name": f"n{number}", "active": one} for number, one in enumerate(active, 2)]
    return {"leader": leader, "replicas": replicas}


@pytest.mark.parametrize(
    ("found", "believed"),
    [
        (cluster(), True),
        (cluster(SOON, SOON), True),
        (cluster(SOON, LATE), True),
        (cluster(LATE, LATE), False),
        (cluster(0, 0), False),
        (cluster(0, SOON), True),
        (cluster(SOON, SOON, leader=""), False),
        (cluster(SOON, SOON, LATE, LATE), True),
        (cluster(SOON, LATE, LATE, LATE), False),
        ({}, False),
    ],
)
def test_a_leader_hears_a_majority(found: dict[str, Any], *, believed: bool) -> None:
    """Who was paused or cut off hears nobody for a while; who only follows names no leader."""
    assert leads(found) is believed
