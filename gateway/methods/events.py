"""Methods that read a session's events, and its transcript (protocol §4).

Above this module: the table of methods. Below it: the log; bytes are spliced, never parsed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import anyio.to_thread

from eventlog import Page, SessionId, seq_of
from gateway.contracts import (
    SessionEventsSince,
    SessionEventsSubscribe,
    SessionEventsUnsubscribe,
    SessionTranscript,
)
from gateway.errors import Code, RpcError
from gateway.hermes_view import View
from gateway.jsonrpc import Raw
from gateway.methods.call import Call
from gateway.peer import Answer
from gateway.transcript_pages import check_offset, page_of
from gateway.wire import event_array, fitting, room_for
from replay import FOLD_VERSION

_NAME: Final = 148
"""Bytes of a session's id and what stands around it in an event, at most."""

WHOLE: Final = 4 << 20
"""Bytes of events that an answer without paging may hold: what Hermes's ring does (P-15)."""

ALL: Final = 1 << 30
"""More events than any page has room for."""

PAGE: Final = 960 << 10
"""Bytes of events in a page at most, so that a frame stays under 1 MiB (P-3)."""


async def since(call: Call, params: SessionEventsSince) -> Raw:
    """Return the events after `last_seen`: a pure read, by pages if they are asked for."""
    session_id = await call.durable(params.session_id)
    after = params.last_seen or 0
    asked = params.limit_bytes or call.client.can.limit_bytes
    paged = params.limit is not None or asked is not None
    can = call.client.can
    most = PAGE if can.compact else room_for(session_id, PAGE)
    view = await call.client.view(session_id, after)
    page = await call.log.read(
        session_id,
        after=after,
        limit=ALL if params.limit is None else params.limit,
        limit_bytes=min(asked or most, most) if paged else WHOLE,
        by_reference=call.client.by_reference(view),
    )
    lost = _lost(page, after, params.replay_epoch, call.log.epoch)
    if lost or (not paged and page.next < page.head):
        page = _nothing(page, after)
        lost = True
    page = _shown(call, session_id, view, page, PAGE if paged else None)
    events, count = event_array(session_id, page.body, blobs=can.blobs, compact=can.compact)
    if paged and view is None and not can.compact and len(events) > PAGE and count > 1:
        page = fitting(session_id, page, PAGE)
        events, count = event_array(session_id, page.body, blobs=can.blobs, compact=can.compact)
    state = await call.sessions.state(session_id)
    return Raw.object(
        {
            **({"session_id": session_id} if can.compact else {}),
            "events": Raw(events),
            "count": count,
            **_extent(call, page, lost=lost),
            "open_requests": call.client.open_requests(state, session_id),
        }
    )


def _shown(
    call: Call, session_id: SessionId, view: View | None, page: Page, room: int | None
) -> Page:
    """Return a page as this client sees it, cut where *room* bytes are full: words grow in it."""
    if view is None or not page.body:
        return page
    told, size = list[bytes](), 0
    seen = page.next
    for text in page.lines:
        shown = view.told(text)
        size += len(shown) + _NAME if shown else 0
        if shown and told and room is not None and size > room:
            seen = type(seen)(seq_of(text) - 1)
            break
        told += [shown] if shown else []
    call.gateway.views.keep(session_id, view)  # the next page begins where this one ends
    return replace(page, body=b"\n".join(told), next=seen)


async def subscribe(call: Call, params: SessionEventsSubscribe) -> Answer:
    """Send every event after `last_seen`, and go on with what comes (P-19)."""
    session_id = await call.durable(params.session_id)
    after = params.last_seen or 0
    page = await call.log.read(session_id, after=after, limit=1)
    lost = _lost(page, after, params.replay_epoch, call.log.epoch)
    answer = _extent(call, _nothing(page, after), lost=lost)
    if lost:
        return Answer(answer, lambda: None)
    client = call.client
    async with client.places.held(session_id):
        attachment = await client.attachment(session_id, after, history=True)
        return Answer(answer, lambda: client.places.go(attachment))


async def unsubscribe(call: Call, params: SessionEventsUnsubscribe) -> Any:
    """Send no more events of a session."""
    session_id = await call.durable(params.session_id)
    return {"unsubscribed": await call.client.places.leave(session_id)}


async def transcript(call: Call, params: SessionTranscript) -> Any:
    """Return the session as a person saw it, in pages, with its digest (P-26)."""
    session_id = await call.session(params.session_id)
    extent = await call.log.read(session_id, limit=0)
    if params.at is not None and not extent.continues(params.at):
        kept = {"floor": extent.floor, "head": extent.head}
        raise RpcError(
            Code.INVALID_PARAMS,
            f"at is {params.at}; the transcript can be had at {extent.floor} to {extent.head}",
            {"path": "at", **kept},
        )
    folded = await call.gateway.transcripts.paged(session_id, params.at)
    pieces = call.client.can.blobs
    check_offset(params.offset, pieces=pieces)
    make = partial(
        page_of,
        folded,
        after=params.after,
        offset=params.offset,
        limit=min(params.limit_bytes or PAGE, PAGE),
        pieces=pieces,
        cut=call.gateway.transcripts.cut,
    )
    return {
        **await anyio.to_thread.run_sync(make),
        "seq": folded.seq,
        "digest": await call.gateway.transcripts.digest(folded),
        "fold_version": FOLD_VERSION,
    }


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
