"""An event is one line, made once; everything about it can be read back."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog import (
    Event,
    InvalidSessionId,
    Malformed,
    SessionId,
    codec,
    event_of,
    line,
    on_the_wire,
    parse,
    seq_of,
    valid_session_id,
)
from tests.eventlog.values import EVENTS, PAYLOADS


@given(EVENTS, st.integers(1, 2**53), st.integers(0, 2**63 - 1))
@settings(max_examples=150, deadline=None)
def test_a_line_can_be_taken_apart(event: Event, seq: int, ts: int) -> None:
    """`event_of` undoes `line`, byte for byte, and `seq_of` finds the number."""
    text = line(seq, ts, event)

    assert event_of(text) == (ts, event)
    assert seq_of(text) == seq
    assert b"\n" not in text


@given(PAYLOADS)
@settings(max_examples=100, deadline=None)
@example({"$blob": "sha256:00", "size": 1})
def test_a_payload_comes_back_as_its_sender_wrote_it(payload: dict[str, object]) -> None:
    """A reader sees the payload that was given, its own `$blob` keys too."""
    envelope = parse(line(1, 2, Event.of("x", payload)))

    assert envelope == {"seq": 1, "ts": 2, "type": "x", "payload": payload}


def test_the_order_of_members_is_fixed() -> None:
    """seq, ts, type, payload, what an upstream added, origin: always in this order."""
    event = Event.of("t", {"b": 1, "a": 2}, members={"turn": {}}, origin="e.s:1")

    assert (
        line(3, 4, event)
        == b'{"seq":3,"ts":4,"type":"t","payload":{"b":1,"a":2},"turn":{},"origin":"e.s:1"}'
    )
    assert line(1, 0, Event.of("t")) == b'{"seq":1,"ts":0,"type":"t","payload":{}}'


@pytest.mark.parametrize("name", ["seq", "ts", "type", "payload", "session_id", "origin"])
def test_a_member_of_every_line_cannot_be_given_twice(name: str) -> None:
    """What an upstream adds cannot overwrite what the log says."""
    with pytest.raises(Malformed, match=name):
        Event.of("t", members={name: 1})


@pytest.mark.parametrize("part", ["payload", "rest"])
def test_an_event_is_one_line(part: str) -> None:
    """A newline is always a border between events, so none can be in one."""
    with pytest.raises(Malformed, match="line break"):
        Event("t", **{part: b'{"a":\n1}'})


def test_another_spelling_of_a_line_is_printed_again() -> None:
    """White space and another order of members change the spelling, not the event."""
    text = b'{ "type":"t", "ts":4,"seq":3, "session_id":"s",\t"payload":{"a":[ 1]}, "turn":2 }'

    assert event_of(text) == (4, Event("t", b'{"a":[1]}', b',"turn":2'))


@pytest.mark.parametrize(
    "text",
    [
        b'{"seq":1,"ts":2,"type":"t","payload":{},"seq":9}',
        b'{"seq":1,"ts":2,"type":"t","payload":{},"payload":{"a":1}}',
        b'{"seq":1,"ts":2,"type":"t","payload":5,"payload":{"a":1}}',
        b'{"seq":1,"ts":2,"type":"t","payload":{},"type":"u"}',
        b'{"seq":1,"ts":2,"type":"t","payload":{}\t}',
    ],
)
def test_a_line_that_says_things_twice_is_told_apart(text: bytes) -> None:
    """A member given twice cannot smuggle another number or payload into the log."""
    ts, event = event_of(text)
    again = line(1, ts, event)

    assert codec.loads(again)["payload"] == codec.loads(text)["payload"]
    assert codec.loads(again)["type"] == codec.loads(text)["type"]
    assert parse(again)["seq"] == 1
    assert b"\t" not in again


@pytest.mark.parametrize(
    "text",
    [
        b"null",
        b"[]",
        b"42",
        b'"x"',
        b"{}",
        b'{"type":null}',
        b'{"type":5}',
        b'{"seq":"7","ts":1,"type":"t","payload":{}}',
        b'{"seq":7,"ts":1.5,"type":"t","payload":{}}',
        b'{"seq":7,"ts":1,"type":"t","payload":[]}',
        b'{"seq":7,"ts":1,"type":"t"}',
        b'{"seq":7,"ts":1,"type":"t","payload":{}',
        b"",
    ],
)
def test_valid_json_of_the_wrong_kind_is_refused(text: bytes) -> None:
    """Each is refused with a reason, whether read or taken apart (R035)."""
    for read in (parse, event_of):
        with pytest.raises(Malformed):
            read(text)


def test_the_wire_form_is_the_line_with_its_session() -> None:
    """On the wire a line has the session's id in front, and no byte of it is changed."""
    text = line(1, 2, Event.of("t", {"a": "é"}))

    (wire,) = on_the_wire(SessionId("s"), [text])

    assert wire == b'{"session_id":"s",' + text[1:]
    assert codec.loads(wire) == {"session_id": "s", **codec.loads(text)}


@pytest.mark.parametrize("text", ["a", "0", "A.b_c:d-9", "x" * 128, "@gateway", "CON", "sess:1"])
def test_session_ids_have_one_form(text: str) -> None:
    """1 to 128 of the allowed characters, the first a letter or digit (P-25)."""
    assert valid_session_id(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("../x", "/etc/passwd", "..\\x", "C:\\x", "a/b", "", ".", "x" * 129, "x" * 300),
        *("%2e%2e", "a\0", "id\n", "\n", "é", "аdmin", "-a", ":a", "_a", "a b", "@other"),
        *(None, 5, True, ["a"], b"a"),
    ],
)
def test_anything_else_is_no_session_id(text: object) -> None:
    """Paths, controls, look-alikes, other types: refused, and shown without harm (P-25, R141)."""
    with pytest.raises(InvalidSessionId) as refusal:
        valid_session_id(text)
    assert str(refusal.value).isprintable()
