"""End what nobody works on any more (P-38, P-40): nothing stays open for ever.

Above this module: the agent host at an agent's end, `serve` when it opens a log. Below it:
`state`, the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeVar

from eventlog import Envelope, Event, EventSource, Log, Seq, SessionId, parse, seq_of
from gateway.state import SessionState
from replay import names_in

IMPORTED: Final = "imp-"
"""How the id of an imported session begins; its `session.opened` may be another gateway's."""


def closing_events(state: SessionState, *, reason: str, error: dict[str, Any]) -> list[Event]:
    """Return the events that withdraw a session's questions and end its prompts.

    *reason* is a `request.cancel` reason of P-27; *error* is what every unfinished prompt ends
    with.
    """
    return [
        *(
            Event.of("request.cancel", {"id": item.id, "method": item.method, "reason": reason})
            for item in state.requests.values()
        ),
        *(Event.of("prompt.finished", {"prompt": seq, "error": error}) for seq in state.prompts),
    ]


class Folded(Protocol):
    """A small fold of a session, which reads few of its lines."""

    seq: Seq

    def wanted(self, body: bytes) -> list[bytes]:
        """Return the lines of a page that have to be read."""
        ...

    def apply(self, envelopes: Iterable[Envelope], ends: tuple[bytes, bytes]) -> None:
        """Take what is wanted of a page; *ends* are its first and its last line."""
        ...


State = TypeVar("State", bound=Folded)


async def catch_up(
    source: EventSource, session_id: SessionId, state: State, *, until: int | None = None
) -> State:
    """Fold into *state* what the log holds beyond it, up to *until* or the head.

    What is not wanted is neither parsed, nor are its large strings fetched.
    """
    while True:
        limit = 4096 if until is None else min(4096, until - state.seq)
        page = await source.read(
            session_id, after=state.seq, limit=limit, limit_bytes=1 << 20, by_reference=True
        )
        if body := page.body:
            wanted = [await _whole(source, session_id, text) for text in state.wanted(body)]
            ends = body.partition(b"\n")[0], body[body.rfind(b"\n") + 1 :]
            state.apply(map(parse, wanted), ends)
        if page.next >= (page.head if until is None else until) or not body:
            return state


async def _whole(source: EventSource, session_id: SessionId, text: bytes) -> bytes:
    """Return a line with its large strings in it."""
    if b'"$blob"' not in text:
        return text
    return (await source.read(session_id, after=seq_of(text) - 1, limit=1)).lines[0]


async def begun(log: Log, session_id: SessionId) -> SessionState:
    """Return the state from which a session's is folded: of one that was pruned, what is left."""
    state = SessionState()
    row = await log.session(session_id)
    if row and row.floor:
        state.begin(row.floor, row.opened)
        if (base := await log.base(session_id)) and (names := names_in(base)):
            state.foreign_id = list(names.values())[-1]
    return state


async def recover(log: Log) -> list[SessionId]:
    """Settle a log that was not closed in order, before it is served; return what it settled."""
    settled: list[SessionId] = []
    for session_id in await log.unsettled():
        state = await catch_up(log, session_id, await begun(log, session_id))
        if await end_open_work(log, session_id, state):
            settled.append(session_id)
    await log.settle()
    return settled


async def end_open_work(log: Log, session_id: SessionId, state: SessionState) -> bool:
    """End what is open in a session whose gateway is gone; return whether anything was.

    Only sessions whose agent died with the gateway are touched: a wrapped one's upstream may
    live, an imported one never had an agent here (P-40).
    """
    ours = state.process_is_ours and not session_id.startswith(IMPORTED)
    if ours and state.open_work:
        await log.append(session_id, _restarted(state))
        return True
    return False


def _restarted(state: SessionState) -> list[Event]:
    error = {
        "code": 5035,
        "message": "The gateway was restarted while this prompt was being worked on.",
        "data": {"reason": "gateway_restarted"},
    }
    return [
        Event.of("agent.exited", {"reason": "gateway_restarted"}),
        *closing_events(state, reason="agent_gone", error=error),
    ]
