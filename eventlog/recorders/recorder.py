"""What every recorder is: frames of a conversation in, events out. No I/O, no clock.

Above this module: the importer, the gateway's agent host, `wrap`. Below it: `event`.

A recorder never asks where a frame came from or when. Live and import share it, so that a
session recorded live and one imported from a capture differ in nothing but ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from eventlog.event import Event, Seq, SessionId

Direction = Literal["in", "out"]
"""`in`: client to agent or gateway. `out`: the other way."""


class Unrecorded(StrEnum):
    """Why a frame became no event. Every reason is reviewed; there is no other way to drop one."""

    READ = "a read or its answer: it changes nothing"
    CAPABILITIES = "capabilities: kept in session.opened as far as they matter"
    PING = "a sign of life"
    COPY = "the same event sent to another connection, or sent again"
    ACCEPTED = "an answer that says no more than that the recorded call was taken"
    REFUSED = "a call that was refused and changed nothing"
    HELD = "waits for the answer that names its session, then becomes an event"
    OPENING = "part of the session.opened that the answer makes"
    WITHHELD = "holds a value that is never recorded (P-33)"
    REPLAYED = "an agent's own replay of what this log already holds: counted in acp.replay"
    RECORDED = "a prompt that whoever sends it has recorded already"
    PAIRED = "a call that is recorded with its answer, if that accepts it"
    UNLISTED = "a method not on the reviewed list of those that change a session"
    UNASKED = "an answer to a call that nobody was seen to make"
    BLANK = "an empty line between two frames"


@dataclass(slots=True)
class Slot:
    """Where an event came to stand. Who appends it writes *seq*; later events refer to it."""

    seq: Seq | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One event for one session. If *slot* is there, whoever appends it must fill it."""

    session_id: SessionId
    event: Event
    slot: Slot | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What a frame meant: entries to append, in order, or the reason why there are none."""

    entries: Sequence[Entry] = ()
    unrecorded: Unrecorded | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What whoever sends a frame knows of it beyond the frame: goes into its event's payload."""

    members: Mapping[str, Any] = field(default_factory=dict)
    """`ref`, `internal`, `by`, …"""
    cancelled: str | None = None
    """The frame answers a request that was withdrawn: record `request.cancel` with this reason."""
    prompt: Slot | None = None
    """The frame is a prompt that has been recorded already, here: it is not recorded again."""
    waited: bool = False
    """That prompt was queued: the frame starts its turn (`prompt.started`)."""
    connection: str = ""
    """Which of several connections to one gateway the frame passed on."""


class NameSession(Protocol):
    """Gives a session that the agent or gateway names for the first time its durable id."""

    def __call__(self, foreign_id: str, call: Mapping[str, Any]) -> SessionId:
        """Return the durable id; *call* is the request whose answer names it."""
        ...


class Recorder(Protocol):
    """Observes one connection (or one process's connections), frame by frame, in order."""

    def observe(self, direction: Direction, frame: bytes, note: Note | None = None) -> Observation:
        """Return what *frame* means. Never raises: what cannot be read is recorded as such."""
        ...

    def ended(self, payload: Mapping[str, Any]) -> Sequence[Entry]:
        """Return what to append when the process is gone: *payload* is `agent.exited`'s."""
        ...

    def remaining(self) -> Sequence[Entry]:
        """Return what was held back, when nothing more will be observed; nobody has ended."""
        ...
