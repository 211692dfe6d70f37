"""What a step is: a record's effect on the draft. Families of events have one table of steps each.

Above this module: the tables. Below it: `draft`.

A step reads all of the payload before it writes, and raises `Misshapen` only while it reads: so a
payload that breaks its own rule changes nothing (F-L8).
"""

from __future__ import annotations

from collections.abc import Callable

from replay.fold.draft import Draft
from replay.fold.shape import Payload

Step = Callable[[Draft, Payload], None]


def counted(name: str) -> Step:
    """Return the step of records that are not shown, only counted."""

    def count(draft: Draft, _payload: Payload) -> None:
        draft.count(name)

    return count
