"""A part of a session, made line by line: folded up to a point, with what was asked for of it.

Above this module: `program`. Below it: `points`, `selection`, the fold.

The state at a point is the fold of the lines before it, nothing else (R169).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eventlog import Envelope, SessionId, parse
from replay.entries import AnyEntry, System, Unknown
from replay.fold import Fold
from replay.fold.older import NOTHING, Older
from replay.points import Point, check_turn
from replay.render.clean import clean_line
from replay.selection import EVERYTHING, Selection, select, span_of
from replay.transcript import Transcript

_SHORT: Final = 120
"""Characters of a payload that is only to be recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What of a session is wanted."""

    until: Point | None = None
    wanted: Selection = EVERYTHING
    counted: bool = False
    """Records that are only counted are shown, too, as lines."""
    records: bool = False
    """Every record is shown as itself, in place of what a person sees."""
    lines: bool = False
    """The log's own lines are wanted."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A part of a session: what it says, its lines if wanted, how many entries are left out."""

    transcript: Transcript
    lines: list[bytes] = field(default_factory=list, repr=False)
    omitted: int = 0
    cut: bool = False
    """There is more behind it."""
    told: bool = True
    """It says something by itself, without what is only counted."""


class Taking:
    """Takes a part of a session, whose lines come one by one."""

    def __init__(
        self,
        session: str,
        part: Part,
        *,
        until: int | None = None,
        begin: Transcript | None = None,
        older: Older = NOTHING,
    ) -> None:
        self.session: Final = SessionId(session)
        self._part = part
        self._until = until if part.until is None or until is not None else part.until.seq
        self._fold = Fold(begin or Transcript(session=session), older)
        self._lines: list[bytes] = []
        self._beside: list[AnyEntry] = []
        self._start: int | None = begin.t0 if begin and begin.seq else None
        self._cut = False

    @property
    def seq(self) -> int:
        """The last record taken."""
        return self._fold.seq

    def add(self, line: bytes) -> bool:
        """Take a line; tell whether more are wanted."""
        envelope = parse(line)
        self._start = envelope["ts"] if self._start is None else self._start
        if self._is_beyond(envelope, self._start):
            self._cut = True
            return False
        if self._part.lines:
            self._lines.append(line)
        if self._part.records:
            self._beside.append(_record(envelope))
        before = self._fold.counted if self._part.counted else 0
        self._fold.apply(envelope)
        if self._part.counted and self._fold.counted > before:
            self._beside.append(_counted(envelope))
        return True

    def taken(self) -> Taken:
        """Return what was wanted of the lines so far.

        Raises:
            NoSuchPoint: the session has no such turn.

        """
        whole = self._fold.transcript()
        told = bool(whole.entries)
        if self._part.records:
            return self._recorded(whole, told=told)
        if self._part.counted:
            whole = _with(whole, self._beside)
        shown, omitted = select(whole, self._part.wanted)
        return Taken(shown, self._span(whole), omitted, self._cut, told)

    def _is_beyond(self, envelope: Envelope, start: int) -> bool:
        if self._until is not None:
            return envelope["seq"] > self._until
        moment = self._part.until.moment_in(start) if self._part.until else None
        return moment is not None and envelope["ts"] > moment

    def _span(self, whole: Transcript) -> list[bytes]:
        if not self._lines or self._part.wanted == EVERYTHING:
            return self._lines
        first, last = span_of(whole, self._part.wanted)
        begin = parse(self._lines[0])["seq"]
        return self._lines[
            max(0, first - begin) : None if last is None else max(0, last + 1 - begin)
        ]

    def _recorded(self, whole: Transcript, *, told: bool) -> Taken:
        first, last = span_of(whole, self._part.wanted)
        shown = [
            entry
            for entry in self._beside
            if first <= entry.first <= (entry.first if last is None else last)
        ]
        listed = _with(replace(whole, entries=(), state={}), shown)
        return Taken(listed, self._lines, cut=self._cut, told=told)


def take(
    session: str, lines: Iterable[bytes], part: Part, *, begin: Transcript | None = None
) -> Taken:
    """Return the part that is wanted of a session of these *lines*, which come after *begin*.

    Raises:
        NoSuchPoint: it has no such turn.

    """
    until = None
    if part.until is not None and part.until.turn is not None:
        kept = list(lines)
        lines = kept
        until = end_of_turn(_whole(session, kept, begin), part.until)
    taking = Taking(session, part, until=until, begin=begin)
    for line in lines:
        if not taking.add(line):
            break
    return taking.taken()


def end_of_turn(whole: Transcript, point: Point) -> int | None:
    """Return the number of the last event of a turn; None if no turn follows it.

    Raises:
        NoSuchPoint: the session has no such turn.

    """
    number = point.turn or 0
    check_turn(whole, number, point.text)
    return None if number == len(whole.turns) else whole.turns[number].started - 1


def _whole(session: str, lines: Iterable[bytes], begin: Transcript | None) -> Transcript:
    taking = Taking(session, Part(), begin=begin)
    for line in lines:
        taking.add(line)
    return taking.taken().transcript


def _record(envelope: Envelope) -> Unknown:
    return Unknown(type=envelope["type"], payload=envelope["payload"], **_where(envelope))


def _counted(envelope: Envelope) -> System:
    payload = envelope["payload"]
    update: Any = payload.get("update")
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    return System(
        tag=kind if isinstance(kind, str) else envelope["type"],
        text=clean_line(_short(payload)),
        **_where(envelope),
    )


def _where(envelope: Envelope) -> dict[str, Any]:
    seq, ts = envelope["seq"], envelope["ts"]
    return {"id": f"e{seq}.0", "first": seq, "last": seq, "t0": ts, "t1": ts}


def _short(payload: dict[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _with(whole: Transcript, beside: list[AnyEntry]) -> Transcript:
    """Return *whole* with what is only counted in its places, and counted no more."""
    turns = iter([*whole.turns])
    turn = next(turns, None)
    number: int | None = None
    placed = []
    for entry in beside:
        while turn is not None and turn.started <= entry.first:
            number, turn = turn.n, next(turns, None)
        placed.append(replace(entry, turn=number))
    entries = sorted([*whole.entries, *placed], key=lambda entry: entry.first)
    return replace(whole, entries=tuple(entries), ephemeral={})
