"""Parts of a session: up to a point, from a point, some turns, what is only counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import parse, read_capture
from replay import TIMELINE, TextOptions, Transcript, fold, render_text
from replay.errors import NoSuchPoint
from replay.part import Part, take
from replay.points import Point, point_of
from replay.selection import Selection


def _lines(captures: Path, name: str = "acp/claude049-tools") -> list[bytes]:
    session, *_ = read_capture((captures / f"{name}.jsonl").read_bytes())
    return list(session.lines)


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("12", Point("12", seq=12)),
        ("turn:2", Point("turn:2", turn=2)),
        ("+90", Point("+90", offset=90_000_000)),
        ("+1.5m", Point("+1.5m", offset=90_000_000)),
        ("1970-01-01T00:00:02Z", Point("1970-01-01T00:00:02Z", moment=2_000_000)),
        ("1970-01-01 01:00:02+01:00", Point("1970-01-01 01:00:02+01:00", moment=2_000_000)),
        ("1970-01-02", Point("1970-01-02", moment=86_400_000_000)),
    ],
)
def test_a_point_is_an_event_a_turn_or_a_time(text: str, point: Point) -> None:
    """Render, "time travel": `--until SEQ|TIME|turn:N`; times are UTC."""
    assert point_of(text) == point


@pytest.mark.parametrize("text", ["", "x", "-1", "+", "turn:", "turn:x", "1.5", "٣", "+1d"])
def test_what_names_no_point_is_refused(text: str) -> None:
    """Cli: exit 2, in words that say what would do."""
    with pytest.raises(NoSuchPoint, match="turn:N"):
        point_of(text)


def test_the_state_at_a_point_is_the_fold_of_what_comes_before(captures: Path) -> None:
    """R169: at every number it is the fold of the first N lines; a time is a number, too."""
    lines = _lines(captures)
    for seq in range(1, len(lines) + 1, 7):
        expected = fold(Transcript(session="s"), map(parse, lines[:seq]))
        taken = take("s", lines, Part(until=Point("", seq=seq)))
        assert taken.transcript == expected
        assert taken.cut is (seq < len(lines))
    moment = parse(lines[40])["ts"]
    by_time = take("s", lines, Part(until=Point("", moment=moment))).transcript
    assert by_time == fold(Transcript(session="s"), map(parse, lines[: by_time.seq]))
    assert parse(lines[by_time.seq])["ts"] > moment


def test_the_end_of_a_turn_is_before_the_next_one_starts(captures: Path) -> None:
    """R169: `turn:1` has all of the first turn and nothing of the second."""
    lines = _lines(captures)
    taken = take("s", lines, Part(until=point_of("turn:1"), lines=True))

    assert [turn.outcome for turn in taken.transcript.turns] == ["complete"]
    assert b'"prompt.submitted"' in lines[len(taken.lines)]
    with pytest.raises(NoSuchPoint, match="has 2 turns"):
        take("s", lines, Part(until=point_of("turn:3")))


def test_the_lines_of_some_turns_are_those_turns(captures: Path) -> None:
    """R165: `-f jsonl --turn 2` and `--from` give the log's own lines, and only those."""
    lines = _lines(captures)
    second = take("s", lines, Part(wanted=Selection(turn=-1), lines=True)).lines
    first = take("s", lines, Part(wanted=Selection(turn=1), lines=True)).lines

    assert b'"prompt.submitted"' in second[0]
    assert [*first, *second] == lines[len(lines) - len(first) - len(second) :]
    assert (
        take("s", lines, Part(wanted=Selection(begin=point_of("40")), lines=True)).lines
        == lines[39:]
    )


def test_what_is_only_counted_can_be_lines(captures: Path) -> None:
    """Cli, `--all`: as many lines as records were counted, in their places; then none is."""
    lines = _lines(captures, "hermes/04_todo_plan")
    plain = take("s", lines, Part()).transcript
    told = take("s", lines, Part(counted=True)).transcript
    added = [entry for entry in told.entries if entry not in plain.entries]

    assert sum(plain.ephemeral.values()) == len(added) > 0
    assert not told.ephemeral
    assert [entry.first for entry in told.entries] == sorted(entry.first for entry in told.entries)
    assert "~ tool.generating" in render_text(told)


def test_a_timeline_has_a_line_for_each_record(captures: Path) -> None:
    """Render rule 8: seq, offset, type, short payload; within the width, without control bytes."""
    lines = _lines(captures)
    taken = take("s", lines, Part(records=True))
    text = render_text(taken.transcript, TextOptions(profile=TIMELINE))
    rows = text.splitlines()[4:]
    assert "2 turns · 150 events" in text

    assert [int(row[:6]) for row in rows] == list(range(1, len(lines) + 1))
    assert {row[8:17].strip()[0] for row in rows} == {"+"}
    assert rows[0][19:].startswith("session.opened")
    assert any("agent_message_chunk" in row for row in rows)
    assert max(map(len, rows)) <= 80
