"""The fold's laws over every recorded session: real agents, real gateways."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from eventlog import Envelope, parse, read_capture
from replay import EMPTY, FOLD_VERSION, Agent, Fold, Transcript, Unknown, digest, dump, fold, load
from tests.replay.streams import Event, halves, numbered, rechunked, said

CAPTURES = Path(__file__).parents[2] / "captures"
FILES = sorted(path.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*.jsonl"))


@cache
def sessions(file: str) -> list[list[Envelope]]:
    """Return the records of each session that a capture holds."""
    imported = read_capture((CAPTURES / file).read_bytes())
    return [[parse(line) for line in session.lines] for session in imported]


def seeded(file: str) -> random.Random:
    """Return chance that is the same in every run."""
    return random.Random(file)  # noqa: S311 - nothing secret comes of it


every_capture = pytest.mark.parametrize("file", FILES)


def test_all_captures_are_here() -> None:
    """R093: the laws below hold for the recordings of six agents and a gateway, 61 files."""
    assert len(FILES) == 61


@every_capture
def test_nothing_in_a_recording_is_unknown(file: str) -> None:
    """F-L6: every record of real traffic has its rule; none breaks it, none is out of order."""
    for records in sessions(file):
        transcript = fold(EMPTY, records)

        assert [entry for entry in transcript.entries if isinstance(entry, Unknown)] == []
        assert transcript.diag == ()


PINNED = Path(__file__).with_name("digests.json")

STALE = """\
The fold makes another transcript of what was recorded. If that is meant, FOLD_VERSION goes up,
and the digests are written anew:
  python -m tests.replay.fold.pinning"""


def test_the_digests_of_all_recordings_are_pinned() -> None:
    """P-26: the same numbers on every machine and version of Python; others need another version
    of the fold, or clients that hold an older transcript would not know that it is one."""
    pinned = json.loads(PINNED.read_text("utf-8"))
    found = {file: [digest(fold(EMPTY, records)) for records in sessions(file)] for file in FILES}

    assert {"fold_version": FOLD_VERSION, "digests": found} == pinned, STALE


SAYS_AGAIN = {
    "session.opened",
    "acp.session_update usage_update",
    "acp.session_update available_commands_update",
    "acp.session_update config_option_update",
    "acp.session_update current_mode_update",
    "acp.session_update agent_message_chunk",
    "acp.session_update session_info_update",
    "acp.session_update plan",
    "session.info",
    "session.title",
    "session.usage",
    "message.start",
    "message.complete",
}
"""Records that may say only what is known: state that did not change, an empty chunk or plan,
a turn that runs already."""


@every_capture
def test_every_record_of_a_recording_has_an_effect(file: str) -> None:
    """F-L6: it lands in an entry, in state, or in a count; the exceptions say what is known."""
    for records in sessions(file):
        folding = Fold()
        before = _effect(folding.transcript())
        for record in records:
            folding.apply(record)
            after = _effect(folding.transcript())
            assert after != before or _name(record) in SAYS_AGAIN, record
            before = after


def _effect(transcript: Transcript) -> tuple[Any, ...]:
    """Return everything but the number and time of the last record."""
    turns = [(turn.outcome, turn.prompts, turn.usage, turn.ended) for turn in transcript.turns]
    return (
        transcript.entries,
        turns,
        transcript.info,
        transcript.title,
        transcript.mode,
        transcript.config,
        transcript.commands,
        transcript.usage,
        transcript.terminals,
        transcript.ephemeral,
        transcript.state,
        transcript.status,
    )


def _name(record: Envelope) -> str:
    kind = record["payload"].get("update", {}).get("sessionUpdate", "")
    return f"{record['type']} {kind}".strip()


@every_capture
def test_a_recording_may_be_cut_anywhere(file: str) -> None:
    """F-L2; R092: cut, dumped, loaded and continued, it gives the same transcript."""
    for records in sessions(file):
        whole = fold(EMPTY, records)
        cuts = seeded(file).sample(range(len(records) + 1), min(12, len(records) + 1))
        for at in cuts:
            assert fold(load(dump(fold(EMPTY, records[:at]))), records[at:]) == whole


@every_capture
def test_entries_of_a_recording_keep_their_ids_and_places(file: str) -> None:
    """F-L4; R007: every prefix has the first entries of the whole, by id, kind and turn."""
    for records in sessions(file):
        folding = Fold()
        names: list[tuple[str, str, int | None]] = []
        for record in records:
            folding.apply(record)
            now = folding.transcript().entries
            assert [(e.id, e.kind, e.turn) for e in now[: len(names)]] == names
            names = [(e.id, e.kind, e.turn) for e in now]


@every_capture
def test_a_recording_that_comes_twice_is_one(file: str) -> None:
    """F-L3; R062: duplicates of any record, at any later point, change nothing but `diag`."""
    chance = seeded(file)
    for records in sessions(file):
        doubled: list[Envelope] = []
        for at, record in enumerate(records):
            doubled.append(record)
            if chance.random() < 0.3:
                doubled.append(records[chance.randrange(at + 1)])
        assert digest(fold(EMPTY, doubled)) == digest(fold(EMPTY, records))


@every_capture
def test_a_recording_cut_into_halves_of_characters_reads_the_same(file: str) -> None:
    """F-L5; R100: every text of it sent one UTF-16 unit at a time."""
    for records in sessions(file):
        assert said(fold(EMPTY, rechunked(records, halves))) == said(fold(EMPTY, records))


@every_capture
def test_unknown_records_leave_a_recording_as_it_is(file: str) -> None:
    """F-L6, F-L8; R103: unknown and malformed records between real ones change no other entry."""
    chance = seeded(file)
    bad: list[Event] = [
        ("future.thing", {"x": [1]}),
        ("acp.session_update", {"update": {"sessionUpdate": "future_thing", "deep": {"a": 1}}}),
        ("acp.session_update", {"update": {"no": "discriminator"}}),
        ("acp.session_update", {"update": {"sessionUpdate": "tool_call", "toolCallId": [1]}}),
        ("message.delta", {"text": {"not": "text"}}),
        ("request.opened", {"id": None}),
    ]
    for records in sessions(file):
        noise, tampered = _sprinkled(records, [("agent.noise", {"text": "x"})], chance), []
        for type_, payload in noise:
            wrong = chance.choice(bad) if type_ == "agent.noise" else (type_, payload)
            tampered.append(wrong)
        quiet, loud = fold(EMPTY, numbered(noise)), fold(EMPTY, numbered(tampered))
        others = tuple(entry for entry in loud.entries if not isinstance(entry, Unknown))

        assert others == quiet.entries
        assert loud.turns == quiet.turns
        assert loud.terminals == quiet.terminals


def _sprinkled(records: list[Envelope], noise: list[Event], chance: random.Random) -> list[Event]:
    """Return the events of *records* with noise between them, prompts referred to anew."""
    places: dict[int, int] = {}
    events: list[Event] = []
    for record in records:
        if chance.random() < 0.2:
            events.extend(noise)
        places[record["seq"]] = len(events) + 1
        payload = dict(record["payload"])
        if "prompt" in payload:
            payload["prompt"] = places[payload["prompt"]]
        if "to_seq" in payload:
            payload["to_seq"] = places[payload["to_seq"]]
        events.append((record["type"], payload))
    return events


def test_what_a_recording_says_is_what_was_sent() -> None:
    """F-L7: an agent's words are those of its chunks, to the last space, in all ACP recordings."""
    for file in FILES:
        for records in sessions(file):
            sent = sum(len(_chunk(record)) for record in records)
            shown = fold(EMPTY, records).entries
            told = sum(len(entry.text) for entry in shown if isinstance(entry, Agent))
            if all(record["type"] != "message.complete" for record in records):
                assert told == sent


def _chunk(record: Envelope) -> str:
    match record["payload"]:
        case {"update": {"sessionUpdate": "agent_message_chunk", "content": {"text": str(text)}}}:
            return text
    return ""


SCRIPT = """
import sys
from pathlib import Path
from eventlog import parse, read_capture
from replay import EMPTY, digest, fold
for path in sys.argv[1:]:
    for session in read_capture(Path(path).read_bytes()):
        print(digest(fold(EMPTY, [parse(line) for line in session.lines])))
"""


def test_every_process_gives_the_same_digests() -> None:
    """F-L1; P-26: whatever the hash seed, time zone and locale of the process."""
    files = [file for file in FILES if "tools" in file or file.startswith("hermes/")]
    paths = [str(CAPTURES / file) for file in files]
    outputs = set()
    for seed, zone, language in (("0", "UTC", "C"), ("1", "Asia/Tokyo", "ja_JP"), ("7", "", "")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LANG": language}
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, *paths],
            env=environment,
            cwd=CAPTURES.parents[1],
            capture_output=True,
            check=True,
        )
        outputs.add(hashlib.sha256(ran.stdout).hexdigest())
    here = [digest(fold(EMPTY, records)) for file in files for records in sessions(file)]

    assert outputs == {hashlib.sha256("".join(f"{one}\n" for one in here).encode()).hexdigest()}


def test_the_clock_orders_nothing() -> None:
    """R016, R017: the order is that of the log's numbers, whatever the clock says."""
    (records,) = [r for r in sessions("acp/claude049-tools.jsonl") if len(r) > 5]
    frozen = [Envelope(**{**record, "ts": 7}) for record in records]
    backwards = [Envelope(**{**record, "ts": 10**9 - record["seq"]}) for record in records]

    expected = said(fold(EMPTY, records))
    assert said(fold(EMPTY, frozen)) == said(fold(EMPTY, backwards)) == expected
