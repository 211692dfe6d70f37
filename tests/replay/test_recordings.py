"""Sessions in files: cassettes, captures, lines alone; and what is damaged in them (R031, R033, R035)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from eventlog import parse
from replay import Gap, Transcript, fold
from replay.errors import ForeignFile, NothingToReplay
from replay.recordings import Recordings, holds_no_session, read_recordings
from replay.render import SNAPSHOT, TextOptions, render_text

WriteCassette = Callable[..., Path]


def _lines(held: Recordings) -> list[bytes]:
    return list(held.sessions[0].lines)


def _text(lines: Iterable[bytes]) -> str:
    transcript = fold(Transcript(), map(parse, lines))
    return render_text(transcript, TextOptions(profile=SNAPSHOT))


def test_a_capture_a_cassette_and_bare_lines_give_the_same_session(
    captures: Path, cassette: WriteCassette
) -> None:
    """R092: however a session lies in a file, the same lines come out of it."""
    capture = read_recordings((captures / "acp/claude049-reject.jsonl").read_bytes(), "c.jsonl")
    packed = read_recordings(cassette().read_bytes(), "c.jsonl")
    bare = read_recordings(b"\n".join(_lines(capture)), "bare lines.jsonl")

    assert _lines(packed) == _lines(capture) == _lines(bare)
    assert packed.sessions[0].id == capture.sessions[0].id
    assert bare.sessions[0].id == "bare-lines.jsonl"
    assert [*capture.flaws, *packed.flaws, *bare.flaws] == []


def test_several_sessions_come_in_order(captures: Path) -> None:
    """Cli: a file that holds several sessions gives all of them; what has no session, last."""
    held = read_recordings((captures / "hermes/15_two_sessions.jsonl").read_bytes(), "x")

    assert [one.id[-2:] for one in held.sessions] == ["-1", "-2", "-0"]
    assert [holds_no_session(one.id) for one in held.sessions] == [False, False, True]


@pytest.mark.parametrize("at", [1, 20, -1], ids=["first", "middle", "last"])
@pytest.mark.parametrize(
    "junk",
    [
        b'{"seq":20,"ts":1,"type":"message.de',
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b"42",
        b'"x"',
        b"{}",
        b'{"type":null}',
        b'{"type":5}',
        b'{"seq":"7"}',
        b"x" * 100_000,
    ],
)
def test_a_damaged_line_is_named_and_the_rest_is_read(
    cassette: WriteCassette, at: int, junk: bytes
) -> None:
    """R031, R035: every other line is folded; the bad one is told, and shown where it was."""
    place = at

    def spoil(lines: list[bytes]) -> None:
        lines[place] = junk

    path = cassette(change=spoil)
    total = len(path.read_bytes().splitlines()) - 1
    held = read_recordings(path.read_bytes(), path.name)
    number = place + 1 if place > 0 else total + 1

    assert [(flaw.line, flaw.size) for flaw in held.flaws] == [(number, len(junk))]
    lines = _lines(held)
    assert [parse(line)["seq"] for line in lines] == list(range(1, total + 1))
    assert sum(parse(line)["type"] == "log.gap" for line in lines) == 1
    assert f"1 event lost · line {number}: " in " ".join(_text(lines).split()).replace("≠ gap ", "")


def test_a_file_cut_anywhere_in_its_last_line_keeps_all_the_others(cassette: WriteCassette) -> None:
    """R033: a torn tail is dropped and told; nothing is merged with it."""
    data = cassette().read_bytes()
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    whole = read_recordings(data, "x")
    for cut in range(last, len(data) - 1, 7):
        held = read_recordings(data[:cut], "x")

        assert _lines(held)[: len(_lines(whole)) - 1] == _lines(whole)[:-1]
        assert held.flaws


def test_missing_lines_leave_a_gap(cassette: WriteCassette) -> None:
    """F "gap": numbers that are not there are told, with how many."""

    def cut(lines: list[bytes]) -> None:
        del lines[5:8]

    held = read_recordings(cassette(change=cut).read_bytes(), "x")
    gaps = [e for e in fold(Transcript(), map(parse, _lines(held))).entries if isinstance(e, Gap)]

    assert [(gap.lost, gap.begin, gap.end) for gap in gaps] == [(3, 5, 7)]
    assert held.flaws


def test_a_record_that_comes_again_is_told_and_counts_once(cassette: WriteCassette) -> None:
    """R033: the same record twice with the torn copy before it."""

    def double(lines: list[bytes]) -> None:
        lines[4:5] = [lines[4][:30], lines[4], lines[4]]

    held = read_recordings(cassette(change=double).read_bytes(), "x")
    whole = read_recordings(cassette().read_bytes(), "x")

    assert _lines(held) == _lines(whole)
    assert [flaw.line for flaw in held.flaws] == [5, 7]


def test_damaged_lines_of_a_capture_are_told(captures: Path) -> None:
    """R031: a capture with a bad line is shown without it, with a mark where it was."""
    lines = (captures / "acp/claude049-reject.jsonl").read_bytes().splitlines()
    lines[10] = b'{"t": 1, "dir": "out", "fra'
    held = read_recordings(b"\n".join(lines), "x")

    assert [(flaw.line, flaw.size) for flaw in held.flaws] == [(11, 27)]
    assert "≠ gap" in _text(_lines(held))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"  \n"])
def test_an_empty_file_holds_no_session(data: bytes) -> None:
    """Bad input: an empty file is said to be empty."""
    with pytest.raises(NothingToReplay, match="is empty"):
        read_recordings(data, "x")


@pytest.mark.parametrize(
    "data",
    [
        b"root:x:0:0:root:/root:/bin/bash\n",
        b"{}\n[]\n",
        b"\x00\x01\x02" * 50,
        b"%PDF-1.7\n\xff\xff\n",
    ],
)
def test_a_foreign_file_is_refused_without_showing_it(data: bytes) -> None:
    """Bad input: a file that is something else is named, and none of its content."""
    with pytest.raises(ForeignFile) as refusal:
        read_recordings(data, "x")

    assert str(refusal.value) == (
        "x is neither a cassette nor a capture: no line of it is an event or a frame"
    )


def test_a_database_is_pointed_to_its_option() -> None:
    """Bad input: a log given as a session says which option takes it."""
    with pytest.raises(ForeignFile, match="name a log with --log"):
        read_recordings(b"SQLite format 3\x00" + b"\x00" * 100, "events.db")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(cassette: WriteCassette) -> None:
    """R119: files that went through other systems are read."""
    data = cassette().read_bytes()
    other = b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    held = read_recordings(other, "x")

    assert _lines(held) == _lines(read_recordings(data, "x"))
    assert not held.flaws


def test_records_of_every_age_are_read_by_this_version() -> None:
    """R019: members that came later have defaults, those that are yet to come are kept, an older
    name of a type is read as its newer one, and no line is rewritten."""
    lines = [
        b'{"seq":1,"ts":1,"type":"user_message","payload":{"text":"An import of old."}}',
        b'{"seq":2,"ts":2,"type":"prompt.finished","payload":{"prompt":1}}',
        b'{"seq":3,"ts":3,"type":"prompt.submitted","payload":{"content":[{"type":"text","text":"Now."}],"mood":"good"},"later":[1]}',
        b'{"seq":4,"ts":4,"type":"prompt.finished","payload":{"prompt":3,"result":{"stopReason":"end_turn","why":{}}}}',
        b'{"seq":5,"ts":5,"type":"of.tomorrow","payload":{"x":1}}',
    ]
    held = read_recordings(b"\n".join(lines) + b"\n", "aged.jsonl")
    transcript = fold(Transcript(), map(parse, held.sessions[0].lines))

    assert list(held.sessions[0].lines) == lines
    assert not held.flaws
    assert [(entry.kind, getattr(entry, "text", None)) for entry in transcript.entries] == [
        ("user", "An import of old."), ("user", "Now."), ("unknown", None),
    ]  # fmt: skip
    assert [turn.outcome for turn in transcript.turns] == ["complete", "complete"]
