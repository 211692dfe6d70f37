"""A transcript as JSON and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from eventlog import Envelope
from replay import (
    EMPTY,
    FOLD_VERSION,
    NotATranscript,
    OtherFoldVersion,
    digest,
    dump,
    fold,
    load,
    schema,
)
from tests.replay.records import Log
from tests.replay.streams import streams


@settings(max_examples=60, deadline=None)
@given(streams())
def test_json_text_holds_a_transcript_exactly(records: list[Envelope]) -> None:
    """F-L2: through JSON text, halves of characters and all, it comes back equal."""
    transcript = fold(EMPTY, records)

    assert load(json.loads(json.dumps(dump(transcript)))) == transcript


def test_a_large_integer_and_a_half_character_come_back() -> None:
    """R150: what the codec keeps, a dumped transcript keeps."""
    log = Log()
    log.says("half \ud83d")
    log.add("future.thing", big=10**40)
    transcript = log.folded()

    assert load(dump(transcript)) == transcript


def test_a_dump_says_which_fold_made_it() -> None:
    """A reader with another version of the fold does not go on from it: it folds anew."""
    assert dump(EMPTY)["fold_version"] == FOLD_VERSION
    with pytest.raises(OtherFoldVersion, match="made by fold version 0, this is 3"):
        load({**dump(EMPTY), "fold_version": 0})
    with pytest.raises(OtherFoldVersion, match="version None"):
        load({})


def test_what_is_no_transcript_is_refused_by_place() -> None:
    """The error names the member that is wrong."""
    with pytest.raises(NotATranscript, match=r"not a transcript: seq: .*integer"):
        load({**dump(EMPTY), "seq": "x"})
    entry = {**dump(Log().folded()), "entries": [{"kind": "nonsense"}]}
    with pytest.raises(NotATranscript, match=r"entries\.0"):
        load(entry)


def test_the_form_of_a_dump_is_described() -> None:
    """Others can check a dump by a JSON schema: every member it has is in it."""
    described = schema()

    assert set(described["properties"]) == set(dump(EMPTY))
    assert {"User", "Agent", "Tool", "Ask"} <= set(described["$defs"])


def test_half_a_character_in_the_name_of_a_member_is_kept() -> None:
    """F-L2, F-L8: what an agent calls the members of an input cannot keep a session from being dumped."""
    log = Log()
    log.prompt()
    log.call(rawInput={"\ud83d": ["\ude80", {"a": 1}]})
    transcript = log.folded()
    dumped = json.loads(json.dumps(dump(transcript)))

    assert load(dumped) == transcript
    assert dumped["entries"][1]["input"] == {"\ud83d": ["\ude80", {"a": 1}]}
    assert digest(transcript) == digest(load(dumped))
