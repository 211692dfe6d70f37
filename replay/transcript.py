"""What a session looks like to a person, as a value: turns, and entries in their order.

Above this module: the fold that makes it, the renderers that show it. Below it: `entries`.

Equal logs give equal transcripts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from replay.entries import AnyEntry
from replay.pieces import Excerpt, Json

FOLD_VERSION: Final = 3
"""Changes when the same events begin to give another transcript (P-26)."""

Outcome = Literal[
    "open",
    "complete",
    "interrupted",
    "error",
    "refusal",
    "max_tokens",
    "max_turn_requests",
    "settled",
]
"""How a turn ended; `settled` means by a sign of idleness only, a later real end replaces it."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One prompt (or several queued ones) and all that came of it. *t0* and *t1* in µs."""

    n: int
    started: int
    """seq of the first record."""
    ended: int | None = None
    t0: int
    t1: int
    outcome: Outcome = "open"
    reason: str | None = None
    usage: dict[str, Json] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    """Ids of the user entries that this turn answers."""
    replayed: bool = False
    """The agent told it again from its own history (`acp.replay`)."""


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """A terminal that tools refer to by id. *output* is decoded as it came.

    Bytes that are no UTF-8 are lone surrogates U+DC80 to U+DCFF, as Python's `surrogateescape`
    has them, so that nothing is lost.
    """

    id: str
    output: str = ""
    """All of it, or its first 4 KiB if it is over 64 KiB: then *size* and *tail* are there."""
    tail: str | None = None
    size: int | None = None
    sha256: str | None = None
    """Of an output that came as one text; None if it came in chunks."""
    pending: str = ""
    """Base64 of the bytes of a character that has not arrived whole."""
    command: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    truncated: bool = False
    closed: bool = False

    @property
    def shown(self) -> Excerpt:
        """Return the output as a tool's strings are kept: whole, or its ends."""
        return Excerpt(text=self.output, tail=self.tail, size=self.size, sha256=self.sha256)


@dataclass(frozen=True, kw_only=True)
class Info:
    """What is known of the agent and where it works."""

    agent: str | None = None
    agent_version: str | None = None
    source: str | None = None
    """`hosted`, `wrapped` or `imported`."""
    name: str | None = None
    protocol: str | None = None
    model: str | None = None
    provider: str | None = None
    cwd: str | None = None
    branch: str | None = None
    parent: str | None = None
    quirks: tuple[str, ...] = ()

    @property
    def speaks_v2(self) -> bool:
        """Tell whether the agent speaks ACP 2, where null clears and the first update creates."""
        return self.protocol is not None and self.protocol.partition(".")[0] == "2"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Something a reader of the log may want to know; never part of the digest."""

    seq: int
    problem: str
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A session at one sequence number, and all that a fold needs to go on from there (F-L2)."""

    session: str = ""
    seq: int = 0
    """The last record folded."""
    t0: int = 0
    t1: int = 0
    info: Info = field(default_factory=Info)
    title: str | None = None
    mode: str | None = None
    config: dict[str, Json] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    usage: dict[str, Json] = field(default_factory=dict)
    status: Literal["idle", "running", "waiting", "closed"] = "idle"
    turns: tuple[Turn, ...] = ()
    entries: tuple[AnyEntry, ...] = field(default=(), repr=False)
    """Not in its repr: event loops make one of every task's result, and drop it."""
    terminals: tuple[Terminal, ...] = field(default=(), repr=False)
    ephemeral: dict[str, int] = field(default_factory=dict)
    """How many records of each type are not shown."""
    state: dict[str, Json] = field(default_factory=dict)
    """What only the fold itself needs: the open tail, queued prompts, known kinds of tools."""
    diag: tuple[Diagnosis, ...] = ()


EMPTY = Transcript()
"""The transcript of a session in which nothing has happened."""
