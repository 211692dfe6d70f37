"""Where a session may be forked (`session.branch`); the log does the rest.

Above this module: methods. Below it: `replay`, which knows where turns end.
"""

from __future__ import annotations

from typing import Any

from replay import Transcript


def boundary(transcript: Transcript, at: int) -> int:
    """Return the last place up to *at* where no turn is cut in two."""
    for turn in transcript.turns:
        if turn.started <= at and (turn.ended is None or at < turn.ended):
            return turn.started - 1
    return at


def seq_of_row(messages: list[dict[str, Any]], count: int, head: int) -> int:
    """Return the place behind the first *count* rows of a conversation."""
    return int(messages[count]["row_id"]) - 1 if count < len(messages) else head
