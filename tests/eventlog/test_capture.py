"""Capture files as sessions: the same bytes in, the same sessions out, and no line lost."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Malformed, SessionId, Skipped, capture_of, codec, parse, read_capture
from eventlog.recorders import Unrecorded

INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
NEW = '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/p"}}'
NAMED = '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}'


def prompt(number: int) -> str:
    """Return a prompt to the session."""
    params = f'{{"sessionId":"a","prompt":[{{"type":"text","text":"{number}"}}]}}'
    return f'{{"id":{number},"method":"session/prompt","params":{params}}}'


def file(*lines: str | bytes) -> bytes:
    """Return a capture that opens a session, then holds *lines*; a frame goes in at its number."""
    head = [
        f'{{"t":0.5,"dir":"in","frame":{INITIALIZE}}}',
        f'{{"t":1,"dir":"in","frame":{NEW}}}',
        f'{{"t":1.25,"dir":"out","frame":{NAMED}}}',
    ]
    texts = [item if isinstance(item, bytes) else item.encode() for item in [*head, *lines]]
    return b"\n".join(texts) + b"\n"


def test_a_session_is_called_after_the_content_and_the_same_content_gives_the_same() -> None:
    """Ids, numbers, times and bytes are a pure function of the file."""
    data = file(f'{{"t":2,"dir":"in","frame":{prompt(7)}}}')
    (session,) = read_capture(data)
    assert session.id == f"imp-{sha256(data).hexdigest()[:12]}-1"
    assert session.lines == read_capture(data)[0].lines
    envelopes = [parse(text) for text in session.lines]
    assert [item["seq"] for item in envelopes] == [1, 2, 3]
    assert [item["ts"] for item in envelopes] == [1_250_000, 1_250_000, 2_000_000]
    assert envelopes[0]["payload"]["import"] == {"sha256": sha256(data).hexdigest()}


@pytest.mark.parametrize("t", ["true", '"x"', "null", "-5", "1e300", "[]"])
def test_a_line_without_a_usable_time_is_as_late_as_the_one_before(t: str) -> None:
    """Times are for people; none of them can lose a frame."""
    (session,) = read_capture(file(f'{{"t":{t},"dir":"in","frame":{prompt(7)}}}'))
    assert session.at[-1] == 1_250_000


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"null", "not a line of a capture"),
        (b"[]", "not a line of a capture"),
        (b"42", "not a line of a capture"),
        (b'"x"', "not a line of a capture"),
        (b"{}", "not a line of a capture"),
        (b'{"type":null}', "not a line of a capture"),
        (b'{"dir":"up","frame":{}}', "not a line of a capture"),
        (b'{"dir":"in"}', "not a line of a capture"),
        (b'{"t":3,"dir":"out","fra', "Unterminated string"),
        (b"\xff\xfe\x00", "not UTF-8 at byte 0"),
    ],
)
def test_every_damaged_line_leaves_a_mark_where_it_stood(line: bytes, reason: str) -> None:
    """R031, R035: at the start, in the middle and at the end; all other lines are there."""
    before = f'{{"t":2,"dir":"in","frame":{prompt(7)}}}'
    after = f'{{"t":3,"dir":"in","frame":{prompt(8)}}}'
    capture = capture_of(line + b"\n" + file(before, line, after, line))
    assert [skipped.number for skipped in capture.skipped] == [1, 6, 8]
    assert {skipped.size for skipped in capture.skipped} == {len(line)}
    assert all(skipped.reason.startswith(reason) for skipped in capture.skipped)
    session, gateway = capture.sessions
    types = [event.type for event in session.events[2:]]
    assert types == ["prompt.submitted", "log.gap", "prompt.submitted", "log.gap"]
    assert [event.type for event in gateway.events] == ["log.gap"]
    gap = codec.loads(session.events[3].payload)
    assert gap["lost"] == 1
    assert gap["size"] == len(line)
    assert gap["reason"].startswith("line 6 of the imported file")


def test_a_damaged_line_is_not_quoted() -> None:
    """Design §1, rule 7: half a frame may hold a whole secret."""
    capture = capture_of(file('{"dir":"in","frame":{"result":{"value":"hunter2"}'))
    assert b"hunter2" not in b"".join(capture.sessions[0].lines)


def test_empty_lines_are_told_and_lose_nothing() -> None:
    """R035: they are in the report, and no gap is claimed."""
    capture = capture_of(file("", " \t\r"))
    assert capture.skipped == [Skipped(4, "an empty line"), Skipped(5, "an empty line")]
    assert len(capture.sessions[0].events) == 2


def test_notes_of_whoever_made_the_capture_are_counted() -> None:
    """They are no frames."""
    capture = capture_of(file('{"t":2,"dir":"meta","frame":{"note":"x"}}'))
    assert (capture.frames, capture.notes) == (3, 1)


def test_a_line_that_was_no_json_is_kept_as_it_went_over_the_wire() -> None:
    """`_raw` stands for text that could not be written as a frame."""
    capture = capture_of(file('{"t":2,"dir":"out","frame":{"_raw":"Welcome!"}}'))
    assert capture.sessions[0].events[-1].payload == b'{"text":"Welcome!"}'


@pytest.mark.parametrize("data", [b"", b"\n\n", b"hello\n", b'{"dir":"meta","frame":{}}\n'])
def test_a_file_without_a_frame_is_no_capture(data: bytes) -> None:
    """It is refused, not read as an empty session."""
    with pytest.raises(Malformed):
        read_capture(data)


def test_the_kind_is_told_by_the_frames(captures: Path) -> None:
    """Not by the name: a recording of Hermes's ACP adapter is ACP."""
    adapter = (captures / "hermes" / "18_acp_adapter.jsonl").read_bytes()
    gateway = (captures / "hermes" / "02_unicode_reasoning.jsonl").read_bytes()
    assert (capture_of(adapter).kind, capture_of(gateway).kind) == ("acp", "hermes")


def test_a_byte_order_mark_and_windows_line_ends_are_no_damage() -> None:
    """The frames are the same."""
    data = file(f'{{"t":2,"dir":"in","frame":{prompt(7)}}}')
    other = capture_of(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert other.skipped == []
    assert len(other.sessions[0].events) == 3


def test_a_capture_can_continue_a_session() -> None:
    """Numbers go on behind the head, and so do references to them."""
    finished = '{"id":7,"result":{"stopReason":"end_turn"}}'
    data = file(
        f'{{"t":2,"dir":"in","frame":{prompt(7)}}}', f'{{"t":3,"dir":"out","frame":{finished}}}'
    )
    (session,) = capture_of(data, into=SessionId("mine"), start=40).sessions
    assert session.id == "mine"
    assert [parse(text)["seq"] for text in session.lines] == [41, 42, 43, 44]
    assert codec.loads(session.events[-1].payload)["prompt"] == 43


SMALL = file(*(f'{{"t":2,"dir":"in","frame":{prompt(number)}}}' for number in range(5)))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.binary(max_size=3)), max_size=6))
def test_whatever_is_done_to_a_file_every_line_is_accounted_for(
    damage: list[tuple[int, bytes]],
) -> None:
    """R031, R035: a frame, a note, or skipped with its number; never a traceback."""
    data = SMALL
    for position, put in damage:
        data = data[:position] + put + data[position + 1 :]
    try:
        capture = capture_of(data)
    except Malformed:
        return  # nothing of it was left
    lines = data.removesuffix(b"\n").count(b"\n") + 1
    assert capture.frames + capture.notes + len(capture.skipped) == lines
    gaps = [
        event for session in capture.sessions for event in session.events if event.type == "log.gap"
    ]
    assert len(gaps) == sum(skipped.size > 0 for skipped in capture.skipped)


def test_the_second_process_of_a_capture_finds_its_session_again(captures: Path) -> None:
    """R121: session/load replays what this file has recorded before: counted, not doubled."""
    capture = capture_of((captures / "hermes" / "18_acp_adapter.jsonl").read_bytes())
    (session,) = capture.sessions
    types = [event.type for event in session.events]
    assert types.count("session.opened") == 2
    assert types.count("agent.exited") == 1
    texts = [event.payload for event in session.events if b'"user_message_chunk"' in event.payload]
    assert texts == []
    assert capture.unrecorded[Unrecorded.REPLAYED] == 38
