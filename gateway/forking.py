"""A new session of the past of another (`session.branch`).

Above this module: methods. Below it: the log, state, `replay`, which knows where turns end.

The past is copied event by event under the same numbers, so that what refers to a number still
does; behind it stands `log.forked`. A fork has none of the names of its parent, or an agent's id
would mean two sessions (P-22): an alias is copied as one of the fork's own id.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import Event, Log, SessionId, event_of, line, parse
from gateway.closing import catch_up
from gateway.state import SessionState
from replay import Transcript

_ALIAS: Final = b'"type":"session.alias"'

LEFT: Final = "The session was forked before this prompt was answered."


def boundary(transcript: Transcript, at: int) -> int:
    """Return the last place up to *at* where no turn is cut in two."""
    for turn in transcript.turns:
        if turn.started <= at and (turn.ended is None or at < turn.ended):
            return turn.started - 1
    return at


def seq_of_row(messages: list[dict[str, Any]], count: int, head: int) -> int:
    """Return the place behind the first *count* rows of a conversation."""
    return int(messages[count]["row_id"]) - 1 if count < len(messages) else head


async def fork(log: Log, parent: SessionId, child: SessionId, seq: int) -> None:
    """Copy the events of *parent* up to *seq* into *child*, and say so behind them."""
    cursor = 0
    while cursor < seq:
        limit = min(4096, seq - cursor)
        page = await log.read(parent, after=cursor, limit=limit, limit_bytes=1 << 20)
        copied = [event_of(_own(text, child)) for text in page.lines]
        events, times = [event for _, event in copied], [ts for ts, _ in copied]
        await log.append(child, events, expected=cursor, at=times)
        cursor = page.next
    state = await catch_up(log, child, SessionState())
    left = {"message": LEFT, "code": 5035}
    await log.append(
        child,
        [
            Event.of("log.forked", {"from": {"session_id": parent, "seq": seq}}),
            *(
                Event.of(
                    "request.cancel",
                    {"id": item.id, "method": item.method, "reason": "interrupted"},
                )
                for item in state.requests.values()
            ),
            *(Event.of("prompt.rejected", {"prompt": at, "error": left}) for at in state.prompts),
        ],
    )


def _own(text: bytes, child: SessionId) -> bytes:
    if _ALIAS not in text[:120]:
        return text
    envelope = parse(text)
    alias = Event.of("session.alias", {"scope": "fork", "id": child})
    return line(envelope["seq"], envelope["ts"], alias)
