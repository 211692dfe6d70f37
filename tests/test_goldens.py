"""Golden sessions: real recordings as the text that a person reads, one file each.

Every file was read against its capture and the fold's rules before it was committed. A change in
one of them is a change in what people see: read the diff, then run `pytest --snapshot-update`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GOLDENS = {
    "claude-cancel": "acp/claude049-cancel",
    "claude-elicit": "acp/claude049-elicit",
    "claude-errors": "acp/claude049-errors",
    "claude-hello": "acp/claude049-hello",
    "claude-load": "acp/claude049-load",
    "claude-misc": "acp/claude049-misc",
    "claude-modes": "acp/claude049-modes",
    "claude-plan": "acp/claude049-plan",
    "claude-reject": "acp/claude049-reject",
    "claude-termmeta": "acp/claude049-termmeta",
    "claude-tools": "acp/claude049-tools",
    "codex-askmode": "acp/codex26-askmode",
    "codex-cancel": "acp/codex26-cancel",
    "codex-errors": "acp/codex26-errors",
    "codex-hello": "acp/codex26-hello",
    "codex-load": "acp/codex26-load",
    "codex-misc": "acp/codex26-misc",
    "codex-modes": "acp/codex26-modes",
    "codex-reject": "acp/codex26-reject",
    "codex-termmeta": "acp/codex26-termmeta",
    "codex-tools": "acp/codex26-tools",
    "gemini-cancel": "acp/gemini-cancel",
    "gemini-errors": "acp/gemini-errors",
    "gemini-hello": "acp/gemini-hello",
    "gemini-load": "acp/gemini-load",
    "gemini-misc": "acp/gemini-misc",
    "gemini-modes": "acp/gemini-modes",
    "gemini-reject": "acp/gemini-reject",
    "gemini-tools": "acp/gemini-tools",
    "hermes-acp-cancel": "acp/hermes-cancel",
    "hermes-acp-errors": "acp/hermes-errors",
    "hermes-acp-hello": "acp/hermes-hello",
    "hermes-acp-load": "acp/hermes-load",
    "hermes-acp-misc": "acp/hermes-misc",
    "hermes-acp-modes": "acp/hermes-modes",
    "hermes-acp-reject": "acp/hermes-reject",
    "hermes-acp-termmeta": "acp/hermes-termmeta",
    "hermes-acp-tools": "acp/hermes-tools",
    "kimi-cancel": "acp/kimi-cancel",
    "kimi-elicit": "acp/kimi-elicit",
    "kimi-errors": "acp/kimi-errors",
    "kimi-hello": "acp/kimi-hello",
    "kimi-load": "acp/kimi-load",
    "kimi-misc": "acp/kimi-misc",
    "kimi-modes": "acp/kimi-modes",
    "kimi-reject": "acp/kimi-reject",
    "kimi-termmeta": "acp/kimi-termmeta",
    "kimi-tools": "acp/kimi-tools",
    "gateway-basic-turn": "hermes/01_basic_turn",
    "gateway-unicode-reasoning": "hermes/02_unicode_reasoning",
    "gateway-tools": "hermes/03_tools_files_terminal",
    "gateway-todo-plan": "hermes/04_todo_plan",
    "gateway-approvals": "hermes/05_approvals",
    "gateway-approval-interrupted": "hermes/06_approval_interrupted",
    "gateway-clarify": "hermes/07_clarify",
    "gateway-errors": "hermes/09_errors",
    "gateway-restart-resume": "hermes/10_restart_resume",
    "gateway-ring-overflow": "hermes/13_ring_overflow",
    "gateway-two-sessions": "hermes/15_two_sessions",
    "gateway-reconnect": "hermes/16_ws_reconnect",
    "gateway-acp-adapter": "hermes/18_acp_adapter",
}
"""Every capture that there is: the golden's name, and what it is made of."""


def test_every_capture_has_a_golden(captures: Path) -> None:
    """R122: as many goldens as recordings; one without the other is one that nobody has read."""
    found = {f"{path.parent.name}/{path.stem}" for path in captures.glob("*/*.jsonl")}
    kept = {path.name for path in (Path(__file__).parent / "__snapshots__/test_goldens").iterdir()}

    assert set(GOLDENS.values()) == found
    assert kept == {f"test_session[{name}].txt" for name in GOLDENS}


@pytest.mark.parametrize("capture", GOLDENS.values(), ids=GOLDENS.keys())
def test_session(capture: str, captures: Path, transcript: Any, snapshot: Any) -> None:
    """R093, R096, R097: the whole conversation, in order, in words; nothing lost, nothing twice."""
    assert transcript(captures / f"{capture}.jsonl") == snapshot


def test_the_longest_golden_is_its_capture_word_for_word(captures: Path) -> None:
    """R093: 620 lines that nobody reads with attention are held to the frames, without the fold."""
    said, prompts = [], []
    for line in (captures / "hermes/13_ring_overflow.jsonl").read_bytes().splitlines():
        match json.loads(line)["frame"]:
            case {
                "method": "event",
                "params": {"type": "message.delta", "payload": {"text": text}},
            }:
                said.append(text)
            case {"method": "prompt.submit", "params": {"text": text}}:
                prompts.append(text)
    answer = "".join(said).splitlines()
    golden = Path(__file__).parent / "__snapshots__/test_goldens"
    name = "test_session[gateway-ring-overflow].txt"

    assert len(answer) == 621
    assert (golden / name).read_text("utf-8").splitlines()[1:] == [
        *("", "› you", *(f"  {text}" for text in prompts)),
        *("", "● agent", *(f"  {text}" for text in answer)),
    ]
