"""What every adapter of the log asks of what it is given.

Above this module: the adapters, and `verbatim`. Below it: `event`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eventlog import codec
from eventlog.event import Event, Seq, Span

GAP: Final = "log.gap"
"""The type of an event that stands for others, which are lost."""


def check_times(events: Sequence[Event], at: Sequence[int]) -> None:
    """Raise ValueError unless *at* holds one possible `ts` an event."""
    if len(at) != len(events):
        raise ValueError(f"{len(at)} times for {len(events)} events")
    if bad := next((ts for ts in at if not 0 <= ts < 2**63), None):
        raise ValueError(f"{bad} is no time in µs since the Unix epoch")


def numbers_lost(event: Event) -> Span | None:
    """Return the numbers in whose place *event* stands; None if it is an event like any other."""
    if event.type == GAP:
        match codec.loads(event.payload):
            case {"first": int(first), "last": int(last)} if 0 < first <= last < 2**62:
                return Span(Seq(first), Seq(last))
    return None


def check_gap(gap: Event, at: int) -> Span:
    """Return the numbers in whose place *gap* stands.

    Raises:
        ValueError: it does not say, or *at* is no time.

    """
    check_times([gap], [at])
    if (lost := numbers_lost(gap)) is None:
        raise ValueError(f"a {gap.type} that does not say which numbers are lost")
    return lost
