"""A new session of the past of another (`session.branch`, `hermes-log fork`).

Above this module: the gateway, the command line. Below it: the port.

The past is copied event by event under the same numbers, gaps included, so that what refers to a
number still does; behind it stands `log.forked`, and the end of whatever was open there. A fork has none of
the names of its parent, or an agent's id would mean two sessions (P-22): an alias is copied as
one of the fork's own id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog.errors import HistoryTruncated
from eventlog.event import Envelope, Event, SessionId, line, parse, seq_of
from eventlog.store import Log
from eventlog.verbatim import append_verbatim, placed

_ALIAS: Final = b'"type":"session.alias"'

LEFT: Final = "The session was forked before this prompt was answered."


class OpenWork:
    """The prompts and questions of a session that have no end yet."""

    def __init__(self) -> None:
        self.prompts: dict[int, None] = {}
        self.questions: dict[str, str] = {}
        """Id and method."""

    def see(self, envelope: Envelope) -> None:
        """Take the next event."""
        payload = envelope["payload"]
        match envelope["type"], payload:
            case "prompt.submitted", _:
                self.prompts[envelope["seq"]] = None
            case (("prompt.finished" | "prompt.rejected"), {"prompt": int(prompt)}):
                self.prompts.pop(prompt, None)
            case "request.opened", {"id": str(id_), "method": str(method)}:
                self.questions[id_] = method
            case (("request.answered" | "request.cancel"), {"id": str(id_)}):
                self.questions.pop(id_, None)
            case "session.closed", _:
                self.prompts.clear()

    def closing(self, error: Mapping[str, Any]) -> list[Event]:
        """Return the events that end it: prompts with *error*, questions as interrupted."""
        return [
            *(
                Event.of("request.cancel", {"id": id_, "method": method, "reason": "interrupted"})
                for id_, method in self.questions.items()
            ),
            *(Event.of("prompt.rejected", {"prompt": at, "error": error}) for at in self.prompts),
        ]


async def fork(log: Log, parent: SessionId, child: SessionId, seq: int) -> None:
    """Copy the events of *parent* up to *seq* into the new session *child*, and say so behind them.

    Raises:
        HistoryTruncated: there is no such place in it any more, or not yet.
        WrongExpectedVersion: *child* is known.

    """
    await _check(log, parent, seq)
    cursor = await _begin(log, parent, child)
    work = OpenWork()
    while cursor < seq:
        limit = min(4096, seq - cursor)
        page = await log.read(parent, after=cursor, limit=limit, limit_bytes=1 << 20)
        lines = [text for text in page.lines if seq_of(text) <= seq]  # a gap is a line of many
        if not lines:
            raise HistoryTruncated(parent, seq, page.floor, page.head)  # removed meanwhile
        for text in lines:
            work.see(parse(text))
        own = [_own(text, child) for text in lines]
        cursor = await append_verbatim(log, child, placed(own, cursor))
    forked = Event.of("log.forked", {"from": {"session_id": parent, "seq": seq}})
    closing = work.closing({"message": LEFT, "code": 5035})
    await log.append(child, [forked, *closing], expected=seq)


async def _check(log: Log, session_id: SessionId, seq: int) -> None:
    """Raise HistoryTruncated unless the session stood at *seq* once: not inside of a gap."""
    page = await log.read(session_id, after=max(seq - 1, 0), limit=1, by_reference=True)
    inside = page.floor < seq <= page.head and seq_of(page.lines[0]) != seq
    if inside or not page.continues(seq):
        raise HistoryTruncated(session_id, seq, page.floor, page.head)


async def _begin(log: Log, parent: SessionId, child: SessionId) -> int:
    """Give the fork what its parent's pruned past has left; return where its events begin."""
    base, row = await log.base(parent), await log.session(parent)
    if base is None or row is None:
        return 0
    await log.begin(child, base, row)
    return base.seq


def _own(text: bytes, child: SessionId) -> bytes:
    if _ALIAS not in text[:120]:
        return text
    envelope = parse(text)
    alias = Event.of("session.alias", {"scope": "fork", "id": child})
    return line(envelope["seq"], envelope["ts"], alias)
