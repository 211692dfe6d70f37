"""What a session's list entry needs, and where the session begins: it travels with every batch.

Above this module: `session`, `writer`, `pruning`, `catalogue`. Below it: `codec`.

A row stands in a header of the session's last message, so it changes with the events or not at
all, and the list of sessions is read from the last messages alone. What is too large for a header,
a long title or what an agent said of itself, is stored beforehand under the hash of its content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from eventlog import codec

LONGEST: Final = 1_024
"""Bytes of a header that every batch carries."""


class Left(NamedTuple):
    """Where the state is that pruning left, and how to know it."""

    seq: int
    version: int
    crc: int
    pieces: int


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a session beside its events."""

    created: int = 0
    title: str | None = None
    opened: Mapping[str, Any] = field(default_factory=dict)
    floor: int = 0
    base: Left | None = None
    apart: str = ""
    """The hash of title and opening where these are stored apart; they may not be here yet."""

    def named(self, title: str | None, opened: Mapping[str, Any]) -> Row:
        """Return the row with another title and opening, which are stored apart if need be."""
        small = replace(self, title=title, opened=opened, apart="")
        if len(small.header()) <= LONGEST:
            return small
        return replace(small, apart=hashlib.sha256(small.details()).hexdigest()[:32])

    def header(self) -> str:
        """Return it as a header has it: one line of ASCII."""
        found: dict[str, Any] = {"created": self.created}
        if self.apart:
            found["apart"] = self.apart
        else:
            found |= {"title": self.title, "opened": self.opened}
        if self.floor:
            found |= {"floor": self.floor, "base": self.base}
        return json.dumps(found, separators=(",", ":"))

    def details(self) -> bytes:
        """Return what is stored apart."""
        return codec.dumps({"title": self.title, "opened": self.opened})

    def with_details(self, body: bytes) -> Row:
        """Return the row with what was stored apart."""
        found = codec.loads(body)
        return replace(self, title=found["title"], opened=found["opened"])

    @classmethod
    def of(cls, header: str) -> Row:
        """Read a header; what is stored apart is not in it.

        Raises:
            Malformed, KeyError: it is none.

        """
        found = codec.loads(header.encode())
        base = found.get("base")
        return cls(
            found["created"],
            found.get("title"),
            found.get("opened", {}),
            found.get("floor", 0),
            Left(*base) if base else None,
            found.get("apart", ""),
        )
