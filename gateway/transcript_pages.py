"""A transcript in pages of bounded size, and back.

Above this module: `session.transcript`, the reference client. Below it: `replay`.

A page holds as many entries as fit; the first one holds what the transcript has beside them, its
head. What alone is longer than a page is cut, for a client that can put pieces together: their
texts, joined, are its JSON. Only what a page shows is made for it, so that a long transcript costs
no more a page than a short one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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


class Cut:
    """The JSON of what was cut last, so that its next piece costs no more than that.

    It is another's turn when another is cut; whoever comes back then has it made once more.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[str, int, str | None], bytes] | None = None

    def body(self, transcript: Transcript, entry: str | None, make: Callable[[], Json]) -> bytes:
        """Return the JSON of an entry, or of the head (None), as *make* makes it."""
        key, kept = (transcript.session, transcript.seq, entry), self._kept
        if kept is None or kept[0] != key:
            kept = self._kept = (key, codec.dumps(make()))
        return kept[1]


def page_of(
    transcript: Transcript,
    *,
    after: str | None,
    offset: int,
    limit: int,
    pieces: bool,
    cut: Cut | None = None,
) -> Json:
    """Return the members of a page that hold content, and `next` and `has_more`.

    *after* is the id of the last entry that the client has; None: it has nothing. *limit* is in
    bytes of JSON text. With *pieces* what is longer is cut, and *offset* says how much of it the
    client has.
    """
    begin = _place(transcript, after)
    asked = _Asked(transcript, after, offset, limit, cut or Cut())
    if pieces and offset:
        return asked.piece_of_head() if after is None else asked.piece_of_entry(begin)
    head = None if after is not None else dump(replace(transcript, entries=()))
    size = _size(head) if head is not None else 0
    if head is not None and pieces and size > limit:
        return asked.piece_of_head(head)
    taken = _fitting(transcript, begin, 0 if offset else limit - size, whole=not pieces)
    total = len(transcript.entries)
    if pieces and not taken and begin < total and head is None:
        return asked.piece_of_entry(begin)
    cursor = taken[-1]["id"] if taken else HEAD_ONLY if after is None else after
    content = {"entries": taken} if head is None else {**head, "entries": taken}
    return {"transcript": content, "next": cursor, "has_more": begin + len(taken) < total}


def _place(transcript: Transcript, after: str | None) -> int:
    if not after:
        return 0
    found = (place for place, entry in enumerate(transcript.entries, 1) if entry.id == after)
    return next(found, len(transcript.entries))


def _made(transcript: Transcript, begin: int, count: int) -> list[Json]:
    some = Transcript(entries=transcript.entries[begin : begin + count])
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who asks for a piece: what of, and how much of it the client has."""

    transcript: Transcript
    after: str | None
    offset: int
    limit: int
    cut: Cut

    def piece_of_head(self, head: Json | None = None) -> Json:
        whole = self.transcript
        body = self.cut.body(whole, None, lambda: head or dump(replace(whole, entries=())))
        return self._piece(body, None, HEAD_ONLY, more=bool(whole.entries))

    def piece_of_entry(self, begin: int) -> Json:
        whole = self.transcript
        if begin >= len(whole.entries):
            return {"transcript": {"entries": []}, "next": self.after, "has_more": False}
        id_ = whole.entries[begin].id
        body = self.cut.body(whole, id_, lambda: _made(whole, begin, 1)[0])
        return self._piece(body, id_, id_, more=begin + 1 < len(whole.entries))

    def _piece(self, body: bytes, entry: str | None, then: str, *, more: bool) -> Json:
        """Return the page that holds what of *body* begins where the client has ended."""
        offset, limit = self.offset, self.limit
        text = text_of(body[offset : offset + limit], offset)
        while _size(text) > limit:  # in JSON once more, quotes are twice as long
            text = text[: len(text) // 2]
        end = offset + len(text.encode())
        rest = end < len(body)
        cut = {"entry": entry, "size": len(body), "offset": offset, "text": text, "next": end}
        return {
            "transcript": {"entries": []},
            "piece": {**cut, "has_more": rest},
            "next": self.after if rest else then,
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
