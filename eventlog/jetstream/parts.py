"""What a log on servers consists of while it is open.

Above this module: `reader`, `store`, `pruning`. Below it: the modules that it puts together.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

from eventlog.address import LogAddress
from eventlog.jetstream.barrier import Barrier
from eventlog.jetstream.contents import Contents
from eventlog.jetstream.link import Link
from eventlog.jetstream.look import Looks
from eventlog.jetstream.pieces import Pieces
from eventlog.jetstream.scanning import Scanner
from eventlog.jetstream.settings import Found, examined
from eventlog.jetstream.subjects import Subjects


class Parts(NamedTuple):
    """What a log that is open consists of."""

    link: Link
    found: Found
    looks: Looks
    pieces: Pieces
    contents: Contents
    scanner: Scanner
    subjects: Subjects

    @classmethod
    def of(cls, link: Link, found: Found) -> Parts:
        """Put them together."""
        looks = Looks(link, Barrier(link, copies=found.replicas), copies=found.replicas)
        pieces, subjects = Pieces(link, looks), Subjects(link.stream)
        contents = Contents(looks, pieces, subjects)
        scanner = Scanner(link, looks, pieces, lags=found.replicas > 1)
        link.again.append(looks.wake_all)
        return cls(link, found, looks, pieces, contents, scanner, subjects)


@asynccontextmanager
async def connected(where: LogAddress, *, make: bool) -> AsyncGenerator[Parts, None]:
    """Connect to a log, which is made if need be."""
    async with Link.open(where) as link:
        found = await examined(link, make=make)
        parts = Parts.of(link, found)
        if make:
            await parts.pieces.ensure(parts.subjects.meta)
        yield parts
