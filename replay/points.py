"""Points of a session, as a person names them: an event, the end of a turn, a time.

Above this module: `part`, `selection`, `program`. Below it: `transcript`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from replay.errors import NoSuchPoint
from replay.render.figures import counted
from replay.transcript import Transcript

FORMS: Final = "neither the number of an event, nor turn:N, nor +SECONDS, nor a time in UTC"
_NUMBER: Final = re.compile(r"(turn:)?([0-9]{1,18})\Z")
_OFFSET: Final = re.compile(r"\+([0-9]{1,9}(?:\.[0-9]{1,6})?)(s|m|h)?\Z")
_UNITS: Final = {None: 1, "s": 1, "m": 60, "h": 3600}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Point:
    """One of: an event's number, a turn's, a time, a time since the first event. Times in µs."""

    text: str
    seq: int | None = None
    turn: int | None = None
    moment: int | None = None
    offset: int | None = None

    def moment_in(self, start: int) -> int | None:
        """Return the time that it means in a session that began at *start*."""
        return self.moment if self.offset is None else start + self.offset


def point_of(text: str) -> Point:
    """Return the point that *text* names: `12`, `turn:2`, `+90s`, `2026-11-30T14:02:11Z`.

    Raises:
        NoSuchPoint: it names none.

    """
    if found := _NUMBER.match(text):
        number = int(found[2])
        return Point(text, turn=number) if found[1] else Point(text, seq=number)
    if found := _OFFSET.match(text):
        return Point(text, offset=round(float(found[1]) * _UNITS[found[2]] * 1_000_000))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise NoSuchPoint(text, FORMS) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    past = moment - _EPOCH
    return Point(text, moment=(past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds)


def check_turn(transcript: Transcript, number: int, text: str) -> None:
    """Raise `NoSuchPoint` unless *transcript* has a turn of that number."""
    if not 1 <= number <= len(transcript.turns):
        turns = counted(len(transcript.turns), "turn")
        raise NoSuchPoint(text, f"{transcript.session or 'the session'} has {turns}")
