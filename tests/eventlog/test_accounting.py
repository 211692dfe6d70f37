"""No frame of a real recording is lost: each is an event, or has a reviewed reason not to be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eventlog import ImportedSession, capture_of, codec, parse, read_capture
from eventlog.recorders import Unrecorded
from tests.eventlog.accounting import CAPTURES, REVIEWED, account

Json = dict[str, Any]

FILES = sorted(CAPTURES.glob("*/*.jsonl"))
ADAPTER = "18_acp_adapter"
ACP = [path for path in FILES if path.parent.name == "acp" or path.stem == ADAPTER]
HERMES = [path for path in FILES if path not in ACP]


def frames(path: Path) -> Iterator[Json]:
    """Yield the lines of a capture that hold frames, read by nothing that is under test."""
    for text in path.read_text().splitlines():
        value = codec.loads(text)
        if value["dir"] != "meta":
            yield value


def named(path: Path) -> str:
    """Return the name of a test's case."""
    return path.stem


def test_what_became_of_every_frame_is_what_was_reviewed() -> None:
    """The table in `accounting.txt`: each kind of frame, what it became, how often, or why not."""
    table, _ = account()
    assert table == REVIEWED.read_text(), "see tests/eventlog/accounting.py; review what changed"


def test_every_frame_is_accounted_for() -> None:
    """Of each of the 61 files: frames = those that made events + those with a reason."""
    _, totals = account()
    assert len(totals) == len(FILES) == 61
    for path in FILES:
        found, recorded, reasons = totals[f"{path.parent.name}/{path.name}"]
        assert found == recorded + sum(reasons.values()) == len(list(frames(path)))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_capture_gives_the_same_bytes_every_time(path: Path) -> None:
    """Importing is deterministic, and every line is one line of JSON that reads back."""
    data = path.read_bytes()
    first = [(session.id, session.lines) for session in read_capture(data)]
    assert first == [(session.id, session.lines) for session in read_capture(data)]
    for _, lines in first:
        assert [parse(text)["seq"] for text in lines] == list(range(1, len(lines) + 1))
        assert not any(b"\n" in text for text in lines)


@pytest.mark.parametrize("path", ACP, ids=named)
def test_every_update_of_an_agent_stands_in_its_session_verbatim_and_in_order(path: Path) -> None:
    """P-36: held or not; but for replays of what is there already, which are counted."""
    sent: defaultdict[str, list[Json]] = defaultdict(list)
    for line in frames(path):
        if line["frame"].get("method") == "session/update":
            params = line["frame"]["params"]
            sent[params["sessionId"]].append(params["update"])
    capture = capture_of(path.read_bytes())
    kept = {alias_of(session): updates_of(session) for session in capture.sessions}
    assert sent.keys() <= kept.keys()
    missing = 0
    for id_, updates in kept.items():
        told = sent.get(id_ or "", [])
        assert is_within(updates, told)
        missing += len(told) - len(updates)
    assert missing == capture.unrecorded[Unrecorded.REPLAYED] == dropped_of(capture.sessions)


@pytest.mark.parametrize("path", HERMES, ids=named)
def test_every_numbered_event_of_a_gateway_stands_in_its_session_once_and_in_order(
    path: Path,
) -> None:
    """P-35, P-39: live or from a catch-up, on whichever socket it came first."""
    sent: dict[tuple[str, int], Json] = {}
    for line in frames(path):
        frame = line["frame"]
        caught_up = frame["result"]["events"] if "latest_seq" in frame.get("result", {}) else []
        live = [frame["params"]] if frame.get("method") == "event" else []
        for params in [*live, *caught_up]:
            if "seq" in params:
                sent.setdefault((params["session_id"], params["seq"]), params)
    kept: defaultdict[str, list[int]] = defaultdict(list)
    for session in read_capture(path.read_bytes()):
        for envelope in map(parse, session.lines):
            if origin := envelope.get("origin"):
                runtime, seq = origin.split(".")[1].split(":")
                params = sent.pop((runtime, int(seq)))
                assert envelope["type"] == params["type"]
                assert envelope["payload"] == params.get("payload", {})
                kept[runtime].append(int(seq))
    assert sent == {}
    assert all(seqs == sorted(seqs) for seqs in kept.values())


def alias_of(session: ImportedSession) -> str | None:
    """Return the agent's id of a session."""
    for event in session.events:
        if event.type == "session.alias":
            id_: str = codec.loads(event.payload)["id"]
            return id_
    return None


def updates_of(session: ImportedSession) -> list[Json]:
    """Return the updates that were recorded of a session."""
    return [
        codec.loads(event.payload)["update"]
        for event in session.events
        if event.type == "acp.session_update"
    ]


def dropped_of(sessions: list[ImportedSession]) -> int:
    """Return how many updates the sessions say were dropped."""
    payloads = [
        codec.loads(event.payload)
        for session in sessions
        for event in session.events
        if event.type == "acp.replay"
    ]
    return sum(payload.get("dropped", {}).get("count", 0) for payload in payloads)


def is_within(part: list[Json], whole: list[Json]) -> bool:
    """Whether *part* is *whole* with some left out."""
    rest = iter(whole)
    return all(any(item == other for other in rest) for item in part)
