"""What many clients did to one session, and whether a log can have answered them so.

Above this module: tests under faults. Below it: nothing.

Everything appended is told apart by its text, so what the log holds in the end gives the order in
which appends took effect, and each answer says where in that order it stands. That leaves one
question: does this order agree with the clock? An operation that had ended before another began
must not stand behind it. No search is needed, and the answer is exact (linearizability of one
object whose writes are in a known order).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["append", "read"]
Outcome = Literal["done", "refused", "unknown"]


@dataclass(slots=True)
class Operation:
    """One call of one client. Times by one clock for all; *ended* is None if nobody heard its end."""

    client: str
    kind: Kind
    began: int
    texts: tuple[str, ...] = ()
    """What was to be appended, or what was read."""
    after: int = 0
    """Reads: the cursor. Appends: the number before the first one, once it is known."""
    expected: int | None = None
    outcome: Outcome = "unknown"
    ended: int | None = None
    head: int | None = None
    """What was said to be the head: of a read, of a refusal, or after an append."""

    def __str__(self) -> str:
        what = f"{self.client}: {self.kind} {self.texts[:2]}{'…' if len(self.texts) > 2 else ''}"
        return f"{what} [{self.began}, {self.ended}] {self.outcome}, head {self.head}"


def violations(history: Sequence[Operation], final: Sequence[str]) -> list[str]:
    """Return what is wrong with a *history* after which the log holds *final*: nothing, if it is well.

    It need not end with every outcome known: what nobody heard of may be there, whole and once.
    """
    found = [*_written(history, final), *_read(history, final)]
    return found or list(_against_the_clock(history, final))


def _written(history: Sequence[Operation], final: Sequence[str]) -> Iterator[str]:
    """Yield what is lost, there twice, in pieces, out of place, or nobody's."""
    places: dict[str, list[int]] = {}
    for number, text in enumerate(final, 1):
        places.setdefault(text, []).append(number)
    appends = [operation for operation in history if operation.kind == "append"]
    for operation in appends:
        stands = [places.get(text, []) for text in operation.texts]
        if any(len(where) > 1 for where in stands):
            yield f"recorded more than once, at {stands}: {operation}"
        elif wrong := _misplaced(operation, [where[0] for where in stands if where]):
            yield f"{wrong}: {operation}"
    known = {text for operation in appends for text in operation.texts}
    yield from (f"recorded, appended by nobody: {text}" for text in places if text not in known)


def _misplaced(operation: Operation, numbers: Sequence[int]) -> str | None:
    """Return what is wrong with an append whose events stand at *numbers*, if anything is."""
    wanted = list(range(operation.after + 1, operation.after + 1 + len(operation.texts)))
    wrong: str | None = None
    match operation.outcome:
        case "done" if numbers != wanted:
            wrong = f"acknowledged at {wanted[:1]}, found at {numbers}"
        case "done" if operation.expected not in (None, operation.after):
            wrong = f"expected {operation.expected}, appended behind {operation.after}"
        case "refused" if numbers:
            wrong = f"refused, found at {numbers}"
        case "refused" if operation.head is not None and operation.expected == operation.head:
            wrong = "refused although the head was as expected"
        case "unknown" if numbers and len(numbers) != len(operation.texts):
            wrong = "only a part is recorded"
        case "unknown" if numbers and list(numbers) != [*range(numbers[0], numbers[-1] + 1)]:
            wrong = f"recorded in pieces, at {numbers}"
    return wrong


def _read(history: Sequence[Operation], final: Sequence[str]) -> Iterator[str]:
    """Yield what was read and is not so."""
    for operation in history:
        if operation.outcome == "unknown" or operation.head is None:
            continue
        if operation.head > len(final):
            yield f"a head that never was: {operation}"
        if operation.kind != "read":
            continue
        there = tuple(final[operation.after : operation.after + len(operation.texts)])
        if operation.texts != there:
            yield f"read other than what is recorded ({there[:2]}…): {operation}"
        if operation.after + len(operation.texts) > max(operation.head, operation.after):
            yield f"read beyond the head: {operation}"


def _against_the_clock(history: Sequence[Operation], final: Sequence[str]) -> Iterator[str]:
    """Yield what ended before something began that stands before it in the log's order."""
    places = {text: number for number, text in enumerate(final, 1)}
    ranks = ((_rank(operation, places), operation) for operation in history)
    ranked = sorted(
        ((rank, operation) for rank, operation in ranks if rank is not None),
        key=lambda item: item[0],
    )
    latest: Operation | None = None
    pending: list[Operation] = []
    standing = -1
    for rank, operation in ranked:
        if rank != standing:  # those of one rank may stand in any order
            latest = max(filter(None, (latest, *pending)), key=lambda one: one.began, default=None)
            standing, pending = rank, []
        pending.append(operation)
        if latest and operation.ended is not None and operation.ended < latest.began:
            yield f"had ended before this began: {latest}, and yet stands behind it: {operation}"


def _rank(operation: Operation, places: Mapping[str, int]) -> int | None:
    """Return where an operation stands: appends at even ranks, what saw a head behind it."""
    if operation.kind == "append" and operation.outcome != "refused":
        number = places.get(operation.texts[-1]) if operation.texts else None
        return None if number is None else 2 * number
    if operation.outcome == "unknown" or operation.head is None:
        return None
    return 2 * operation.head + 1
