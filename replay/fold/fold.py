"""The fold: records in, a transcript out. No clock, no I/O, no surprise.

Above this module: renderers, the gateway, clients. Below it: the families of steps.

A record that stands in no table, or breaks its own rule, is an `unknown` entry (F-L6, F-L8); one
that has been folded before changes nothing (F-L3).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

from eventlog import Envelope
from replay.entries import Gap
from replay.fold import acp, asks, calls, hermes, hermes_tools, prompts, session, subagents
from replay.fold.draft import Draft
from replay.fold.notes import unknown
from replay.fold.older import NOTHING, Older
from replay.fold.shape import Misshapen
from replay.fold.step import Step
from replay.transcript import EMPTY, Transcript

STEPS: Final[Mapping[str, Step]] = {
    **acp.STEPS,
    **asks.STEPS,
    **calls.STEPS,
    **hermes.STEPS,
    **hermes_tools.STEPS,
    **prompts.STEPS,
    **session.STEPS,
    **subagents.STEPS,
}
"""What each type of record does."""

_COMPARED: Final = 64
"""Records that are kept to tell a duplicate of one from a conflict with it."""


class Fold:
    """A transcript that grows record by record, for those who follow a session.

    If *transcript* is the end of one, *older* tells what it lacks: a record about that raises
    `Elsewhere`.
    """

    def __init__(self, transcript: Transcript = EMPTY, older: Older = NOTHING) -> None:
        self._draft = Draft(transcript, older)
        self._recent: deque[Envelope] = deque(maxlen=_COMPARED)

    @property
    def seq(self) -> int:
        """The last record folded."""
        return self._draft.seq

    @property
    def counted(self) -> int:
        """How many records so far are counted and not shown."""
        return sum(self._draft.ephemeral.values())

    def apply(self, record: Envelope) -> None:
        """Fold one record. Never raises for what a record says of a whole transcript."""
        draft = self._draft
        seq = record["seq"]
        if seq != draft.seq + 1:
            if seq <= draft.seq:
                self._again(record)
                return
            if record["type"] != "log.gap":
                self._missing(record)
        draft.seq, draft.ts = seq, record["ts"]
        if draft.began is None:
            draft.began = draft.ts
        self._recent.append(record)
        step = STEPS.get(record["type"])
        if step is None:
            unknown(draft, record["type"], record["payload"])
            return
        try:
            step(draft, record["payload"])
        except Misshapen as problem:
            unknown(draft, record["type"], record["payload"], str(problem))

    def transcript(self) -> Transcript:
        """Return the transcript so far; entries that have not changed are the same objects."""
        return self._draft.transcript()

    def _again(self, record: Envelope) -> None:
        known = next((one for one in self._recent if one["seq"] == record["seq"]), None)
        if known is None:
            problem = "a record came again"
        elif _told(known) == _told(record):
            problem = "duplicate"
        else:
            problem = "conflict: the first record of that number counts"
        self._draft.remark(problem, record["seq"])

    def _missing(self, record: Envelope) -> None:
        draft = self._draft
        begin, end = draft.seq + 1, record["seq"] - 1
        draft.seq, draft.ts = record["seq"], record["ts"]
        draft.add(Gap, lost=end - begin + 1, begin=begin, end=end)


def fold(transcript: Transcript, records: Iterable[Envelope]) -> Transcript:
    """Return *transcript* as it stands after *records*, which are in the order of their seq."""
    folding = Fold(transcript)
    apply = folding.apply
    for record in records:
        apply(record)
    return folding.transcript()


def _told(record: Envelope) -> Any:
    return record["ts"], record["type"], record["payload"]
