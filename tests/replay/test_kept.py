"""A kept state, read whole or from its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Envelope, Event, LogReader, SessionId, open_log, parse, read_capture
from replay import EMPTY, KIND, Fold, Transcript, checkpoint_of, fold
from replay.fold.older import Elsewhere
from replay.kept import Ending, read_end, read_whole, written
from replay.part import Part
from replay.points import point_of
from replay.reading import take_log
from replay.selection import Selection
from tests.replay.records import Log
from tests.replay.streams import streams

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")
CAPTURES = sorted((Path(__file__).parents[1] / "captures").glob("*/*.jsonl"))


def agrees(end: Ending, rest: list[Envelope], at: Transcript, whole: Transcript) -> bool | None:
    """Hold a fold that goes on from an end to the *whole* one; None if it asks for the whole."""
    missing = len(at.entries) - len(end.transcript.entries)
    try:
        folding = Fold(end.transcript, end.older)
        for record in rest:
            folding.apply(record)
    except Elsewhere:
        return None
    found = folding.transcript()
    assert found.entries == whole.entries[missing:]
    plain = replace(found, entries=(), state={}) == replace(whole, entries=(), state={})
    tail = whole.state.get("tail")
    moved = {**whole.state} if tail is None else {**whole.state, "tail": tail - missing}
    return plain and found.state == moved


@settings(max_examples=80, deadline=None)
@given(streams(), st.data())
def test_going_on_from_an_end_gives_the_end_of_the_whole(
    records: list[Envelope], data: st.DataObject
) -> None:
    """F-L2, S-14: wherever it was kept, however little is read, no entry differs."""
    cut = data.draw(st.integers(0, len(records)))
    at, whole = fold(EMPTY, records[:cut]), fold(EMPTY, records)
    body = written(at, block=data.draw(st.sampled_from([1, 2, 5])))

    assert read_whole(body).transcript == at
    end = read_end(body, data.draw(st.integers(1, 3)))
    assert agrees(end, records[cut:], at, whole) in {True, None}


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_the_end_of_every_recording_goes_on(path: Path) -> None:
    """S-14: the same for what was recorded, kept at its thirds; most of it needs no more."""
    for session in read_capture(path.read_bytes()):
        records = [parse(line) for line in session.lines]
        whole = fold(EMPTY, records)
        for cut in (len(records) // 3, 2 * len(records) // 3, len(records)):
            at = fold(EMPTY, records[:cut])
            end = read_end(written(at, block=1), 1)
            assert agrees(end, records[cut:], at, whole) in (
                {True} if cut == len(records) else {True, None}
            )


def long_talk(turns: int) -> Log:
    """Return a session of that many turns, a tool in each, the same notice over and over."""
    log = Log()
    for number in range(turns):
        log.add("message.start", input=f"question {number}")
        log.add("tool.start", tool_id=f"t{number}", name="terminal", args={"command": "make"})
        log.add("tool.complete", tool_id=f"t{number}", result={"output": "x" * 50})
        log.add("message.delta", text=f"answer {number}")
        log.add("message.complete", text="", status="complete")
    return log


def test_of_many_turns_the_last_alone_is_read() -> None:
    """B-11: the end of a long session is a block, and its folding goes on without the rest."""
    transcript = long_talk(1_000).folded()
    end = read_end(checkpoint_of(transcript).body, 1)

    assert len(transcript.entries) == 3_000
    assert 3 <= len(end.transcript.entries) <= 256
    assert end.transcript.entries == transcript.entries[-len(end.transcript.entries) :]
    assert len(end.transcript.turns) == 1_000
    longer = long_talk(1_005)
    assert agrees(end, longer.records[5_000:], transcript, longer.folded()) is True


@pytest.mark.parametrize(
    "event",
    [
        Event.of("tool.complete", {"tool_id": "t3", "result": {"output": "late"}}),
        Event.of("tool.output_risk", {"tool_id": "t3", "risk": "high"}),
        Event.of("session.rewound", {"to_seq": 20}),
        Event.of("prompt.rejected", {"prompt": 6, "error": "no"}),
    ],
    ids=lambda event: event.type,
)
async def test_an_event_about_the_past_is_shown_in_the_past(event: Event, tmp_path: Path) -> None:
    """F-L2: what is folded from the end notices that it has to have the whole."""
    talk = [Event.of(one["type"], one["payload"]) for one in long_talk(300).records]
    async with open_log(tmp_path) as log:
        await log.append(SESSION, talk)
        await log.keep(SESSION, KIND, checkpoint_of(await _transcript(log)))
        await log.append(SESSION, [event])
        kept = [await _last(tmp_path, turns) for turns in (1, 2, 250)]
        await log.forget()
        afresh = [await _last(tmp_path, turns) for turns in (1, 2, 250)]

    assert kept == afresh


async def _transcript(log: LogReader) -> Transcript:
    page = await log.read(SESSION, limit=10_000)
    return fold(Transcript(session=SESSION), page.envelopes())


async def _last(folder: Path, turns: int) -> Transcript:
    part = Part(wanted=Selection(last=turns))
    return (await take_log(SESSION, part, log=str(folder))).transcript


async def test_a_point_in_the_past_is_the_past(tmp_path: Path) -> None:
    """R169: the end is read only where the end was asked for."""
    talk = [Event.of(one["type"], one["payload"]) for one in long_talk(300).records]
    async with open_log(tmp_path) as log:
        await log.append(SESSION, talk)
        await log.keep(SESSION, KIND, checkpoint_of(await _transcript(log)))
        part = Part(until=point_of("turn:3"), wanted=Selection(last=1))
        taken = (await take_log(SESSION, part, log=str(tmp_path))).transcript

    assert [turn.n for turn in taken.turns] == [3]
    assert {entry.turn for entry in taken.entries} == {3}
