r"""A state of a fold as the log keeps it: entries in blocks, so that the end can be read alone.

Above this module: `opening`. Below it: `dump`, `plain`, the codec.

Lines of JSON. The first is the transcript without its entries, and a row for each block: how many
entries, how many bytes, the last turn in it. The second has the ids of each block's entries; then
come the blocks, oldest first. Reading the last turn of ten thousand decodes one block (B-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, get_args

from eventlog import codec
from replay.dump import dump, load, restore
from replay.entries import AnyEntry, Ask, Tool, User
from replay.fold.indexes import names_of
from replay.fold.lattice import is_working
from replay.fold.older import NOTHING, Older
from replay.plain import plain, read_one
from replay.transcript import Transcript

_KINDS: Final = {kind.kind: kind for kind in get_args(AnyEntry)}
_BLOCK: Final = 256
"""Entries that are decoded together."""


def written(transcript: Transcript, *, block: int = _BLOCK) -> bytes:
    """Return *transcript* as the body of a checkpoint; *block* is in entries."""
    places = range(0, len(transcript.entries), block)
    parts = [transcript.entries[place : place + block] for place in places]
    blocks = [codec.dumps([plain(entry) for entry in part]) for part in parts]
    head = {
        **dump(replace(transcript, entries=())),
        "blocks": [
            [len(part), len(text), part[-1].turn or 0]
            for part, text in zip(parts, blocks, strict=True)
        ],
        "open": _first_open(transcript),
    }
    names = [[list(name) for entry in part for name in names_of(entry)] for part in parts]
    return b"\n".join([codec.dumps(head), codec.dumps(names), *blocks])


def _first_open(transcript: Transcript) -> int:
    """Return the place of the first entry that any later record may find without naming it."""
    tail = transcript.state.get("tail")
    places = [] if tail is None else [tail]
    places += [place for place, entry in enumerate(transcript.entries) if _is_open(entry)][:1]
    return min(places, default=len(transcript.entries))


def _is_open(entry: AnyEntry) -> bool:
    match entry:
        case Tool():
            return is_working(entry.status)
        case Ask():
            return entry.state == "open"
        case User():
            return entry.queued and entry.for_turn is None and entry.rejected is None
    return False


@dataclass(frozen=True, slots=True)
class Ending:
    """The last turns of a transcript: its entries are those of the end, *older* tells of the rest."""

    transcript: Transcript
    older: Older


def read_whole(body: bytes) -> Ending:
    """Return the transcript that `written` made a body of.

    Raises:
        OtherFoldVersion, NotATranscript: it was kept in another form, and is none.

    """
    return read_end(body, 0)


def read_end(body: bytes, turns: int) -> Ending:
    """Return the last *turns* of the transcript, 0 for all, and whatever is still open.

    Raises:
        OtherFoldVersion, NotATranscript: it was kept in another form, and is none.

    """
    end = body.find(b"\n")
    head = codec.loads(body[:end] if end > 0 else body)
    if end < 0:  # kept before there were blocks
        return Ending(load(head), NOTHING)
    blocks, first_open = head.pop("blocks"), head.pop("open")
    begin = _begin(blocks, len(head["turns"]) - turns, first_open) if turns else 0
    left_out = sum(count for count, *_ in blocks[:begin])
    at = len(body) - sum(size + 1 for _, size, _ in blocks[begin:]) + 1
    entries: list[AnyEntry] = []
    for _, size, _ in blocks[begin:]:
        entries += [read_one(_KINDS, one) for one in codec.loads(body[at : at + size])]
        at += size + 1
    if left_out and "tail" in head["state"]:
        head["state"]["tail"] -= left_out
    names = codec.loads(body[end + 1 : body.index(b"\n", end + 1)])[:begin] if begin else ()
    older = Older(tuple(name) for block in names for name in block)
    return Ending(replace(restore(head), entries=tuple(entries)), older)


def _begin(blocks: Sequence[Sequence[int]], over: int, first_open: int) -> int:
    """Return the first block with a turn after *over*, or what is open."""
    places = accumulate(count for count, *_ in blocks)
    wanted = (
        at
        for at, (place, (_, _, turn)) in enumerate(zip(places, blocks, strict=True))
        if place > first_open or turn > over
    )
    return next(wanted, len(blocks))
