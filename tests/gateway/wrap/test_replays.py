"""The log's replay of every recorded agent: what it said, as it said it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eventlog import parse, read_capture
from gateway.wrap.history import STATE, History, notice

ACP = Path(__file__).parents[2] / "captures" / "acp"
CAPTURES = sorted(path.stem for path in ACP.glob("*.jsonl"))


def replays(capture: str) -> list[tuple[list[Any], list[dict[str, Any]]]]:
    """Return each session's events, and the updates of its replay."""
    found = []
    for session in read_capture((ACP / f"{capture}.jsonl").read_bytes()):
        events = [parse(line) for line in session.lines]
        if not session.is_gateway:
            found.append((events, [update for update, _ in History().updates(events)]))
    return found


@pytest.mark.parametrize("capture", CAPTURES)
def test_a_replay_is_what_was_said(capture: str) -> None:
    """Every update that is no state comes back unchanged and in order, every prompt block between
    them, and nothing else but tools that were first heard of when permission was asked."""
    for events, told in replays(capture):
        due: list[Any] = []
        for event in events:
            match event:
                case {"type": "acp.session_update", "payload": {"update": update}}:
                    due += [update] if update["sessionUpdate"] not in STATE else []
                case {"type": "prompt.submitted", "payload": {"content": list(blocks)}}:
                    due += [
                        {"sessionUpdate": "user_message_chunk", "content": block}
                        for block in blocks
                    ]
        asked = [update for update in told if update not in due]

        assert [update for update in told if update not in asked] == due
        assert all(update["sessionUpdate"] == "tool_call" for update in asked)


def test_a_tool_is_known_before_it_is_told_of() -> None:
    """Gemini never announces a tool that needs permission; its replay begins with what the
    permission said of it, so that an editor can show what follows."""
    for _, told in replays("gemini-tools"):
        seen: set[str] = set()
        for update in told:
            if update["sessionUpdate"] == "tool_call_update":
                assert update["toolCallId"] in seen
            seen.add(update.get("toolCallId", ""))


def test_what_is_missing_is_said() -> None:
    """A gap in the log, and the place where an agent forgot, are part of the conversation."""
    gap: Any = {"seq": 1, "ts": 1, "type": "log.gap", "payload": {"lost": 3, "reason": ""}}
    forgot: Any = {"seq": 2, "ts": 1, "type": "notice", "payload": {"message": "It forgot."}}

    told = [update for update, _ in History().updates([gap, forgot])]

    assert told == [notice("3 events were not recorded here."), notice("It forgot.")]
