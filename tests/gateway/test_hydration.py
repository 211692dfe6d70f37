"""What a snapshot of an older gateway holds, told again as events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eventlog import Event, codec, line, parse
from gateway.hydration import stored_id, told
from replay import Agent, Fold, Thought, Tool, Transcript, User
from tests.gateway.old_gateway import ANSWER, PROMPT, ROWS


def folded(snapshot: dict[str, Any]) -> Transcript:
    fold = Fold()
    for seq, (when, type_, payload) in enumerate(told(snapshot), 1):
        ts = int((when or 0) * 1e6)
        fold.apply(parse(line(seq, ts, Event.of(type_, payload))))
    return fold.transcript()


def texts(transcript: Transcript) -> list[str]:
    return [one.text for one in transcript.entries if isinstance(one, User | Agent)]


def test_rows_of_a_real_gateway(captures: Path) -> None:
    """R056: each row of a recorded `session.resume` is there once, in its turn, and nothing is
    diagnosed.
    """
    lines = (captures / "hermes" / "10_restart_resume.jsonl").read_bytes().splitlines()
    snapshot = codec.loads(lines[65])["frame"]["result"]
    transcript = folded(snapshot)

    assert stored_id(snapshot) == "20261130_150834_7f82b7"
    assert texts(transcript) == [PROMPT, "Let me look at the project first.", ANSWER]
    assert sum(isinstance(one, Tool) for one in transcript.entries) == 1
    assert sum(isinstance(one, Thought) for one in transcript.entries) == 2
    assert [turn.outcome for turn in transcript.turns] == ["complete"]
    assert transcript.status == "idle"
    assert not transcript.diag


def test_turn_in_flight_of_a_real_gateway(captures: Path) -> None:
    """R056: what runs has no rows yet; `inflight` holds the prompt and the words so far."""
    lines = (captures / "hermes" / "16_ws_reconnect.jsonl").read_bytes().splitlines()
    frames = [codec.loads(line)["frame"] for line in lines]
    found = [frame["result"] for frame in frames if "inflight" in (frame.get("result") or {})]
    snapshot = found[0]
    transcript = folded(snapshot)

    assert texts(transcript) == ["tell me a long story", snapshot["inflight"]["assistant"]]
    assert transcript.status == "running"


def test_turn_in_flight_whose_first_rows_are_kept() -> None:
    """R056: a prompt that is in a row and in `inflight` was said once; so were the words before a
    tool.
    """
    said = f"{ROWS[1]['text']}\n\nThe project"
    flying = {"user": PROMPT, "assistant": said, "streaming": True}
    transcript = folded({"messages": ROWS[:3], "running": True, "inflight": flying})

    assert texts(transcript) == [PROMPT, ROWS[1]["text"], "The project"]
    assert len(transcript.turns) == 1
    assert transcript.status == "running"


def test_turn_that_failed_is_kept_in_flight() -> None:
    """R056: a client that missed the end of a failed turn still sees that it failed."""
    flying = {"user": "Do it", "assistant": "I wi", "streaming": False, "error": "no credit"}
    transcript = folded({"messages": ROWS, "running": False, "inflight": flying})

    assert texts(transcript)[-2:] == ["Do it", "I wi"]
    assert [turn.outcome for turn in transcript.turns] == ["complete", "error"]
    assert transcript.status == "idle"


def test_rows_that_are_not_as_they_should_be() -> None:
    """R056: rows without a user, content in blocks, unknown roles and none at all are no exception."""
    rows = [
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "system", "text": "compacted"},
        {"role": "tool"},
        {"role": "user"},
        "nonsense",
    ]
    assert "Hello" in texts(folded({"messages": rows, "info": 7}))
    assert folded({}).status == "idle"
