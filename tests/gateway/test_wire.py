"""Lines of the log as events on the wire: the bytes are spliced, and say what the lines say."""

from __future__ import annotations

from typing import Any

import pytest

from eventlog import Event, Page, Seq, SessionId, codec, line
from gateway.wire import event_array, fitting, framer, room_for

LONG = SessionId("s-" + "x" * 126)
TEXTS = ["", 'a "seq" of {"seq":1}', "x" * 5_000, "{\n", "$ $blob", "ünï"]


def lines(*payloads: dict[str, Any]) -> list[bytes]:
    return [line(n, n, Event.of("notice", payload)) for n, payload in enumerate(payloads, 1)]


@pytest.mark.parametrize("blobs", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_an_array_is_the_events_of_its_lines(count: int, *, blobs: bool) -> None:
    """P-11, P-13: each event as it is sent live, in order, whatever is in it; and how many there are."""
    found = lines(*({"message": TEXTS[n % len(TEXTS)]} for n in range(count)))
    named, told = event_array(LONG, b"\n".join(found), blobs=blobs, compact=False)
    assert told == count
    frame = framer(LONG, blobs=blobs)
    live = [
        frame(text).removeprefix(b'{"jsonrpc":"2.0","method":"event","params":') for text in found
    ]
    assert named == b"[" + b",".join(text[:-1] for text in live) + b"]"

    compact, told = event_array(LONG, b"\n".join(found), blobs=blobs, compact=True)
    assert told == count
    assert codec.loads(compact) == [codec.loads(text) for text in found]
    assert b"\n" not in named + compact


def test_own_keys_that_look_like_references() -> None:
    """P-34: doubled in the log, they are as their sender wrote them to who knows no references."""
    body = b"\n".join(lines({"$blob": "mine"}, {"message": "x"}))
    known, _ = event_array(LONG, body, blobs=True, compact=False)
    plain, count = event_array(LONG, body, blobs=False, compact=False)
    assert codec.loads(known)[0]["payload"] == {"$$blob": "mine"}
    assert codec.loads(plain)[0]["payload"] == {"$blob": "mine"}
    assert count == 2


@pytest.mark.parametrize("size", [0, 50, 300, 4_000])
def test_a_page_is_cut_to_its_room(size: int) -> None:
    """P-3, P-15: what was read for a page fits, or is cut so that it does, and goes on behind that."""
    found = lines(*({"message": "x" * size},) * 400)
    room = 40_000
    body = b"\n".join(found)[: room_for(LONG, room)].rpartition(b"\n")[0]
    page = Page("e", Seq(0), Seq(400), Seq(body.count(b"\n") + 1), body)
    events, count = event_array(LONG, page.body, blobs=True, compact=False)
    cut = fitting(LONG, page, room)
    fitted, kept = event_array(LONG, cut.body, blobs=True, compact=False)
    assert (len(events) <= room) == (cut is page)
    assert len(fitted) <= room
    assert kept == cut.next <= count
    assert kept == count or len(fitted) > room - 6_000
