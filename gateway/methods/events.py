"""Methods that read a session's events, and its transcript (protocol §4).

Above this module: the table of methods. Below it: the log; bytes are spliced, never parsed.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import Page, SessionId
from gateway.contracts import (
    SessionEventsSince,
    SessionEventsSubscribe,
    SessionEventsUnsubscribe,
    SessionTranscript,
)
from gateway.errors import Code, RpcError
from gateway.jsonrpc import Raw
from gateway.methods.call import Call
from gateway.peer import Answer
from gateway.transcripts import transcript_page
from gateway.wire import event_objects

WHOLE: Final = 4 << 20
"""Bytes of events that an answer without paging may hold: what Hermes's ring does (P-15)."""

PAGE: Final = 960 << 10
"""Bytes of events in a page at most, so that a frame stays under 1 MiB (P-3)."""


async def since(call: Call, params: SessionEventsSince) -> Raw:
    """Return the events after `last_seen`: a pure read, by pages if they are asked for."""
    session_id = await call.durable(params.session_id)
    after = params.last_seen or 0
    asked = params.limit_bytes or call.client.can.limit_bytes
    paged = params.limit is not None or asked is not None
    page = await _read(
        call,
        session_id,
        after,
        limit=params.limit,
        limit_bytes=min(asked or PAGE, PAGE) if paged else WHOLE,
    )
    lost = _lost(page, after, params.replay_epoch, call.log.epoch)
    if lost or (not paged and page.next < page.head):
        page = _nothing(page, after)
        lost = True
    state = await call.sessions.state(session_id)
    compact = call.client.can.compact
    lines = await _shown(call, session_id, after, page.lines)
    events = event_objects(session_id, lines, blobs=call.client.can.blobs, compact=compact)
    return Raw.object(
        {
            **({"session_id": session_id} if compact else {}),
            "events": Raw.array(events),
            "count": len(events),
            **_extent(call, page, lost=lost),
            "open_requests": call.client.open_requests(state, session_id),
        }
    )


async def _shown(call: Call, session_id: SessionId, after: int, lines: list[bytes]) -> list[bytes]:
    """Return the lines of a page as this client sees them."""
    view = await call.client.view(session_id, after) if lines else None
    if view is None:
        return lines
    told = view.see(lines)
    call.gateway.views.keep(session_id, view)  # the next page begins where this one ends
    return told


async def subscribe(call: Call, params: SessionEventsSubscribe) -> Answer:
    """Send every event after `last_seen`, and go on with what comes (P-19)."""
    session_id = await call.durable(params.session_id)
    after = params.last_seen or 0
    page = await call.log.read(session_id, after=after, limit=1)
    lost = _lost(page, after, params.replay_epoch, call.log.epoch)
    answer = _extent(call, _nothing(page, after), lost=lost)
    if lost:
        return Answer(answer, lambda: None)
    await call.client.leave(session_id)
    attachment = await call.client.attachment(session_id, after, history=True)
    return Answer(answer, lambda: call.client.go(attachment))


async def unsubscribe(call: Call, params: SessionEventsUnsubscribe) -> Any:
    """Send no more events of a session."""
    session_id = await call.durable(params.session_id)
    return {"unsubscribed": await call.client.leave(session_id)}


async def transcript(call: Call, params: SessionTranscript) -> Any:
    """Return the session as a person saw it, in pages, with its digest (P-26)."""
    session_id = await call.session(params.session_id)
    head = (await call.log.read(session_id, limit=1)).head
    if params.at is not None and params.at > head:
        raise RpcError(
            Code.INVALID_PARAMS, f"at is {params.at}, the head {head}", {"path": "at", "head": head}
        )
    folded = await call.gateway.transcripts.at(session_id, params.at)
    limit = min(params.limit_bytes or PAGE, PAGE)
    return await transcript_page(folded, after=params.after, limit_bytes=limit)


async def _read(
    call: Call, session_id: SessionId, after: int, *, limit: int | None, limit_bytes: int
) -> Page:
    """Read several of the log's pages as one."""
    bodies: list[bytes] = []
    size, cursor = 0, after
    while True:
        left = 512 if limit is None else min(512, limit - (cursor - after))
        page = await call.log.read(
            session_id, after=cursor, limit=left, limit_bytes=max(1, limit_bytes - size)
        )
        # The first page may be larger than asked for, since it holds at least one event.
        if page.body and (not bodies or size + len(page.body) <= limit_bytes):
            bodies.append(page.body)
            size += len(page.body)
            cursor = page.next
        else:
            return _joined(page, cursor, bodies)
        if cursor == page.head or cursor - after == limit:
            return _joined(page, cursor, bodies)


def _joined(last: Page, cursor: int, bodies: list[bytes]) -> Page:
    return Page(last.epoch, last.floor, last.head, type(last.head)(cursor), b"\n".join(bodies))


def _nothing(page: Page, after: int) -> Page:
    return Page(page.epoch, page.floor, page.head, type(page.head)(after), b"")


def _lost(page: Page, after: int, epoch: str | None, ours: str) -> bool:
    """Whether a client at *after* has to start from a snapshot (P-16)."""
    return not page.continues(after) or (epoch is not None and epoch != ours)


def _extent(call: Call, page: Page, *, lost: bool) -> dict[str, Any]:
    return {
        "latest_seq": page.head,
        "next": page.next,
        "has_more": not lost and page.next < page.head,
        "truncated": lost,
        "snapshot_required": lost,
        "epoch": call.log.epoch,
        "replay_epoch": call.log.epoch,
    }
