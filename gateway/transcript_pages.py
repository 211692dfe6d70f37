"""A transcript in pages of bounded size, and back.

Above this module: `session.transcript`, the reference client. Below it: `replay`.

A page holds as many entries as fit; the first one holds what the transcript has beside them, its
head. What alone is longer than a page is cut, for a client that can put pieces together: their
texts, joined, are its JSON. Only what a page shows is made for it, so that a long transcript costs
no more a page than a short one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Protocol

import anyio.to_thread

from eventlog import codec, text_of
from gateway.errors import Code, RpcError
from replay import Transcript, dump

HEAD_ONLY: Final = ""
"""The cursor of who has the head and no entry."""

_AT_ONCE: Final = 256
"""Entries that are made at a time, to see how many of them fit."""

Json = dict[str, Any]


class Ask(Protocol):
    """Asks for a page."""

    async def __call__(self, params: Json) -> Json:
        """Return the answer of `session.transcript`."""
        ...


def page_of(
    transcript: Transcript, *, after: str | None, offset: int, limit: int, pieces: bool
) -> Json:
    """Return the members of a page that hold content, and `next` and `has_more`.

    *after* is the id of the last entry that the client has; None: it has nothing. *limit* is in
    bytes of JSON text. With *pieces* what is longer is cut, and *offset* says how much of it the
    client has.
    """
    begin = _place(transcript, after)
    total = len(transcript.entries)
    head = None if after is not None else dump(replace(transcript, entries=()))
    if head is not None and pieces and (offset or _size(head) > limit):
        more = total > 0
        return _piece(head, offset, limit, entry=None, before=None, then=HEAD_ONLY, more=more)
    room = limit - (_size(head) if head is not None else 0)
    taken = _fitting(transcript, begin, 0 if offset else room, whole=not pieces)
    if pieces and not taken and begin < total and head is None:
        (entry,) = _made(transcript, begin, 1)
        more = begin + 1 < total
        return _piece(
            entry, offset, limit, entry=entry["id"], before=after, then=entry["id"], more=more
        )
    cursor = taken[-1]["id"] if taken else HEAD_ONLY if after is None else after
    content = {"entries": taken} if head is None else {**head, "entries": taken}
    return {"transcript": content, "next": cursor, "has_more": begin + len(taken) < total}


def _place(transcript: Transcript, after: str | None) -> int:
    if not after:
        return 0
    found = (place for place, entry in enumerate(transcript.entries, 1) if entry.id == after)
    return next(found, len(transcript.entries))


def _made(transcript: Transcript, begin: int, count: int) -> list[Json]:
    some = replace(transcript, entries=transcript.entries[begin : begin + count])
    entries: list[Json] = dump(some)["entries"]
    return entries


def _fitting(transcript: Transcript, begin: int, room: int, *, whole: bool) -> list[Json]:
    """Return the entries from *begin* on that fit, and at least one if it has to be *whole*."""
    taken: list[Json] = []
    size = 0
    while some := _made(transcript, begin + len(taken), _AT_ONCE):
        for entry in some:
            size += _size(entry) + 1
            if size > room and (taken or not whole):
                return taken
            taken.append(entry)
    return taken


def _piece(
    value: Json,
    offset: int,
    limit: int,
    *,
    entry: str | None,
    before: str | None,
    then: str,
    more: bool,
) -> Json:
    """Return the page that holds what of *value*'s JSON begins at byte *offset*."""
    body = codec.dumps(value)
    text = text_of(body[offset : offset + limit], offset)
    while _size(text) > limit:  # in JSON once more, quotes are twice as long
        text = text[: len(text) // 2]
    end = offset + len(text.encode())
    rest = end < len(body)
    cut = {"entry": entry, "size": len(body), "offset": offset, "text": text, "next": end}
    return {
        "transcript": {"entries": []},
        "piece": {**cut, "has_more": rest},
        "next": before if rest else then,
        "has_more": rest or more,
    }


def _size(value: Any) -> int:
    return len(codec.dumps(value))


async def assembled(ask: Ask) -> tuple[Json, int]:
    """Return a whole transcript, as `dump` writes it, and where in the log it stands.

    Raises:
        RpcError: the gateway refused.

    """
    page = await ask({})
    seq = page["seq"]
    whole: Json = {}
    entries: list[Json] = []
    texts: list[str] = []
    while True:
        piece = page.get("piece")
        if piece:
            texts.append(piece["text"])
            if not piece["has_more"]:
                value = await anyio.to_thread.run_sync(codec.loads, "".join(texts).encode())
                texts.clear()
                if piece["entry"] is None:
                    whole = value
                else:
                    entries.append(value)
        else:
            whole = whole or page["transcript"]
            entries += page["transcript"]["entries"]
        if not page["has_more"]:
            return {**whole, "entries": entries}, seq
        more = {"offset": piece["next"]} if piece and piece["has_more"] else {}
        page = await ask({"at": seq, "after": page["next"], **more})


def check_offset(offset: int, *, pieces: bool) -> None:
    """Raise if pieces are asked for by a client that did not say that it knows them.

    Raises:
        RpcError: 4002.

    """
    if offset and not pieces:
        why = "pieces are for clients that said blobs in their capabilities"
        raise RpcError(Code.BAD_ARGUMENT, why, {"path": "offset"})
