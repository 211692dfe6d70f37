"""End what nobody works on any more (P-38, P-40): nothing stays open for ever.

Above this module: the agent host at an agent's end, `serve` when it opens a log. Below it:
`state`, the log.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import START, Event, EventSource, Log, SessionId
from gateway.state import SessionState

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


async def catch_up(
    source: EventSource, session_id: SessionId, state: SessionState, *, until: int | None = None
) -> SessionState:
    """Fold into *state* what the log holds beyond it, up to *until* or the head."""
    while True:
        limit = 4096 if until is None else min(4096, until - state.seq)
        page = await source.read(session_id, after=state.seq, limit=limit, limit_bytes=1 << 20)
        state.apply(page.envelopes())
        if page.next >= (page.head if until is None else until) or not page.body:
            return state


async def recover(log: Log) -> list[SessionId]:
    """Settle a log that was not closed in order, before it is served; return what it settled.

    Only sessions whose agent died with the gateway are touched: a wrapped one's upstream may
    live, an imported one never had an agent here (P-40).
    """
    settled: list[SessionId] = []
    for session_id in await log.unsettled():
        state = await catch_up(log, session_id, SessionState(seq=START))
        ours = state.process_is_ours and not session_id.startswith(IMPORTED)
        if ours and state.open_work:
            await log.append(session_id, _restarted(state))
            settled.append(session_id)
    await log.settle()
    return settled


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
