"""The parts that entries are made of: content blocks, cut strings, plan steps, questions.

Above this module: `entries`. Below it: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = Any
"""A value as JSON has it: the fold looks into it only where its tables say so."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of content that is not plain text: image, audio, resource, link, unknown."""

    type: str
    mime: str | None = None
    uri: str | None = None
    name: str | None = None
    size: int | None = None
    """Bytes of the decoded content."""
    sha256: str | None = None
    text: str | None = None
    """Text of an embedded resource, or the JSON of a block of unknown type."""


@dataclass(frozen=True, kw_only=True)
class Reaction:
    """What somebody thinks of a message, in one sign."""

    emoji: str
    author: str
    """`user` or `agent`."""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A string of a tool: whole, or, beyond 64 KiB, its ends with size (bytes) and hash."""

    text: str
    size: int | None = None
    sha256: str | None = None
    tail: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolContent:
    """One piece of a tool's content: `text`, `diff`, `terminal`, or a block."""

    type: str
    text: Excerpt | None = None
    path: str | None = None
    old: Excerpt | None = None
    """A diff's old text; None for a new file."""
    new: Excerpt | None = None
    terminal: str | None = None
    block: Block | None = None


@dataclass(frozen=True, kw_only=True)
class Location:
    """A place in a file; *line* counts from 1."""

    path: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class PlanItem:
    """A step of a plan; status and priority are kept as they came."""

    text: str
    status: str = "pending"
    priority: str | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """A choice that a question offers."""

    id: str
    label: str
    kind: str | None = None
    """ACP's `allow_once`, `allow_always`, `reject_once`, `reject_always`."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of an ask, with its answer once there is one."""

    id: str
    text: str
    options: tuple[Option, ...] = ()
    multiple: bool = False
    locked: bool = False
    answer: tuple[str, ...] = ()
    """Ids of the chosen options, or free text."""
    skipped: bool = False
