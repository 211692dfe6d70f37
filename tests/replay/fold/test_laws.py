"""The fold's laws over generated sessions; `test_captures` has them over recorded ones."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Envelope, Seq
from replay import EMPTY, Agent, Fold, Transcript, Unknown, digest, dump, fold, load
from replay.fold.acp import UPDATES
from replay.fold.fold import STEPS
from tests.replay.records import Log, only
from tests.replay.streams import JSON, WORDS, halves, numbered, rechunked, said, streams

RECORDS = streams()
EXAMPLES = settings(max_examples=60, deadline=None)
TYPES = [*sorted(STEPS), *["acp.session_update"] * 30]
"""What a payload may be of; updates have as many types of their own."""


def without_diag(transcript: Transcript) -> dict[str, Any]:
    return {key: value for key, value in dump(transcript).items() if key != "diag"}


@EXAMPLES
@given(RECORDS)
def test_a_fold_changes_nothing_it_was_given(records: list[Envelope]) -> None:
    """F-L1: neither the records nor the transcript to go on from are touched."""
    half = len(records) // 2
    before = copy.deepcopy(records)
    start = fold(EMPTY, records[:half])
    kept = dump(start)
    fold(start, records[half:])

    assert records == before
    assert dump(start) == kept


@EXAMPLES
@given(RECORDS, st.data())
def test_a_fold_goes_on_from_its_dump(records: list[Envelope], data: st.DataObject) -> None:
    """F-L2: cut anywhere, dumped, loaded and continued, it gives the same transcript."""
    at = data.draw(st.integers(0, len(records)))
    whole = fold(EMPTY, records)

    assert fold(load(dump(fold(EMPTY, records[:at]))), records[at:]) == whole


@EXAMPLES
@given(RECORDS)
def test_taking_a_transcript_changes_nothing(records: list[Envelope]) -> None:
    """F-L2: a live client that looks after each record sees what a reader of the log sees."""
    folding = Fold()
    for record in records:
        folding.apply(record)
        seen = folding.transcript()
        assert seen == fold(EMPTY, records[: record["seq"]])


@EXAMPLES
@given(RECORDS, st.randoms(use_true_random=False))
def test_records_that_come_again_change_nothing(records: list[Envelope], random: Any) -> None:
    """F-L3; R062: fold(xs) equals fold(xs with random duplicates), but for `diag`."""
    doubled = []
    for at, record in enumerate(records):
        doubled.append(record)
        while random.random() < 0.4:
            doubled.append(records[random.randrange(at + 1)])

    assert without_diag(fold(EMPTY, doubled)) == without_diag(fold(EMPTY, records))


def test_a_duplicate_and_a_conflict_are_told_apart() -> None:
    """F-L3: equal is a duplicate, different a conflict, and the first wins."""
    log = Log()
    log.says("one")
    log.says("two")
    other = Envelope(seq=Seq(1), ts=5, type="message.delta", payload={"text": "zwei"})
    transcript = fold(EMPTY, [*log.records, log.records[0], log.records[0], other])

    assert only(transcript, Agent).text == "onetwo"
    assert [(diagnosis.problem, diagnosis.times) for diagnosis in transcript.diag] == [
        ("duplicate", 2),
        ("conflict: the first record of that number counts", 1),
    ]


@EXAMPLES
@given(RECORDS)
def test_entries_keep_their_ids_and_places(records: list[Envelope]) -> None:
    """F-L4; R007: live, caught up or read from a file, an entry's id, kind and place are one."""
    folding = Fold()
    names: list[tuple[str, str, int, int | None]] = []
    for record in records:
        folding.apply(record)
        now = folding.transcript().entries
        assert [(e.id, e.kind, e.first, e.turn) for e in now[: len(names)]] == names
        names = [(e.id, e.kind, e.first, e.turn) for e in now]
    assert len({name for name, *_ in names}) == len(names)


@EXAMPLES
@given(RECORDS, st.randoms(use_true_random=False))
def test_the_cutting_of_text_into_chunks_does_not_matter(
    records: list[Envelope], random: Any
) -> None:
    """F-L5; R100: however chunks are cut, even inside a character, words and order are the same."""

    def cut(text: str) -> list[str]:
        pieces = [""]
        for unit in halves(text):
            pieces[-1] += unit
            if random.random() < 0.5:
                pieces.append("")
        return pieces

    assert said(fold(EMPTY, rechunked(records, cut))) == said(fold(EMPTY, records))


@EXAMPLES
@given(RECORDS, st.data())
def test_an_unknown_type_is_an_entry_and_nothing_else(
    records: list[Envelope], data: st.DataObject
) -> None:
    """F-L6; R103: anywhere in a session it is shown whole, and everything else is as without it."""
    at = data.draw(st.integers(0, len(records)))
    payload = data.draw(st.dictionaries(WORDS, JSON, max_size=2))
    events = [(record["type"], record["payload"]) for record in records]

    def inserted(type_: str) -> Transcript:
        shifted = [
            (kind, {**told, "prompt": told["prompt"] + (told["prompt"] > at)})
            if "prompt" in told
            else (kind, told)
            for kind, told in events
        ]
        return fold(EMPTY, numbered([*shifted[:at], (type_, payload), *shifted[at:]]))

    counted, shown = inserted("agent.noise"), inserted("future.thing")
    others = [entry for entry in shown.entries if entry.id != f"e{at + 1}"]
    (unknown,) = [entry for entry in shown.entries if entry.id == f"e{at + 1}"]
    assert isinstance(unknown, Unknown)
    assert (unknown.type, unknown.payload, unknown.problem) == ("future.thing", payload, None)
    assert tuple(others) == counted.entries
    assert (shown.turns, shown.terminals) == (counted.turns, counted.terminals)


@EXAMPLES
@given(st.lists(st.text(max_size=20), max_size=6))
def test_text_is_kept_raw(parts: list[str]) -> None:
    """F-L7: escapes, controls and white space come out as they went in."""
    log = Log()
    for part in parts:
        log.says(part)

    assert "".join(e.text for e in log.folded().entries if isinstance(e, Agent)) == "".join(parts)


@settings(max_examples=400, deadline=None)
@given(streams(max_size=12), st.sampled_from(TYPES), st.data())
def test_no_payload_of_a_known_type_breaks_the_fold(
    records: list[Envelope], type_: str, data: st.DataObject
) -> None:
    """F-L8: it never throws; a payload that breaks its own rule is shown and changes nothing."""
    payload = data.draw(payloads(type_))
    before = fold(EMPTY, records)
    now = records[-1]["ts"] if records else 0
    bad = Envelope(seq=Seq(len(records) + 1), ts=now, type=type_, payload=payload)
    after = fold(before, [bad])

    (*_, last) = (None, *after.entries)
    if isinstance(last, Unknown) and last.first == bad["seq"] and last.problem:
        assert last.payload == payload
        assert after.entries[:-1] == before.entries
        assert (after.turns, after.terminals) == (before.turns, before.terminals)
        assert (after.state, after.ephemeral) == (before.state, before.ephemeral)
    assert load(dump(after)) == after


NAMES = [
    "update",
    "text",
    "content",
    "title",
    "status",
    "kind",
    "id",
    "method",
    "params",
    "result",
    "error",
    "by",
    "reason",
    "prompt",
    "toolCallId",
    "messageId",
    "entries",
    "todos",
    "plan",
    "planId",
    "rawInput",
    "rawOutput",
    "locations",
    "_meta",
    "name",
    "tool_id",
    "args",
    "labels",
    "key",
    "level",
    "message",
    "question_id",
    "answer",
    "questions",
    "options",
    "sessionUpdate",
    "agent",
    "source",
    "modes",
    "models",
    "config_options",
    "configOptions",
    "terminalId",
    "data",
    "state",
    "usage",
    "running",
    "to_seq",
    "from",
    "lost",
    "dropped",
    "count",
    "code",
    "signal",
    "subagent_id",
    "goal",
    "task_index",
    "process_id",
    "chunk",
]
VALUES = JSON | st.sampled_from(
    [
        "completed",
        {"type": "text", "text": "x"},
        [{"type": "content", "content": {"type": "text", "text": "x"}}],
        {"stopReason": "end_turn"},
        {"outcome": {"outcome": "selected", "optionId": "yes"}},
        {"toolCallId": "t1"},
        "session/request_permission",
        "clarify",
        "srq-1",
        "t1",
        1,
    ]
)
PAYLOADS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)


def payloads(type_: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return payloads that are nearly right: known members with values of any shape."""
    if type_ != "acp.session_update":
        return PAYLOADS
    kinds = st.sampled_from(sorted(UPDATES))
    updates = st.builds(lambda kind, told: {**told, "sessionUpdate": kind}, kinds, PAYLOADS)
    return st.fixed_dictionaries({"update": updates}) | PAYLOADS


@EXAMPLES
@given(RECORDS)
def test_equal_transcripts_have_equal_digests(records: list[Envelope]) -> None:
    """P-26: the digest of a resumed fold is that of the whole one, whatever came twice."""
    half = len(records) // 2
    resumed = fold(load(dump(fold(EMPTY, records[:half]))), records[:half] + records[half:])

    assert digest(resumed) == digest(fold(EMPTY, records))
