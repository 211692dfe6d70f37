"""What became of every frame of every capture, as a table that a person can review.

`python -m tests.eventlog.accounting` prints it anew; `accounting.txt` is the reviewed copy.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventlog import capture_of
from eventlog.capture import Frame
from eventlog.recorders import Observation, Unrecorded
from eventlog.recorders.frames import Answer, Call, Notification, key_of, members, read_frame

CAPTURES = Path(__file__).parent.parent / "captures"
REVIEWED = Path(__file__).with_suffix(".txt")

Kinds = defaultdict[tuple[str, str], Counter[str]]
"""(direction, kind of frame) -> what such frames became, and how often."""


@dataclass
class Accounts:
    """The table of some files."""

    kinds: Kinds = field(default_factory=lambda: defaultdict(Counter))
    reasons: Counter[Unrecorded] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    frames: int = 0
    recorded: int = 0

    def lines(self) -> Iterator[str]:
        """Yield the table: a row a kind, below it what it became."""
        left = sum(self.reasons.values())
        yield f"{self.frames} frames = {self.recorded} recorded + {left} not, for these reasons:"
        for reason, count in sorted(self.reasons.items()):
            yield f"  {count:5} {reason.name}: {reason.value}"
        for (direction, kind), became in sorted(self.kinds.items()):
            yield f"{direction:3} {kind}"
            yield from (f"  {count:5} {outcome}" for outcome, count in became.most_common())


class Account:
    """Tells the kind of each frame of one file, and counts what it became."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._methods: dict[tuple[str, str, bytes], str] = {}
        self.recorded = 0
        self.reasons: Counter[Unrecorded] = Counter()

    def observed(self, frame: Frame, observation: Observation) -> None:
        """Count one frame."""
        kind = self._kind(frame)
        types = dict.fromkeys(entry.event.type for entry in observation.entries)
        reason = observation.unrecorded
        self._accounts.kinds[frame.direction, kind][
            f"({reason.name})" if reason else " + ".join(types)
        ] += 1
        self._accounts.frames += 1
        if reason:
            self.reasons[reason] += 1
            self._accounts.reasons[reason] += 1
        else:
            self.recorded += 1
            self._accounts.recorded += 1

    def _kind(self, frame: Frame) -> str:
        read = read_frame(frame.text)
        match read:
            case Call(id_, method):
                self._methods[frame.direction, frame.connection, key_of(id_)] = method
                return f"call {method}"
            case Notification(method, params):
                return f"tells {method}{_variant(params)}"
            case Answer(id_):
                asker = "out" if frame.direction == "in" else "in"
                asked = self._methods.get((asker, frame.connection, key_of(id_)), "nothing seen")
                return f"{'error' if read.refused else 'answer'} to {asked}"
        return "no frame"


def _variant(params: Any) -> str:
    update: Mapping[str, Any] = members(members(params).get("update"))
    name = update.get("sessionUpdate", members(params).get("type"))
    return f" {name}" if name else ""


def account() -> tuple[str, dict[str, tuple[int, int, Counter[Unrecorded]]]]:
    """Return the table, and of each file the frames, those recorded, and those not by reason."""
    by_kind = {"acp": Accounts(), "hermes": Accounts()}
    totals = {}
    for path in sorted(CAPTURES.glob("*/*.jsonl")):
        data = path.read_bytes()
        accounts = by_kind[capture_of(data).kind]
        one = Account(accounts)
        capture = capture_of(data, observed=one.observed)
        name = f"{path.parent.name}/{path.name}"
        accounts.files.append(name)
        totals[name] = (capture.frames, one.recorded, one.reasons)
    return "\n".join(_table(by_kind, totals)) + "\n", totals


def _table(
    by_kind: Mapping[str, Accounts],
    totals: Mapping[str, tuple[int, int, Counter[Unrecorded]]],
) -> Iterator[str]:
    yield "What became of every frame of tests/captures. `in` is client to agent or gateway."
    yield "A reason in brackets: no event. HELD frames become events when a session is named."
    for title, accounts in by_kind.items():
        yield ""
        yield f"== {title}: {len(accounts.files)} files"
        yield from accounts.lines()
    yield ""
    yield "== by file"
    for name, (frames, recorded, reasons) in totals.items():
        left = ", ".join(f"{reason.name} {count}" for reason, count in sorted(reasons.items()))
        yield f"{name}: {frames} = {recorded} recorded; {left}"


if __name__ == "__main__":
    sys.stdout.write(account()[0])
