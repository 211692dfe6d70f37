"""Which entries of a transcript are wanted: turns, kinds, tools, statuses.

Above this module: `part`, `program`. Below it: `points`, `entries`, the table of display verbs.

A selection makes a smaller transcript, so that every format shows the same; what it leaves out is
counted, and told in the foot (render.md, rule 7).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, get_args

from replay.entries import AnyEntry, Ask, Error, Subagent, Tool
from replay.errors import WrongName
from replay.fold.naming import canonical
from replay.points import Point, check_turn
from replay.render.verbs import verb_of
from replay.transcript import Transcript

KINDS: Final = frozenset(kind.kind for kind in get_args(AnyEntry))
"""The kinds of entries."""

_GROUPS: Final = {
    "open": frozenset({"pending", "waiting", "in_progress", "queued", "running", "open"}),
    "failed": frozenset({"failed", "error"}),
    "stopped": frozenset(
        {"rejected", "cancelled", "aborted", "unresolved", "interrupted", "withdrawn", "expired"}
    ),
}
"""Words that stand for several statuses; any other word is one status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is wanted; what says nothing wants everything."""

    begin: Point | None = None
    turn: int | None = None
    """A turn by its number, from the end if negative."""
    last: int | None = None
    """That many turns, from the end."""
    only: frozenset[str] | None = None
    hide: frozenset[str] = frozenset()
    tool: str | None = None
    status: str | None = None

    @property
    def by_entry(self) -> bool:
        """Whether it wants some of the entries of a turn, and not others."""
        return bool(self.only is not None or self.hide or self.tool or self.status)


EVERYTHING: Final = Selection()


def kinds_of(text: str) -> frozenset[str]:
    """Return the kinds that *text* lists, with commas between them.

    Raises:
        WrongName: there is no such kind.

    """
    named = [name.strip().lower() for name in text.split(",") if name.strip()]
    kinds = {name if name in KINDS else name.removesuffix("s") for name in named}
    if wrong := sorted(kinds - KINDS):
        raise WrongName(wrong[0], f"is no kind of entry; there are {', '.join(sorted(KINDS))}")
    return frozenset(kinds)


def span_of(transcript: Transcript, wanted: Selection) -> tuple[int, int | None]:
    """Return the first and last number of what is wanted; None is the end.

    Raises:
        NoSuchPoint: the session has no such turn.

    """
    first, last = _turns(transcript, wanted)
    begin, end = 1, None
    if first is not None:
        begin = transcript.turns[first - 1].started
    if last is not None and last < len(transcript.turns):
        end = transcript.turns[last].started - 1
    if wanted.begin is not None and wanted.begin.seq is not None:
        begin = max(begin, wanted.begin.seq)
    return begin, end


def select(transcript: Transcript, wanted: Selection) -> tuple[Transcript, int]:
    """Return the part of *transcript* that is wanted, and how many entries are left out.

    Raises:
        NoSuchPoint: the session has no such turn.

    """
    if wanted == EVERYTHING:
        return transcript, 0
    within = [entry for entry in transcript.entries if _is_within(entry, transcript, wanted)]
    kept = _chosen(within, wanted) if wanted.by_entry else within
    first, last = _turns(transcript, wanted)
    turns = [turn for turn in transcript.turns if (first or 1) <= turn.n <= (last or turn.n)]
    if wanted.by_entry or wanted.begin is not None:
        told = {entry.turn for entry in kept}
        turns = [turn for turn in turns if turn.n in told]
    left = replace(transcript, entries=tuple(kept), turns=tuple(turns), state={})
    return left, len(within) - len(kept)


def _turns(transcript: Transcript, wanted: Selection) -> tuple[int | None, int | None]:
    """Return the first and last turn that are wanted; None where nothing was said."""
    count = len(transcript.turns)
    if wanted.turn is not None:
        number = wanted.turn if wanted.turn > 0 else count + 1 + wanted.turn
        check_turn(transcript, number, f"turn {wanted.turn}")
        return number, number
    if wanted.last is not None:
        return max(1, count - wanted.last + 1) if count else None, None
    if wanted.begin is not None and wanted.begin.turn is not None:
        check_turn(transcript, wanted.begin.turn, wanted.begin.text)
        return wanted.begin.turn, None
    return None, None


def _is_within(entry: AnyEntry, transcript: Transcript, wanted: Selection) -> bool:
    first, last = _turns(transcript, wanted)
    if first is not None and (entry.turn is None or entry.turn < first):
        return False
    if last is not None and entry.turn is not None and entry.turn > last:
        return False
    begin = wanted.begin
    if begin is None:
        return True
    if begin.seq is not None:
        return entry.last >= begin.seq
    moment = begin.moment_in(transcript.t0)
    return moment is None or entry.t1 >= moment


def _chosen(entries: list[AnyEntry], wanted: Selection) -> list[AnyEntry]:
    """Return the entries that are wanted; what was asked about a tool goes with it."""
    chosen = {entry.id for entry in entries if _is_chosen(entry, wanted)}
    return [
        entry
        for entry in entries
        if entry.id in chosen
        or (isinstance(entry, Ask) and entry.tool in chosen and "ask" not in wanted.hide)
    ]


def _is_chosen(entry: AnyEntry, wanted: Selection) -> bool:
    if entry.kind in wanted.hide or (wanted.only is not None and entry.kind not in wanted.only):
        return False
    if wanted.tool is not None and not (isinstance(entry, Tool) and is_called(entry, wanted.tool)):
        return False
    return wanted.status is None or _status(entry) in _GROUPS.get(wanted.status, {wanted.status})


def is_called(tool: Tool, name: str) -> bool:
    """Whether *tool* is one of that name: its own, its kind, or the verb that is shown."""
    names = {verb_of(tool).lower(), tool.tkind or "", (tool.name or "").lower()}
    return name.lower() in names or canonical(name) == canonical(tool.name or "")


def _status(entry: AnyEntry) -> str | None:
    match entry:
        case Tool() | Subagent():
            return entry.status
        case Ask():
            return entry.state
        case Error():
            return "failed"
    return None
