"""One session as the reference adapter has it.

Above this module: `memory`. Below it: `store`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from eventlog.event import Seq, SessionId, parse
from eventlog.store import Checkpoint, SessionRow


@dataclass
class Stream:
    """What a session holds."""

    lines: list[bytes] = field(default_factory=list)
    """Those beyond the floor."""
    floor: int = 0
    base: Checkpoint | None = None
    refs: dict[str, int] = field(default_factory=dict)
    """What is referred to, and by which event last."""
    kept: dict[tuple[str, int], list[Checkpoint]] = field(default_factory=dict)
    grown: anyio.Event = field(default_factory=anyio.Event)
    created: int = 0
    updated: int = 0
    order: int = 0
    title: str | None = None
    opened: Mapping[str, Any] = field(default_factory=dict)

    @property
    def head(self) -> int:
        """The number of the last event."""
        return self.floor + len(self.lines)

    def after(self, seq: int, limit: int) -> list[bytes]:
        """Return the lines that follow *seq*: of what is lost, the one that says so."""
        return [text for text in self.lines[seq - self.floor :] if text][:limit]

    def before(self, seq: int, ts: int | None) -> list[bytes]:
        """Return the lines up to *seq*, and of these all before one of *ts* or later.

        What is lost stays whole, or goes whole.
        """
        lines = self.lines[: max(seq, self.floor) - self.floor]
        if ts is not None:
            late = (n for n, text in enumerate(lines) if text and parse(text)["ts"] >= ts)
            lines = lines[: next(late, len(lines))]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def row(self, key: SessionId) -> SessionRow:
        """Return what a list shows of it."""
        return SessionRow(
            id=key,
            created=self.created,
            updated=self.updated,
            floor=Seq(self.floor),
            head=Seq(self.head),
            title=self.title,
            opened=self.opened,
        )

    def clear(self) -> None:
        """Leave nothing but the number of the last event."""
        self.floor, self.lines, self.base = self.head, [], None
        self.refs, self.kept, self.title, self.opened = {}, {}, None, {}

    def wake(self) -> None:
        """Wake everyone who waits for this session."""
        self.grown.set()
        self.grown = anyio.Event()

    @property
    def known(self) -> bool:
        """Whether anything is there, or was there and left a base."""
        return bool(self.lines) or self.base is not None
